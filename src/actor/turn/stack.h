/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Larger stacks, for actors whose behavior asks for them: tr_options.stack_bytes.
 *
 * A handler runs on the fiber of its worker's loop, whose stack has the size of the system's
 * options. Before the run of an actor with a larger stack, the loop switches to a fiber of that
 * size. After the run it switches back. So only such actors pay for larger stacks: two switches for
 * each run. The stacks are in pools of the worker, one pool for each power of two. A pool is made
 * when an actor first needs it. An actor with a turn that waits keeps the stack of that turn. An
 * idle actor has no stack.
 *
 * Such an actor has CELL_METERED. So its runs are slow runs, which check the stack. It never moves
 * to another worker, and its budget record names the pool of its stacks.
 */
#ifndef ACTOR_TURN_STACK_H
#define ACTOR_TURN_STACK_H

#include "actor/turn/budget.h"
#include "base/assert.h"

/**
 * Sets *pool to the worker's pool of stacks with `bytes`. Makes the pool if there is none. If the
 * usual stacks of the worker are large enough, sets *pool to NULL. Returns TR_OK, TR_NO_MEMORY or
 * TR_LIMIT. Worker only.
 */
TR_MUST_CHECK tr_status tr__stacks_pool(struct worker *worker, size_t bytes,
                                        struct fiber_pool **pool);
/**
 * Frees memory of free stacks in the pools of larger stacks. Returns true if more such memory may
 * be left. Worker only.
 */
bool tr__stacks_trim(struct worker *worker);
/** Frees the pools of larger stacks. Called when the worker ends. */
void tr__stacks_free(struct worker *worker);

/** Returns the pool from which an actor gets its stacks. Owner only. */
static inline struct fiber_pool *stack_pool(struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct fiber_pool *pool = cell->flags & CELL_METERED ? cell->extra->budget->stacks : NULL;
    return pool ? pool : &worker->stacks.pool;
}

/**
 * Whether the loop must change the stack before it can run this actor, which has CELL_METERED.
 * Owner only.
 */
static inline bool stack_is_wrong(const struct worker *worker, const struct cell *cell)
{
    return cell->extra->budget->stacks && !worker->stacks.home;
}

/**
 * Runs an actor on a fiber of its pool. The actor must have SCHED_RUNNING. Drops the frames of the
 * loop and does not return. Owner only.
 */
TR_NO_RETURN void tr__stack_enter(struct worker *worker, struct cell *cell);

/**
 * Returns a fiber for the loop, because a turn keeps the current fiber. Returns NULL when out of
 * memory; then nothing has changed. Worker only.
 */
struct fiber *tr__stack_keep(struct worker *worker);

/**
 * Ends the current fiber, and calls main(context) on a fresh fiber of the usual size. Never fails.
 * Must not be called on the fiber of a turn that has waited, nor on the fiber of a hook.
 */
TR_NO_RETURN void tr__stack_restart(struct worker *worker, void (*main)(void *context),
                                    void *context);

#endif
