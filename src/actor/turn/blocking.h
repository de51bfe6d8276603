/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Helper threads, for functions that block: tr_blocking.
 *
 * A job is on the stack of the turn that waits for it. Only its envelope is allocated. When the
 * function has returned, that envelope goes through the door to the turn's actor, like mail. A turn
 * submits its job as the last step before it switches to another fiber (tr__turn_park), so that no
 * step after the submission can fail.
 *
 * Rules:
 *   1. A job is queued, then runs, then is over. The change from queued to running is made under
 *      the pool's lock. The change to over is made by the helper, which does not touch the job once
 *      its envelope is in the door.
 *   2. cell_extra.waits.blocked counts the jobs of an actor that are not over. The actor does not
 *      finish before the count is 0. So its door is open for the envelope, and the stacks of its
 *      turns exist.
 *   3. A worker that queues a job wakes one sleeping helper. If none sleeps, the worker starts one,
 *      up to helpers_max. Only a helper that sleeps and was not woken for a job may end. So the
 *      helpers that are awake take all jobs of the queue. A helper that has run a job that keeps it
 *      (`keeps_helper`) ends with the pool.
 */
#ifndef ACTOR_TURN_BLOCKING_H
#define ACTOR_TURN_BLOCKING_H

#include <troupe/status.h>

#include "base/list.h"

struct blocking;
struct cell;
struct envelope;
struct helper;
struct shared_job;
struct tr_system;
struct worker;

struct blocking_job {
    struct list link; /* in blocking.queue, then in blocking.running */
    void (*function)(void *argument);
    void *argument;
    struct tr_self *self;
    struct cell *cell;
    struct envelope *envelope;
    struct helper *helper; /* the helper that runs the job; NULL on a kit */
    tr_time began_ns;      /* when the job was taken from the queue */
    /* Under the lock. Written by the worker of the turn and by the helper that takes the job. */
    bool is_queued;
    uint64_t ticket; /* under the lock; no other job of the pool was queued with this number */
    /*
     * The shared job: this job itself if it has no turn, otherwise the job for which its turn
     * waits: actor/turn/shared_job.h. NULL: none.
     */
    struct shared_job *shared;
    bool is_submitted; /* for a turn that awaits a shared job: the turn was parked to wait for it */
    /* Called in place of the rest of the turn if the turn is abandoned after a trapped fault. NULL: nothing. */
    void (*on_abandoned)(void *argument);
    bool keeps_helper; /* the thread of its helper must not end before the pool: tr__blocking_run */
};

void tr__blocking_init(struct blocking *blocking, struct tr_system *system, uint32_t helpers_max);
/** Ends all helpers. Requires that all actors have ended. Waits for look-ups that run. May be called again. */
void tr__blocking_end(struct blocking *blocking);

/**
 * Queues the job of a turn that has begun to wait. If the job cannot be queued, wakes the turn with
 * the reason. If the platform has no threads, calls the function on this thread and wakes the turn
 * with TR_OK. Owner only.
 */
void tr__blocking_submit(struct tr_self *self);

/**
 * Removes the jobs of an actor that are still queued, because the actor stops or restarts, or
 * because a fault was trapped. Returns true if no job of the actor runs. Owner only.
 */
bool tr__blocking_withdraw(struct worker *worker, struct cell *cell);

/**
 * Makes the envelope of `job`, and sets self->job to `job`. Returns TR_OK, TR_NO_MEMORY, or a
 * status of turn_may_park. Owner only.
 */
TR_MUST_CHECK tr_status tr__blocking_prepare(struct tr_self *self, struct blocking_job *job);
/** Undoes tr__blocking_prepare, when the job is over or the turn has given it up. Owner only. */
void tr__blocking_leave(struct tr_self *self, struct blocking_job *job);
/**
 * Does what tr_try_blocking does, on a helper whose thread lives as long as the pool, because the kernel kills child
 * processes with the thread that has started them. If the turn is abandoned after a trapped fault, calls
 * on_abandoned(argument) once the function has returned, or once its job was taken back before it ran. Owner only.
 */
TR_MUST_CHECK tr_status tr__blocking_run(struct tr_self *self, void (*function)(void *argument),
                                         void (*on_abandoned)(void *argument), void *argument);
/** Does what the job of a turn wants if the turn is abandoned. The job is over, and its stack still there. Owner only. */
void tr__blocking_abandoned(struct tr_self *self);
/**
 * Queues a job for the helpers. Returns TR_OK. TR_LIMIT, TR_NO_MEMORY, TR_NOT_SUPPORTED: the job is
 * not queued. Any thread.
 */
TR_MUST_CHECK tr_status tr__blocking_enqueue(struct blocking *blocking, struct blocking_job *job);
/** Takes a job out of the queue. Under the lock. */
void tr__blocking_unqueue(struct blocking *blocking, struct blocking_job *job);
/**
 * Sends the envelope of a job whose function has returned to the actor of the job. Afterwards the
 * job may be gone. Any thread.
 */
void tr__blocking_return(struct blocking *blocking, struct blocking_job *job);
/** Whether a function runs, or a look-up is not over. Any thread. */
bool tr__blocking_is_busy(struct blocking *blocking);

/**
 * Calls on_job for each job that runs, under the pool's lock: on_job must not take another lock.
 * The actor and the turn of the job exist during the call, but belong to their worker; a shared job has neither. Any
 * thread.
 */
void tr__blocking_each(struct blocking *blocking,
                       void (*on_job)(void *context, const struct blocking_job *job),
                       void *context);

/**
 * Returns the number of functions on helper threads that are stuck. A function is stuck when its
 * CPU time and its sleep since the first call that saw it add up to `patience_ns`. With
 * `is_overloaded`, sleep since the last call does not count: a worker waits for a CPU, and the
 * function may be waiting for that worker. For the thread of the shutdown wait only.
 */
uint32_t tr__blocking_stuck(struct blocking *blocking, tr_time now_ns, tr_time patience_ns,
                            bool is_overloaded);

/** Returns how many queued jobs a kit can choose from for the next step. */
uint32_t tr__blocking_choices(struct blocking *blocking);
/** Runs a queued job on the thread of the kit: `choice` is its index in the queue. */
void tr__blocking_step(struct blocking *blocking, uint32_t choice);

#endif
