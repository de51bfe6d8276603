/* SPDX-License-Identifier: Apache-2.0 */
/** Changes single fields of a stored state. The new values are JSON. */
#ifndef OBSERVE_MERGE_H
#define OBSERVE_MERGE_H

#include <troupe/message.h>

#include "mem/source.h"

enum { MERGE_WHY_SIZE = 300 };

/** A change of a packed state. */
struct merge {
    const struct memory_source *source;
    const tr_type *type;
    /* The packed state without its front. No bytes: there is no state, so all fields are zero. */
    tr_bytes before;
    tr_bytes json; /* an object with the fields to change; other fields stay */
    /*
     * False: refuses a secret field (TR_SECRET) whose new value is "...", and a new value for a
     * message that has secret fields inside. The tool troupe and the web pages of inspectors show
     * secret fields as "...", and a person may have copied that. True: accepts both.
     */
    bool takes_secrets;
    /* The results. */
    void *packed; /* the new packed state; the caller frees it by source_resize */
    size_t size;
    char why[MERGE_WHY_SIZE]; /* why the change was refused */
};

/**
 * Makes the new state. Fails with TR_BAD_DATA, TR_TOO_LARGE, TR_NOT_PERMITTED, TR_NO_MEMORY, or
 * other statuses. Any thread.
 */
TR_MUST_CHECK tr_status tr__merge(struct merge *merge);

/**
 * Finds the next member of an object. The object must be valid JSON. Sets *name, without quotes,
 * and *value. Before the first call, the caller sets *at to the whole object. Each call sets *at to
 * the part that is left. Returns false at the end.
 */
bool tr__json_member(tr_bytes *at, tr_bytes *name, tr_bytes *value);

#endif
