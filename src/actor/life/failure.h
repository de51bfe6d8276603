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

#endif
