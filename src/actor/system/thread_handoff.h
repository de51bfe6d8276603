/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Thread handoff: a worker whose thread is stuck in a handler continues on another thread.
 *
 * The watch notices that a worker makes no progress, and calls a spare thread. If the stuck thread
 * is in user code (sched/claim.h), the spare thread takes the worker. The spare thread treats the
 * turn like a turn that has begun to wait: the turn keeps its stack, and the worker's loop
 * continues on another stack, on the spare thread. But the handler still runs, so no other code of
 * its actor may run meanwhile. The scheduling state of the actor stays SCHED_RUNNING, and mail and
 * orders to the actor wait in its mailboxes and control bits.
 *
 * When the handler returns or calls a verb, its thread is back in the runtime. That thread finds
 * the worker taken, sets CONTROL_BACK, posts the actor's door, and waits. The next run of the actor
 * hands the worker to that thread. The loop leaves its fiber as if it switched to the fiber of the
 * turn. The thread that ran the loop becomes a spare, and the thread of the turn continues where it
 * waited, in the verb. So one thread at a time acts for a worker. Verbs need nothing for this
 * except their first line, TURN_VERB of actor/cell/verb.h.
 */
#ifndef ACTOR_SYSTEM_THREAD_HANDOFF_H
#define ACTOR_SYSTEM_THREAD_HANDOFF_H

#include <troupe/system.h>

#include "actor/cell/worker.h"
#include "base/list.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "sched/watch.h"

/** Threads that take a worker from a stuck thread. */
struct thread_handoff {
    struct tr_system *system;
    /* how long a handler runs before another thread gets its worker; 0: no handoff */
    tr_time after_ns;
    uint32_t spares_max;
    uint32_t worker_count;
    /* an array: first the threads of the workers, then the spares; NULL: there is no handoff */
    struct handoff_thread *threads;
    struct view *views; /* one view for each thread; only the watch uses it */
    struct lock lock;
    struct list idle;
    uint32_t spares; /* number of spare threads that were started so far; under the lock */
    bool is_over;
    atom64 total;
};

/** A thread that may act for a worker: a worker's first thread, or a spare thread. */
struct handoff_thread {
    struct claim claim; /* comes first */
    struct thread_handoff *handoff;
    tr_parker *parker;
    /*
     * handle of a spare thread; NULL for the first thread of a worker, whose handle is in struct
     * worker
     */
    tr_thread *thread;
    atom64 id;
    bool has_begun; /* on_worker_start was called on this thread */
    /* While the thread is stuck: its turn, and the own stack of the thread. */
    struct tr_self *turn;
    struct fiber_side side;
    /* The members from here to `since_ns` are read and written under the lock. */
    struct list link;    /* in handoff.idle while the thread waits for a call */
    struct worker *call; /* the worker for which the watch has called this thread; NULL: none */
    uint64_t call_steps; /* loop_steps of that worker at the call */
    /*
     * if on_worker_start has failed on this thread, the watch does not call the thread before this
     * time
     */
    tr_time retry_ns;
    bool is_stuck;
    uint64_t number; /* how many times the thread has been stuck */
    const struct cell *cell;
    const tr_type *type;
    const tr_handler *handler;
    struct worker *worker;
    tr_time since_ns;
    /* For the reports of the stuck turn. Only the watch's thread uses the members from here on. */
    uint64_t told_number; /* `number` of the turn that the view describes */
    tr_time tell_ns;      /* the age of the turn at which its next report is due */
    bool is_told;         /* the turn was reported, but its end was not */
};

/**
 * Checks the options of the handoff. Returns TR_OK, TR_INVALID_ARGUMENT, TR_LIMIT or
 * TR_NOT_SUPPORTED.
 */
TR_MUST_CHECK tr_status tr__handoff_check(const tr_system_options *options);
void tr__handoff_init(struct thread_handoff *handoff, struct tr_system *system,
                      const tr_system_options *options);
/**
 * If the handoff is switched on, allocates the records of threads. Called before the first thread
 * of the system is started. Returns TR_OK, TR_NO_MEMORY or TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__handoff_open(struct tr_system *system);
/** Adds the callbacks of the handoff to the report of the watch. */
void tr__handoff_watch(struct tr_system *system, struct watch_report *report);
/** Ends the handoff: the watch calls no thread any more, and spare threads end. Any thread. */
void tr__handoff_close(struct tr_system *system);
/** Joins the spare threads. The watch must have ended. */
void tr__handoff_join(struct tr_system *system);
void tr__handoff_deinit(struct tr_system *system);

/**
 * Runs a thread that has no worker: waits until the watch calls the thread, takes the worker and
 * runs it. Repeats this until the system is over. Only on that thread.
 */
void tr__handoff_serve(struct handoff_thread *thread);

/** Whether the calling thread is a thread of the handoff, with a worker or without. */
bool tr__handoff_is_caller(struct tr_system *system);

/**
 * Returns the platform's handle of a thread of the handoff; NULL if the thread has ended. Any
 * thread.
 */
const tr_thread *tr__handoff_handle(const struct handoff_thread *thread);
/** Returns the thread that acts for a worker now; NULL if no thread does. Any thread. */
const tr_thread *tr__worker_thread(const struct worker *worker);

/**
 * Called when an actor with a stuck turn was posted. If the thread of this turn is back in the
 * runtime, makes the actor ready. Owner only.
 */
void tr__handoff_back(struct worker *worker, struct cell *cell);

/**
 * Gives the worker to its successor, as the last step of tr__handoff_leave. Called on the thread
 * that has had the worker until now, after that thread has left the loop's fiber. Worker only.
 */
void tr__handoff_hand(struct worker *worker);

/**
 * Calls a function for each thread that is stuck in user code, under the lock. Leaves out a thread
 * that is back in the runtime and waits for its worker. Any thread.
 */
void tr__handoff_each(struct tr_system *system,
                      void (*visit)(void *context, const struct handoff_thread *thread),
                      void *context);

#endif
