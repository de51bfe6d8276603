/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How an actor moves to another worker, with its state, mail, watches and timers.
 *
 *   1. Only the owner gives an actor away, between two turns. If the actor is ready, the owner
 *      takes it out of the run queue.
 *   2. The owner first takes the post of the door. If another thread has the post, the actor stays.
 *      While the owner has the post, a thread that pushes finds the door posted. So no post and no
 *      order can go to the old owner after the move.
 *   3. Then the owner sets the actor's owner to nobody (CELL_FOREIGN), so that all mail goes behind
 *      the door, and posts the door to the new worker.
 *   4. Only the new worker sets itself as the owner, when it takes the post.
 *
 * tests/explore/models/move.c runs these steps in all orders.
 *
 * So a post never reaches a worker that does not own its actor. There is one exception: a child
 * that has ended is posted to the worker of its parent. If the parent has moved meanwhile, that
 * worker passes the post on.
 */
#ifndef ACTOR_SYSTEM_MOVE_H
#define ACTOR_SYSTEM_MOVE_H

#include <stdbool.h>
#include <stdint.h>

struct cell;
struct worker;

/** Whether an actor may move because its worker leaves (actor/system/leave.h). Owner only. */
bool tr__move_may_leave(const struct worker *worker, const struct cell *cell);
/**
 * As tr__move_may_leave, but for a move that balance wants. An actor of the pool stays where the
 * hash ring has placed it, unless its behavior has `balances`. Owner only.
 */
bool tr__move_is_possible(const struct worker *worker, const struct cell *cell);

/**
 * Gives an actor to the worker `to`. The actor must be waiting or ready. `has_post`: the caller
 * already has the post of the actor's door, and the actor waits. Returns true if the actor was
 * given away. Then the caller must not touch the cell, except to take a ready actor out of its
 * queue. Returns false if the actor stays, unchanged. Owner only.
 */
bool tr__move_give(struct worker *worker, struct cell *cell, uint32_t to, bool has_post);

/** Takes in an actor that another worker has given to this one. Worker only. */
void tr__move_take(struct worker *worker, struct cell *cell);

#endif
