/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How an actor moves to another worker: with its state, its mail, its watches and its timers.
 *
 * Only its owner gives it away, between two turns, when it is ready and in no queue. First it takes the
 * post of the door; if that is somebody else's, the actor stays. With the post in hand it can be neither
 * posted nor ordered past its new owner: whoever pushes finds the door posted. Then the owner is
 * nobody, all mail goes behind the door, and the door is posted to the new worker, which alone
 * writes itself as owner, when it takes the post. tests/explore/models/move.c runs this in all orders.
 *
 * So a post never reaches a worker that does not own its actor. There is one exception: a child that has
 * ended is posted to the worker of its parent, which may have moved; it is passed on.
 */
#ifndef ACTOR_SYSTEM_MOVE_H
#define ACTOR_SYSTEM_MOVE_H

#include <stdbool.h>
#include <stdint.h>

struct cell;
struct worker;

/** Whether an actor of this worker may go elsewhere when it must. Owner only. */
bool tr__move_may_leave(const struct worker *worker, const struct cell *cell);
/** The same without need: those of the pool stay where the ring has placed them. Owner only. */
bool tr__move_is_possible(const struct worker *worker, const struct cell *cell);

/**
 * Gives an actor to another worker: one that waits, its post perhaps in the caller's hand; or one that
 * is ready, which the caller then takes out of its queue without looking at it. False when it stays,
 * as it was. Owner only.
 */
bool tr__move_give(struct worker *worker, struct cell *cell, uint32_t to, bool has_post);

/** An actor that was given to this worker has arrived. */
void tr__move_take(struct worker *worker, struct cell *cell);

#endif
