/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Helper threads, for functions that block: tr_blocking.
 *
 * A job is a function with its argument. Its record is on the stack of the turn that waits for it,
 * and only its envelope is allocated. When the function has returned, that envelope goes through
 * the door to the turn's actor, like mail. A turn submits its job as the last step before it
 * switches to another fiber (tr__turn_park), so that no step after the submission can fail.
 *
 * Rules:
 *   1. A job is queued, then runs, then is over. A helper changes it from queued to running under
 *      the pool's lock. The helper also ends it, and does not touch the job once the envelope is in
 *      the door.
 *   2. cell_extra.waits.blocked counts the jobs of an actor that are not over. The actor does not
 *      finish before the count is 0. So until then its door is open for the envelope, and the
 *      stacks of its turns exist.
 *   3. A worker that queues a job wakes one sleeping helper. If no helper sleeps, the worker starts
 *      one, up to helpers_max. Only a helper that sleeps and was not woken for a job may end. So
 *      the helpers that are awake take all jobs of the queue. A helper that has once run a job with
 *      `keeps_helper` ends only with the pool.
 */
#ifndef ACTOR_TURN_BLOCKING_H
#define ACTOR_TURN_BLOCKING_H

#include <troupe/status.h>

#include "base/list.h"
#include "os/lock.h"

struct cell;
struct envelope;
struct helper;
struct shared_job;
struct tr_system;
struct worker;

/** The helper threads that run functions of tr_blocking. */
struct blocking {
    struct tr_system *system;
    struct lock lock; /* for all members below */
    struct list queue;
    struct list running;
    /*
     * a list of struct helper: the helpers that sleep; the helper that fell asleep last is the
     * first
     */
    struct list idle;
    /* a list of struct helper: the helpers that have ended and are not joined yet */
    struct list over;
    /* a list of struct shared_job: the jobs that have not returned; see actor/turn/shared_job.h */
    struct list shared;
    /*
     * how many shared jobs are queued or run; the other shared jobs wait until one of these has
     * returned
     */
    uint32_t shared_running;
    uint32_t shared_count; /* number of all shared jobs */
    uint32_t queued;
    uint32_t helpers;  /* helpers that are alive, or are being started */
    uint32_t starting; /* how many helper threads are being started */
    uint64_t tickets;  /* how many jobs were ever queued */
    uint32_t helpers_max;
    bool is_over;
    bool is_played; /* there are no helper threads: a kit calls tr__blocking_step instead */
};

struct blocking_job {
    struct list link; /* in blocking.queue, then in blocking.running */
    void (*function)(void *argument);
    void *argument;
    struct tr_self *self;
    struct cell *cell;
    struct envelope *envelope;
    struct helper *helper; /* the helper that runs the job; NULL on a kit */
    tr_time began_ns;      /* when the job was taken from the queue */
    /* under the lock; written by the worker of the turn, and by the helper that takes the job */
    bool is_queued;
    /* the number of the job, given under the lock; each job of the pool has another number */
    uint64_t ticket;
    /*
     * The shared job that contains this job, or for which the turn of this job waits; see
     * actor/turn/shared_job.h. NULL for all other jobs.
     */
    struct shared_job *shared;
    /*
     * this is the job of a turn that waits for a shared job, and was added to shared_job.waiting
     */
    bool is_submitted;
    /*
     * If the turn is abandoned after a trapped fault, this is called in place of the rest of the
     * turn. May be NULL.
     */
    void (*on_abandoned)(void *argument);
    /* the helper that runs this job must not end before the pool: see tr__blocking_run */
    bool keeps_helper;
};

void tr__blocking_init(struct blocking *blocking, struct tr_system *system, uint32_t helpers_max);
/**
 * Ends all helpers. All actors must have ended. Waits for look-ups that still run. May be called
 * again.
 */
void tr__blocking_end(struct blocking *blocking);

/**
 * Queues the job of a turn that has begun to wait. If the job cannot be queued, wakes the turn with
 * the reason. If the platform has no threads, calls the function on this thread and wakes the turn
 * with TR_OK. Owner only.
 */
void tr__blocking_submit(struct tr_self *self);

/**
 * Removes the jobs of an actor that are still queued, because the actor stops or restarts, or
 * because a fault of it was trapped. Returns true if no job of the actor runs. Owner only.
 */
bool tr__blocking_withdraw(struct worker *worker, struct cell *cell);

/**
 * Makes the envelope of `job`, and gives `job` to the turn (self->job). Returns TR_OK,
 * TR_NO_MEMORY, or a status of turn_may_park. Owner only.
 */
TR_MUST_CHECK tr_status tr__blocking_prepare(struct tr_self *self, struct blocking_job *job);
/** Undoes tr__blocking_prepare, because the job is over or the turn has given it up. Owner only. */
void tr__blocking_leave(struct tr_self *self, struct blocking_job *job);
/**
 * As tr_try_blocking, but on a helper whose thread lives as long as the pool. For functions that
 * start child processes: the kernel kills a child process when the thread that has started it ends.
 * If the turn is abandoned after a trapped fault, this calls on_abandoned(argument) after the
 * function has returned, or after its job was removed from the queue. Owner only.
 */
TR_MUST_CHECK tr_status tr__blocking_run(struct tr_self *self, void (*function)(void *argument),
                                         void (*on_abandoned)(void *argument), void *argument);
/**
 * Calls on_abandoned of the job of a turn that is abandoned, if the job has this function. The job
 * is over, and the stack of the turn still exists. Owner only.
 */
void tr__blocking_abandoned(struct tr_self *self);
/**
 * Queues a job for the helpers. Returns TR_OK. If the job could not be queued, returns TR_LIMIT,
 * TR_NO_MEMORY or TR_NOT_SUPPORTED. Any thread.
 */
TR_MUST_CHECK tr_status tr__blocking_enqueue(struct blocking *blocking, struct blocking_job *job);
/** Removes a job from the queue. Under the lock. */
void tr__blocking_unqueue(struct blocking *blocking, struct blocking_job *job);
/**
 * Sends the envelope of a job to the actor of the job, because the function of the job has
 * returned. Afterwards the job may be gone. Any thread.
 */
void tr__blocking_return(struct blocking *blocking, struct blocking_job *job);
/** Whether the function of any job runs, or any look-up is not over. Any thread. */
bool tr__blocking_is_busy(struct blocking *blocking);

/**
 * Calls on_job for each job that runs. Does so under the pool's lock, so on_job must not take
 * another lock. The actor and the turn of the job exist during the call, but they belong to their
 * worker. A shared job has neither. Any thread.
 */
void tr__blocking_each(struct blocking *blocking,
                       void (*on_job)(void *context, const struct blocking_job *job),
                       void *context);

/**
 * Returns the number of functions on helper threads that are stuck. A function is stuck when its
 * CPU time and its sleep add up to `patience_ns`, counted from the first call that saw it. With
 * `is_overloaded`, the sleep since the last call does not count: some worker waits for a CPU, and
 * the function may be waiting for that worker. For the thread of the shutdown wait only.
 */
uint32_t tr__blocking_stuck(struct blocking *blocking, tr_time now_ns, tr_time patience_ns,
                            bool is_overloaded);

/** Returns how many queued jobs a kit can choose from for the next step. */
uint32_t tr__blocking_choices(struct blocking *blocking);
/** Runs a queued job on the thread of the kit. `choice` is the index of the job in the queue. */
void tr__blocking_step(struct blocking *blocking, uint32_t choice);

#endif
