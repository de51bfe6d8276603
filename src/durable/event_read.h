/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One event: from its stored bytes to a value of the type that the code knows.
 */
#ifndef DURABLE_EVENT_READ_H
#define DURABLE_EVENT_READ_H

#include <troupe/event.h>

#include "durable/actor.h"

/** An event in memory: what it was read into, and what came of its migrations. */
struct event_read {
    void *block;
    const tr_type *block_type;
    void *made; /* of tr_alloc, each with the address of the one before in front of it */
};

/**
 * Reads the event in `bytes`, as stored, and gives its row and its data, which are in *read. `text`, of
 * EVENT_TEXT_SIZE, says what is wrong. TR_WRONG_TYPE, TR_STALE, TR_BAD_DATA, TR_NO_MEMORY, ...
 */
enum { EVENT_TEXT_SIZE = 256 };
TR_MUST_CHECK tr_status tr__event_read(tr_self *self, const struct durable_actor *actor,
                                       tr_bytes bytes, struct event_read *read,
                                       const tr_event_row **row, const void **data, char *text);
/** Frees it. */
void tr__event_read_free(tr_self *self, struct event_read *read);

#endif
