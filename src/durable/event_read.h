/* SPDX-License-Identifier: Apache-2.0 */
/** Reads one event: converts its stored bytes to a value of the type in the code. */
#ifndef DURABLE_EVENT_READ_H
#define DURABLE_EVENT_READ_H

#include <troupe/event.h>

#include "durable/actor.h"

/**
 * An event in memory. It has the block into which the event was read, and the results of its
 * migrations.
 */
struct event_read {
    void *block;
    const tr_type *block_type;
    /* The result of the last migration, from tr_alloc. Each result begins with the address of the
     * result before it. */
    void *made;
};

/**
 * Reads an event in its stored form. Sets *row and *data; the data is in *read. On failure,
 * text[EVENT_TEXT_SIZE] says what is wrong. Fails with TR_WRONG_TYPE, TR_STALE, TR_BAD_DATA,
 * TR_NO_MEMORY or another status of tr_unpack.
 */
enum { EVENT_TEXT_SIZE = 256 };
TR_MUST_CHECK tr_status tr__event_read(tr_self *self, const struct durable_actor *actor,
                                       tr_bytes bytes, struct event_read *read,
                                       const tr_event_row **row, const void **data, char *text);
/** Frees the memory of an event that was read. */
void tr__event_read_free(tr_self *self, struct event_read *read);

#endif
