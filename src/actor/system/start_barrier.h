/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The start barrier: all workers call on_worker_start before their first turns.
 *
 * Each worker calls on_worker_start on its own thread, and waits until all workers have called it.
 * Then all workers continue. If on_worker_start has failed for one worker, the system is stopped
 * before any turn has run. A system without on_worker_start has no start barrier, and its workers
 * do not wait for each other.
 */
#ifndef ACTOR_SYSTEM_START_BARRIER_H
#define ACTOR_SYSTEM_START_BARRIER_H

#include <troupe/system.h>

#include "os/atomic.h"

struct worker;

/**
 * The wait of all workers for on_worker_start, before the first actor runs.
 */
struct start_barrier {
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context);
    void *context;
    tr_parker *parker; /* parker of the thread that starts the workers */
    atom32 arrived;    /* number of workers whose on_worker_start has returned */
    /* what on_worker_start returned on the last worker that was added to the running system */
    atom32 late;
    atom32 is_open;  /* the workers may continue */
    bool has_called; /* tr_system_run_once has called on_worker_start */
};

void tr__start_barrier_init(struct start_barrier *start_barrier, const tr_system_options *options);
void tr__start_barrier_deinit(struct tr_system *system);
/**
 * Prepares the barrier. The thread that starts the system calls this before it starts the other
 * threads. Returns TR_OK, TR_NO_MEMORY or TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__start_barrier_prepare(struct tr_system *system);
/**
 * Calls on_worker_start, and waits until the barrier is open. Called at the beginning of a worker's
 * thread, on that thread. Returns false if the thread must end: the worker was added later, and
 * on_worker_start has failed for it.
 */
TR_MUST_CHECK bool tr__start_barrier_pass(struct worker *worker);
/** Returns the number of workers for which on_worker_start has returned. Any thread. */
uint32_t tr__start_barrier_arrived(const struct start_barrier *start_barrier);
/**
 * Waits until on_worker_start has returned for a worker that is added while other workers run.
 * `count` is the number of workers with this worker. Returns the status of on_worker_start. Under
 * scale.lock.
 */
tr_status tr__start_barrier_wait_late(struct tr_system *system, uint32_t count);
/** Whether the calling thread is inside a call of on_worker_start. */
bool tr__start_barrier_is_caller(struct tr_system *system);
/**
 * Waits until on_worker_start has returned for `count` workers. Returns TR_OK, or the status of the
 * first call that has failed. Only the thread that called tr__start_barrier_prepare.
 */
tr_status tr__start_barrier_wait(struct tr_system *system, uint32_t count);
/**
 * Opens the barrier, so that the workers continue. Only the thread that called
 * tr__start_barrier_prepare.
 */
void tr__start_barrier_open(struct tr_system *system);
/**
 * Makes the start fail with `status`, so that no turn runs. Does nothing if the start has failed
 * before. Any thread.
 */
void tr__start_barrier_refuse(struct tr_system *system, tr_status status);
/**
 * Calls on_worker_start for the only worker of a system without threads. Only the first call does
 * so. Further calls return TR_OK.
 */
tr_status tr__start_barrier_pass_embedded(struct tr_system *system);

#endif
