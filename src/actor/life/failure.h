/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The child's side of a failure: see actor/life/supervise.h. Owner only, all of it.
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
/** A child did not start, which its parent has not been told yet: a tr_child_failed. */
void tr__failure_tell(struct worker *worker, struct cell *cell, const tr_error *error);
/** CONTROL_DECIDED was found. False when the actor does not go on as it is, and may be gone. */
bool tr__failure_handle_control(struct worker *worker, struct cell *cell);
/** An order ends an actor that has failed and waits: that is why it ends, and not its failure. */
void tr__failure_overrule(struct cell *cell);
/** Restarts those whose delay is over. Worker only. */
void tr__delays_fire(struct worker *worker, tr_time now_ns);
/** Frees a record, wherever it is. NULL does nothing. */
void tr__failure_free(struct worker *worker, struct failure *failure);
/** An actor ends: frees its record, or leaves it to the one that comes back. */
void tr__failure_leave(struct worker *worker, struct cell *cell);
/** As tr__failure_free, for a record that no worker has any more. */
void tr__failure_forget(const struct memory_source *source, struct failure *failure);
/** Which ends of an actor are followed by a new start. */
tr_restart tr__restart_of(const struct cell *cell);
/** What a child that has ended leaves, out of its cell, or a new one; NULL when out of memory. */
struct failure *tr__failure_past(struct worker *worker, struct cell *cell);
/**
 * A child has ended while its parent had its record, and that is this one: what it says of the past
 * goes to the origin of the child. Takes the record unless it `is_lent`.
 */
void tr__failure_return(struct worker *worker, struct cell *child, struct failure *failure,
                        bool is_lent);
/** The record of an actor; NULL when out of memory. */
struct failure *tr__failure_of(struct worker *worker, struct cell *cell);

#endif
