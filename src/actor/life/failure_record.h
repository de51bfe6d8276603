/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Making, keeping and freeing the record of a failure: struct failure of actor/life/supervise.h.
 * All functions: owner only.
 */
#ifndef ACTOR_LIFE_FAILURE_RECORD_H
#define ACTOR_LIFE_FAILURE_RECORD_H

#include <stdbool.h>
#include <troupe/supervision.h>

#include "actor/life/supervise.h"
#include "base/assert.h"

struct cell;
struct memory_source;
struct worker;

/** The legal changes: for each phase, a bit for each phase that may follow. */
extern const uint16_t tr__failure_legal[FAILURE_PHASE_COUNT];

/** Whether a record may change from one phase to the other. */
static inline bool failure_may_become(enum failure_phase from, enum failure_phase to)
{
    return from < FAILURE_PHASE_COUNT && to < FAILURE_PHASE_COUNT &&
           tr__failure_legal[from] >> to & 1;
}

/**
 * Changes the phase of a record. Only the owner of the record may call this: the child or the
 * parent.
 */
static inline void failure_change(struct failure *failure, enum failure_phase to)
{
    TR_ASSERT_SLOW(failure_may_become(failure->phase, to));
    failure->phase = to;
}

/** Returns after which kinds of end an actor is started again: its restart type. */
tr_restart tr__restart_of(const struct cell *cell);
/** Returns an empty record for an actor; NULL when out of memory. */
struct failure *tr__failure_new(struct worker *worker, struct cell *cell);
/** Returns the record of an actor, and makes one if it has none; NULL when out of memory. */
struct failure *tr__failure_of(struct worker *worker, struct cell *cell);
/**
 * Takes the record that an earlier child left in the origin of this actor. If there is none, makes
 * a new record. Returns NULL when out of memory. Owner of the parent.
 */
struct failure *tr__failure_past(struct worker *worker, struct cell *cell);
/** Frees a record, and removes it from its list and its timer wheel. NULL does nothing. */
void tr__failure_free(struct worker *worker, struct failure *failure);
/**
 * Frees the record of an actor that ends. If the actor comes back, keeps the record in the origin
 * instead.
 */
void tr__failure_leave(struct worker *worker, struct cell *cell);
/**
 * Copies the restart history of `failure` to the origin of `child`, which ended while its parent
 * had this record. Frees the record, unless `is_lent`.
 */
void tr__failure_return(struct worker *worker, struct cell *child, struct failure *failure,
                        bool is_lent);
/**
 * Frees a record that no worker uses any more. The record must have no answer and no origin, and
 * its delay must not be armed. NULL does nothing.
 */
void tr__failure_forget(const struct memory_source *source, struct failure *failure);

#endif
