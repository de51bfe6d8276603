/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pages of a journal: events that are read from disk in one call of the store.
 */
#ifndef DURABLE_EVENT_PAGE_H
#define DURABLE_EVENT_PAGE_H

#include "durable/actor.h"

/** A part of the journal in memory. It consists of records: a sequence number, a size, and the bytes of an event. */
struct event_page {
    unsigned char *bytes;
    size_t size;
    size_t capacity;
    uint64_t next; /* sequence number of the event at `at`; 0: none */
    size_t at;
    tr_status status;
};

/**
 * Reads events that are on disk, from number `from` to number `to`, until the page is full. Fails
 * only if the first event cannot be read. An error in a later event ends the page before that
 * event.
 */
TR_MUST_CHECK tr_status tr__event_page_fill(struct worker *worker,
                                            const struct durable_actor *actor,
                                            struct event_page *page, uint64_t from, uint64_t to);
/** Takes the next event of a page. Returns false if the page has no more events. */
bool tr__event_page_take(struct event_page *page, uint64_t *sequence, tr_bytes *bytes);
void tr__event_page_free(struct worker *worker, struct event_page *page);

#endif
