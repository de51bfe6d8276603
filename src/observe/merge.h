/* SPDX-License-Identifier: Apache-2.0 */
/** Changes single fields of a stored state by JSON. */
#ifndef OBSERVE_MERGE_H
#define OBSERVE_MERGE_H

#include <troupe/message.h>

#include "mem/source.h"

enum { MERGE_WHY_SIZE = 300 };

/** A change of a packed state. */
struct merge {
    const struct memory_source *source;
    const tr_type *type;
    tr_bytes before; /* packed, without a front; no bytes: there is no state, and fields are zero */
    tr_bytes json;   /* an object with the fields that change; all others stay */
    /*
     * A message with secret fields (TR_SECRET) inside of another message may be replaced, and a
     * secret field may be "...". If this is not set, both are refused: a person who has read the
     * state by the tool or a page got "..." for secret fields.
     */
    bool takes_secrets;
    /* The results. */
    void *packed; /* free it with source_resize */
    size_t size;
    char why[MERGE_WHY_SIZE]; /* why the change was refused */
};

/** Makes the new state. TR_BAD_DATA, TR_TOO_LARGE, TR_NOT_PERMITTED, TR_NO_MEMORY and others. Any thread. */
TR_MUST_CHECK tr_status tr__merge(struct merge *merge);

/**
 * Finds a member of an object of JSON, which must be valid: its name without quotes and its value. *at is the rest to
 * search; set it to the whole object at first. Returns false at the end.
 */
bool tr__json_member(tr_bytes *at, tr_bytes *name, tr_bytes *value);

#endif
