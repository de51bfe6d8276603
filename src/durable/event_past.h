/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The state of an actor with events as it was after an earlier event, for inspection by people
 * (observe/durable_events.c). The state is made outside of any turn: the apply functions of the
 * program apply the events after a snapshot to that snapshot.
 *
 * Apply functions have no tr_self, so any thread can call them. They run on a stack of their own.
 * If memory runs out, that stack is abandoned with the apply function on it. Events and snapshots
 * that need a migration are not applied here, because a migration needs a tr_self. Faults of apply
 * functions cannot be trapped here, so tr__event_past_new refuses a program that traps faults.
 */
#ifndef DURABLE_EVENT_PAST_H
#define DURABLE_EVENT_PAST_H

#include <troupe/event.h>

#include "durable/host.h"

struct event_past;

/**
 * Makes an event_past whose state is all zero. Fails with TR_NO_MEMORY. Fails with TR_NOT_SUPPORTED
 * if the kind has no events, or if the program traps faults.
 */
TR_MUST_CHECK tr_status tr__event_past_new(const struct memory_source *source,
                                           const struct durable_kind *kind,
                                           struct event_past **past);
void tr__event_past_free(struct event_past *past);

/**
 * Sets the state to a snapshot. If the snapshot has no bytes, sets the state to zero. Returns whether the state is
 * known now.
 */
bool tr__event_past_begin(struct event_past *past, uint32_t version, tr_bytes snapshot);
/** Applies an event in its stored form. Returns whether the state is known now. */
bool tr__event_past_apply(struct event_past *past, tr_bytes event);
/** Marks the state as not known. */
void tr__event_past_forget(struct event_past *past);
/**
 * Returns the state. Returns NULL if the state is not known. The state is borrowed until the next
 * call.
 */
const void *tr__event_past_state(const struct event_past *past);

/** The beginning of the stored form of an event. */
struct event_head {
    const char *name;
    uint32_t version;
    tr_bytes rest; /* the rest of the event: the hash of its shape, and its message */
};
/** Reads the head of a stored event. Returns false if the bytes are not an event. */
bool tr__event_head_read(tr_bytes event, struct event_head *head);
/**
 * Returns the entry (row) of a kind for an event. Returns NULL if the kind has no such event, or if
 * the event has another version than the code.
 */
const tr_event_row *tr__event_row_of(const struct durable_kind *kind,
                                     const struct event_head *head);

#endif
