/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Helper threads, for functions that block: tr_blocking.
 *
 * A job lives on the stack of the turn that waits for it, so nothing is allocated for it but the
 * envelope in which its end travels to the turn's actor, through the door like mail. A turn submits
 * its job at the last moment before it leaves (tr__turn_park): whatever could fail has not.
 *
 * Rules:
 *   1. A job is queued, runs, or is over. The first change is made under the pool's lock; the second
 *      by the helper, which does not touch the job once its envelope is in the door.
 *   2. cell_extra.blocked counts the jobs of an actor that are not over. Until it is 0 the actor does
 *      not finish: its door is open for the envelope, and the stacks of its turns are there.
 *   3. Who queues a job calls one helper that sleeps, or makes one. Only a helper that sleeps and was
 *      not called may leave, so those that are awake take all that is queued.
 */
#ifndef ACTOR_TURN_BLOCKING_H
#define ACTOR_TURN_BLOCKING_H

#include <troupe/status.h>

#include "base/list.h"

struct blocking;
struct cell;
struct envelope;
struct helper;
struct tr_system;
struct worker;

struct blocking_job {
    struct list link; /* in the queue, then among those that run */
    void (*function)(void *argument);
    void *argument;
    struct tr_self *self;
    struct cell *cell;
    struct envelope *envelope;
    struct helper *helper; /* that runs it; NULL on a kit */
    tr_time began_ns;      /* when it was taken from the queue */
    bool
        is_queued; /* under the lock; written by its turn's worker and by the helper that takes it */
};

void tr__blocking_init(struct blocking *blocking, struct tr_system *system, uint32_t helpers_max);
/** Ends all helpers. No job is left: all actors have ended. May be called again. */
void tr__blocking_end(struct blocking *blocking);

/** The turn has begun to wait: its job may begin. When it cannot, the turn is woken with the reason. */
void tr__blocking_submit(struct tr_self *self);

/** The actor ends: jobs that have not begun never will. True when none of the others runs. */
bool tr__blocking_withdraw(struct worker *worker, struct cell *cell);

/**
 * Calls a function for each job that runs; its actor and its turn are there, but belong to their
 * worker. Under the lock: it takes no other. Any thread.
 */
void tr__blocking_each(struct blocking *blocking,
                       void (*on_job)(void *context, const struct blocking_job *job),
                       void *context);

/**
 * How many functions do not return: since this was first called they have had so much CPU, or have
 * slept so long while none of the workers lacked one. What they sleep for may need it
 * (`is_overloaded`). By the thread that waits for the shutdown.
 */
uint32_t tr__blocking_stuck(struct blocking *blocking, tr_time now_ns, tr_time patience_ns,
                            bool is_overloaded);

/** Of a kit: how many jobs could end next, and running one of them. */
uint32_t tr__blocking_choices(struct blocking *blocking);
void tr__blocking_step(struct blocking *blocking, uint32_t choice);

#endif
