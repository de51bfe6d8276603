/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pages of a journal: events that are read from disk in one call of the store.
 */
#ifndef DURABLE_EVENT_PAGE_H
#define DURABLE_EVENT_PAGE_H

#include "durable/actor.h"

/** A part of the journal that was read: records of a number, a size, and the bytes. */
struct event_page {
    unsigned char *bytes;
    size_t size;
    size_t capacity;
    uint64_t next; /* the event at `at`; 0: none */
    size_t at;
    tr_status status;
};

/**
 * Reads events from `from` to `to` that are on disk, as many as are a page. Not TR_OK: there is something wrong with
 * the first one already.
 */
TR_MUST_CHECK tr_status tr__event_page_fill(struct worker *worker,
                                            const struct durable_actor *actor,
                                            struct event_page *page, uint64_t from, uint64_t to);
/** The event at the page's place, which moves on; false: there is none. */
bool tr__event_page_take(struct event_page *page, uint64_t *sequence, tr_bytes *bytes);
void tr__event_page_free(struct worker *worker, struct event_page *page);

#endif
