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
 * Sets the mark CELL_FAILED of an actor that has failed, or that is about to be restarted. Pauses
 * its receive timeout, and returns the capacity that its turns were granted. The caller has changed
 * the actor's life already.
 */
void tr__failure_pause(struct worker *worker, struct cell *cell);
/**
 * Reports to the parent that an actor stops because of a failure, or that it did not start. The
 * parent gets a tr_child_failed, and is not asked for a decision. Without memory, sends nothing.
 */
void tr__failure_tell(struct worker *worker, struct cell *cell, const tr_error *error);
/**
 * Handles CONTROL_DECIDED: carries out the parent's decision about the actor. Returns false if the
 * current incarnation does not continue; then the actor may be gone.
 */
bool tr__failure_handle_control(struct worker *worker, struct cell *cell);
/**
 * Notes that an actor ends because of an order, and not because of its failure. For an actor that
 * has failed and gets an order to stop before the decision of its parent.
 */
void tr__failure_overrule(struct cell *cell);
/**
 * Finds the actors of this worker whose restart delay is over, marks them as due, and makes them
 * run. Worker only.
 */
void tr__delays_fire(struct worker *worker, tr_time now_ns);

#endif
