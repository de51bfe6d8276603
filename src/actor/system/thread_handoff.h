/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Relief: the worker of a thread that is stuck in a handler goes on with another thread.
 *
 * The watch notices that a worker stands still, and calls a spare thread. That takes the worker, if the
 * stuck thread is in user code (sched/claim.h), and treats the turn like one that has begun to wait: the
 * turn keeps its stack, and the worker's loop goes on on another, on the spare thread. But the handler
 * does not know that it waits, so nothing of its actor runs meanwhile: its scheduling state stays SCHED_RUNNING,
 * and whatever is for it waits in mailboxes and control bits.
 *
 * When the handler returns, or calls a verb, its thread comes in, finds the worker taken, sets
 * CONTROL_BACK, posts the actor's door, and waits. The next run of the actor hands the worker to it:
 * the loop's fiber is left as if it switched to the turn's, the thread that ran it becomes a spare, and
 * the other one goes on where it stood, in the verb. So one thread at a time acts for a worker, and
 * no verb knows of any of this but for its first line, TURN_VERB of actor/cell/verb.h.
 */
#ifndef ACTOR_SYSTEM_THREAD_HANDOFF_H
#define ACTOR_SYSTEM_THREAD_HANDOFF_H

#include <troupe/system.h>

#include "actor/cell/worker.h"
#include "sched/watch.h"

/** A thread that may act for a worker. The first ones are those that workers begin with. */
struct handoff_thread {
    struct claim claim; /* comes first */
    struct thread_handoff *handoff;
    tr_parker *parker;
    tr_thread *thread; /* NULL: a worker has it */
    atom64 id;
    bool has_begun; /* on_worker_start was called */
    /* Of one that is stuck. */
    struct tr_self *turn;
    struct fiber_side side; /* its own stack */
    /* Under the lock. */
    struct list link;    /* in the list of those that are idle */
    struct worker *call; /* which is to be taken */
    uint64_t call_steps;
    bool is_stuck;
    uint64_t number; /* of times that it was */
    const struct cell *cell;
    const tr_type *type;
    const tr_handler *handler;
    struct worker *worker;
    tr_time since_ns;
    /* The watch's: what was told of a turn that is stuck. */
    uint64_t told_number;
    tr_time tell_ns;
    bool is_told;
};

/** What the options say. TR_INVALID_ARGUMENT, TR_LIMIT, TR_NOT_SUPPORTED. */
TR_MUST_CHECK tr_status tr__handoff_check(const tr_system_options *options);
void tr__handoff_init(struct thread_handoff *handoff, struct tr_system *system,
                      const tr_system_options *options);
/** Before the first thread of the system. TR_NO_MEMORY, TR_LIMIT. */
TR_MUST_CHECK tr_status tr__handoff_open(struct tr_system *system);
/** Adds to what the watch is to do. */
void tr__handoff_watch(struct tr_system *system, struct watch_report *report);
/** All workers have ended: threads that are spare by now end too. */
void tr__handoff_close(struct tr_system *system);
/** Joins those that no worker has; the watch has ended. */
void tr__handoff_join(struct tr_system *system);
void tr__handoff_deinit(struct tr_system *system);

/** A thread without a worker waits to be called, and works, until the system is over. */
void tr__handoff_serve(struct handoff_thread *thread);

/** Whether the calling thread is one of these. */
bool tr__handoff_is_caller(struct tr_system *system);

/** The thread that acts for a worker now; NULL: none. Any thread. */
const tr_thread *tr__worker_thread(const struct worker *worker);

/** An actor whose turn is stuck was posted: lets it run if the turn's thread is back. Owner only. */
void tr__handoff_back(struct worker *worker, struct cell *cell);

/** What is left of that on the thread that had the worker, when its fiber was left. */
void tr__handoff_hand(struct worker *worker);

/**
 * Calls a function for each thread that is stuck and does not just wait for its worker, under the lock.
 * Any thread.
 */
void tr__handoff_each(struct tr_system *system,
                      void (*visit)(void *context, const struct handoff_thread *thread),
                      void *context);

/** Whether what was told of a turn that a worker had is now told of a thread that is stuck. The watch. */
bool tr__handoff_follows(struct tr_system *system, uint64_t ref);

/** Whether a turn of this actor is stuck and its worker was taken, even if it has not gone on yet. */
bool tr__handoff_has(struct tr_system *system, uint64_t ref);

#endif
