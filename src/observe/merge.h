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
    /* the packed state without its front; no bytes: there is no state, and all fields are zero */
    tr_bytes before;
    tr_bytes json; /* an object with the fields to change; other fields stay */
    /* A message with secret fields (TR_SECRET) inside of another message may be replaced, and a
     * secret field may be "...". If this is false, both are refused, because the tool and the pages
     * show "..." for secret fields, and a person may have copied that. */
    bool takes_secrets;
    /* The results. */
    void *packed; /* result: the new packed state; free it with source_resize */
    size_t size;
    char why[MERGE_WHY_SIZE]; /* why the change was refused */
};

/**
 * Makes the new state. Fails with TR_BAD_DATA, TR_TOO_LARGE, TR_NOT_PERMITTED, TR_NO_MEMORY and
 * others. Any thread.
 */
TR_MUST_CHECK tr_status tr__merge(struct merge *merge);

/**
 * Finds the next member of an object of JSON, which must be valid. Sets *name, without quotes, and
 * *value. *at is the rest to search; set it to the whole object before the first call. Returns
 * false at the end.
 */
bool tr__json_member(tr_bytes *at, tr_bytes *name, tr_bytes *value);

#endif
