/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs of an actor. These functions are the values of loop_hooks.run.
 */
#ifndef ACTOR_TURN_RUN_H
#define ACTOR_TURN_RUN_H

#include <stdint.h>

struct cell;
struct loop;
struct task;
struct worker;

/** Runs an actor. Implements loop_hooks.run. */
uint32_t tr__cell_run(struct loop *loop, struct task *task, uint32_t turns_max);
/** As tr__cell_run, but for a system that traps faults. */
uint32_t tr__cell_run_trapping(struct loop *loop, struct task *task, uint32_t turns_max);
/** As tr__cell_run, but for a system with thread handoff. */
uint32_t tr__cell_run_with_handoff(struct loop *loop, struct task *task, uint32_t turns_max);
/**
 * As the three functions above, but used while any messages are followed. See actor/cell/follow.h.
 */
uint32_t tr__cell_run_following(struct loop *loop, struct task *task, uint32_t turns_max);
uint32_t tr__cell_run_trapping_following(struct loop *loop, struct task *task, uint32_t turns_max);
uint32_t tr__cell_run_with_handoff_following(struct loop *loop, struct task *task,
                                             uint32_t turns_max);
/**
 * Queues an actor again if it has something to do. Otherwise makes the actor wait, or stops it if
 * it is sealed and has handled all its mail. Called after the set-up of the actor and after each
 * run. Owner only.
 */
void tr__cell_park_or_requeue(struct worker *worker, struct cell *cell);

#endif
