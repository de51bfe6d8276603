/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Larger stacks, for actors whose behavior asks for them: tr_options.stack_bytes.
 *
 * A handler runs on the fiber of its worker's loop, whose stack has the size of the system's
 * options. Before a run of an actor with a larger stack, the loop goes to a fiber of that size, and
 * after the run of this one actor it returns. So only such actors pay for it: two switches a run.
 * The stacks are in pools of the worker, one for each power of two, which are made when an actor
 * first needs them. An actor that waits keeps its stack, an idle actor has none.
 *
 * Such an actor has CELL_METERED: it has the slow run, in which its stack is looked at, it never
 * moves to another worker, and its budget record has its pool.
 */
#ifndef ACTOR_TURN_STACK_H
#define ACTOR_TURN_STACK_H

#include "actor/turn/budget.h"

/**
 * Sets *pool to the pool for stacks of `bytes`, and makes it if there is none. NULL: the stacks of
 * the worker are large enough. TR_NO_MEMORY, TR_LIMIT. Worker only.
 */
TR_MUST_CHECK tr_status tr__stacks_pool(struct worker *worker, size_t bytes,
                                        struct fiber_pool **pool);
/** Gives memory of free stacks back. Returns true if more may be left. Worker only. */
bool tr__stacks_trim(struct worker *worker);
/** Frees the pools. When the worker ends. */
void tr__stacks_free(struct worker *worker);

/** Returns the pool of the stacks of an actor. Owner only. */
static inline struct fiber_pool *stack_pool(struct worker *worker, const struct cell *cell)
{
    struct fiber_pool *pool = cell->flags & CELL_METERED ? cell->extra->budget->stacks : NULL;
    return pool ? pool : &worker->stacks.pool;
}

/** Whether a run of an actor with CELL_METERED has to change the stack first. Owner only. */
static inline bool stack_is_wrong(const struct worker *worker, const struct cell *cell)
{
    return cell->extra->budget->stacks && !worker->stacks.home;
}

/**
 * Drops the frames of the loop and runs the actor, which has SCHED_RUNNING, on a fiber of its pool.
 * Owner only.
 */
TR_NO_RETURN void tr__stack_enter(struct worker *worker, struct cell *cell);

/**
 * Returns a fiber for the loop in place of the one that a turn keeps. NULL: no memory, and nothing
 * has changed. Worker only.
 */
struct fiber *tr__stack_keep(struct worker *worker);

/**
 * Ends the current fiber, and calls main(context) on a fresh one of the loop's. Never fails. Not on
 * the fiber of a turn that has waited, nor of a hook.
 */
TR_NO_RETURN void tr__stack_restart(struct worker *worker, void (*main)(void *context),
                                    void *context);

#endif
