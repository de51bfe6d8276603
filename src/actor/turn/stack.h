/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Larger stacks, for actors whose behavior asks for them: tr_options.stack_bytes.
 *
 * A handler runs on the fiber of its worker's loop, whose stack has the size of the system's
 * options. Before the run of an actor with a larger stack, the loop switches to a fiber of that
 * size. After the run it switches back. So only such actors pay for larger stacks: two switches a
 * run. The stacks are in pools of the worker, one for each power of two, which are made when an
 * actor first needs them. An actor that waits keeps its stack, an idle actor has none.
 *
 * Such an actor has CELL_METERED. So its runs are slow runs, which check the stack. It never moves
 * to another worker, and its budget record names the pool of its stacks.
 */
#ifndef ACTOR_TURN_STACK_H
#define ACTOR_TURN_STACK_H

#include "actor/turn/budget.h"
#include "base/assert.h"

/**
 * Sets *pool to the pool for stacks of `bytes`, and makes it if there is none. Sets it to NULL if
 * the stacks of the worker are large enough. Returns TR_OK, TR_NO_MEMORY or TR_LIMIT. Worker only.
 */
TR_MUST_CHECK tr_status tr__stacks_pool(struct worker *worker, size_t bytes,
                                        struct fiber_pool **pool);
/**
 * Gives back memory of free stacks of these pools. Returns true if more may be left. Worker
 * only.
 */
bool tr__stacks_trim(struct worker *worker);
/** Frees the pools of larger stacks, when the worker ends. */
void tr__stacks_free(struct worker *worker);

/** Returns the pool from which an actor gets its stacks. Owner only. */
static inline struct fiber_pool *stack_pool(struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct fiber_pool *pool = cell->flags & CELL_METERED ? cell->extra->budget->stacks : NULL;
    return pool ? pool : &worker->stacks.pool;
}

/** Whether a run of an actor with CELL_METERED has to change the stack first. Owner only. */
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
 * Returns a fiber for the loop, because a turn keeps the current one. Returns NULL if there is no
 * memory; then nothing has changed. Worker only.
 */
struct fiber *tr__stack_keep(struct worker *worker);

/**
 * Ends the current fiber, and calls main(context) on a fresh fiber of the loop's size. Never fails.
 * Not to be called on the fiber of a turn that has waited, or of a hook.
 */
TR_NO_RETURN void tr__stack_restart(struct worker *worker, void (*main)(void *context),
                                    void *context);

#endif
