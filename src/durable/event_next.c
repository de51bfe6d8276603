/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads the journal of a turn's actor: first the events on disk, page by page, then the events that are on their way to
 * the disk.
 */
#include <inttypes.h>

#include "base/assert.h"
#include "durable/event_page.h"
#include "durable/event_read.h"
#include "durable/events.h"
#include "actor/cell/verb.h"

/* Finds the lowest event that exists. Asks the store only once, because later deletions update
 * journal.first. */
static tr_status event_find_first(struct worker *worker, struct durable_actor *actor)
{
    struct event_log *log = actor->events;
    struct list *item = list_first(&log->items);
    uint64_t stored =
        item ? LIST_OWNER(item, struct event_item, link)->sequence - 1 : log->journal.highest;
    if (log->has_first)
        return TR_OK;
    if (stored >= log->journal.first) {
        tr_status status =
            tr__event_page_fill(worker, actor, &log->page, log->journal.first, stored);
        if (status != TR_OK)
            return status;
        log->journal.first = log->page.next ? log->page.next : stored + 1;
    }
    log->has_first = true;
    return TR_OK;
}

/* Returns the bytes of an event that is not on disk yet. */
static tr_bytes item_bytes(struct event_log *log, uint64_t sequence)
{
    struct list *link = list_first(&log->items);
    if (log->at && log->at->sequence <= sequence)
        link = &log->at->link;
    while (LIST_OWNER(link, struct event_item, link)->sequence != sequence) {
        link = link->next;
        TR_ASSERT(link != &log->items);
    }
    log->at = LIST_OWNER(link, struct event_item, link);
    return (tr_bytes){log->at->bytes, log->at->size};
}

/* Finds the bytes of an event, which must exist. The bytes are borrowed until the next call. */
static tr_status event_find(struct worker *worker, struct durable_actor *actor, uint64_t sequence,
                            tr_bytes *bytes)
{
    struct event_log *log = actor->events;
    struct list *item = list_first(&log->items);
    uint64_t held =
        item ? LIST_OWNER(item, struct event_item, link)->sequence : log->journal.highest + 1;
    if (sequence >= held) {
        *bytes = item_bytes(log, sequence);
        return TR_OK;
    }
    if (log->page.next != sequence) {
        tr_status status = tr__event_page_fill(worker, actor, &log->page, sequence, held - 1);
        if (status != TR_OK)
            return status;
    }
    uint64_t found = 0;
    bool is_there = tr__event_page_take(&log->page, &found, bytes);
    return is_there && found == sequence ? TR_OK : TR_STORE_CORRUPT;
}

bool tr_event_next(tr_self *self, tr_event *event)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    struct durable_actor *actor = durable_of(self);
    if (!event)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_event_next: the event is NULL");
    if (!actor || !actor->kind->declared->options.events)
        tr_crash(self, TR_NOT_SUPPORTED, "tr_event_next: this actor has no events");
    if (!self->frame)
        tr_crash(self, TR_NOT_IN_A_TURN, "tr_event_next: not allowed in a set-up or a signal");
    if (self->is_cancelled)
        tr_crash(self, TR_CANCELLED, "tr_event_next: the turn was cancelled");
    struct event_log *log = actor->events;
    const tr_event_row *row;
    char text[EVENT_TEXT_SIZE] = "";
    tr_bytes bytes;
    tr__event_read_free(self, &log->event);
    if (event->sequence >= log->journal.highest) {
        /* The journal was read to its end, so free its page. */
        tr__event_page_free(self->worker, &log->page);
        return false;
    }
    tr_status status = event_find_first(self->worker, actor);
    uint64_t sequence = event->sequence + 1;
    if (sequence < log->journal.first)
        sequence = log->journal.first;
    if (status == TR_OK && sequence > log->journal.highest)
        return false;
    if (status == TR_OK)
        status = event_find(self->worker, actor, sequence, &bytes);
    if (status == TR_OK)
        status = tr__event_read(self, actor, bytes, &log->event, &row, &event->data, text);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "tr_event_next: event %" PRIu64 ": %s",
                 sequence,
                 text[0] ? text : tr_status_text(status));
    event->sequence = sequence;
    event->type = row->type;
    return true;
}

const void *tr_event_data(const tr_event *event, const tr_type *type)
{
    if (!event || !event->type || !type)
        return NULL;
    return event->type == type || tr_type_is_equal(event->type, type) ? event->data : NULL;
}
