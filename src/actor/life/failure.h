/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The child's side of a failure: see actor/life/supervise.h. All functions: owner only.
 */
#ifndef ACTOR_LIFE_FAILURE_H
#define ACTOR_LIFE_FAILURE_H

#include <troupe/status.h>
#include <troupe/supervision.h>

struct cell;
struct failure;
struct memory_source;
struct worker;

/** Suspends an actor because it has failed, or as if it had; its life is changed already. */
void tr__failure_pause(struct worker *worker, struct cell *cell);
/**
 * Reports a failure to the parent of an actor that stops by it, or did not start: the parent gets a
 * tr_child_failed, and is not asked for a decision. If there is no memory, nothing is sent.
 */
void tr__failure_tell(struct worker *worker, struct cell *cell, const tr_error *error);
/**
 * Handles CONTROL_DECIDED: carries out what was decided about the actor. Returns false when this
 * incarnation does not continue; then the actor may be gone.
 */
bool tr__failure_handle_control(struct worker *worker, struct cell *cell);
/**
 * An order ends an actor that has failed and waits for a decision. Notes that the order is the
 * reason for the end, and not the failure.
 */
void tr__failure_overrule(struct cell *cell);
/** Makes the actors whose restart delay is over due for their restart. Worker only. */
void tr__delays_fire(struct worker *worker, tr_time now_ns);
/** Frees a record, and removes it from its list and its timer wheel. NULL does nothing. */
void tr__failure_free(struct worker *worker, struct failure *failure);
/**
 * Frees the record of an actor that ends, or keeps it in the origin for the actor that comes back.
 */
void tr__failure_leave(struct worker *worker, struct cell *cell);
/**
 * Frees a record that no worker uses any more: it has no answer, no origin and no armed delay. NULL
 * does nothing.
 */
void tr__failure_forget(const struct memory_source *source, struct failure *failure);
/** Returns which ends of an actor are followed by a new start. */
tr_restart tr__restart_of(const struct cell *cell);
/**
 * Takes the record that a child that has ended left in its origin, or makes a new one. Returns NULL
 * when out of memory. Owner of the parent.
 */
struct failure *tr__failure_past(struct worker *worker, struct cell *cell);
/**
 * Copies the restart history of `failure` to the origin of `child`. The child has ended while its
 * parent had this record. Frees the record unless it `is_lent`.
 */
void tr__failure_return(struct worker *worker, struct cell *child, struct failure *failure,
                        bool is_lent);
/** Returns the record of an actor, and makes one if it has none; NULL when out of memory. */
struct failure *tr__failure_of(struct worker *worker, struct cell *cell);

#endif
