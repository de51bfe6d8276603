/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The state of an actor with events as it was after an earlier event, for people who look (observe/durable_events.c). It is made outside
 * of any turn, from a snapshot and the events after it, by the apply functions of the program.
 *
 * Apply functions have no self, so they can be called by any thread; if memory runs out, nothing returns to them: they run on a stack of
 * their own, which is left. Events and snapshots that need a migration are not applied here, because a migration has a self. Faults
 * of these functions could not be trapped here, so a program that traps faults knows no earlier states.
 */
#ifndef DURABLE_EVENT_PAST_H
#define DURABLE_EVENT_PAST_H

#include <troupe/event.h>

#include "durable/host.h"

struct event_past;

/** Makes one, with the state that is all zero. TR_NO_MEMORY; TR_NOT_SUPPORTED: the kind has no events, or the program traps faults. */
TR_MUST_CHECK tr_status tr__event_past_new(const struct memory_source *source,
                                           const struct durable_kind *kind,
                                           struct event_past **past);
void tr__event_past_free(struct event_past *past);

/** Begins with a snapshot, or with the state that is all zero if it has no bytes. Returns whether the state is known now. */
bool tr__event_past_begin(struct event_past *past, uint32_t version, tr_bytes snapshot);
/** Applies an event in its stored form. Returns whether the state is known now. */
bool tr__event_past_apply(struct event_past *past, tr_bytes event);
/** The state is not known from now on. */
void tr__event_past_forget(struct event_past *past);
/** Returns the state; NULL: it is not known. Borrowed until the next call. */
const void *tr__event_past_state(const struct event_past *past);

/** What the stored form of an event begins with. */
struct event_head {
    const char *name;
    uint32_t version;
    tr_bytes rest; /* with the hash of its shape */
};
/** Reads it. Returns false if the bytes are no event. */
bool tr__event_head_read(tr_bytes event, struct event_head *head);
/** Returns the row of a kind for an event, whose version is that of the code; NULL: there is none. */
const tr_event_row *tr__event_row_of(const struct durable_kind *kind,
                                     const struct event_head *head);

#endif
