/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The child's side of a failure: see actor/life/supervise.h. All functions: owner only.
 */
#ifndef ACTOR_LIFE_FAILURE_H
#define ACTOR_LIFE_FAILURE_H

#include <troupe/ref.h>
#include <troupe/status.h>

struct cell;
struct failure;
struct memory_source;
struct worker;

/**
 * Marks an actor as failed, because it has failed or is restarted: pauses its receive timeout, and
 * returns the capacity that its turns were granted. The caller has changed its life.
 */
void tr__failure_pause(struct worker *worker, struct cell *cell);
/**
 * Reports a failure to the parent of an actor that stops because of it, or did not start. The
 * parent gets a tr_child_failed, and is not asked for a decision. If there is no memory, nothing is
 * sent.
 */
void tr__failure_tell(struct worker *worker, struct cell *cell, const tr_error *error);
/**
 * Handles CONTROL_DECIDED: carries out the parent's decision about the actor. Returns false if this
 * incarnation does not continue; then the actor may be gone.
 */
bool tr__failure_handle_control(struct worker *worker, struct cell *cell);
/**
 * Notes that an order, and not its failure, is the reason for the end of an actor. For an actor
 * that has failed and is ordered to stop before it gets a decision.
 */
void tr__failure_overrule(struct cell *cell);
/** Marks the actors whose restart delay is over as due, and makes them run. Worker only. */
void tr__delays_fire(struct worker *worker, tr_time now_ns);

#endif
