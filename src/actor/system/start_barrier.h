/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The start barrier: all workers call on_worker_start before their first turns.
 *
 * Each worker calls the function on its own thread and waits until all workers have called it. Then
 * all continue. If the function has failed for one worker, the system is stopped before any turn
 * has run. A system without the function has no start barrier, and its workers do not wait for each
 * other.
 */
#ifndef ACTOR_SYSTEM_START_BARRIER_H
#define ACTOR_SYSTEM_START_BARRIER_H

#include <troupe/system.h>

#include "actor/cell/system_parts.h"

struct start_barrier;
struct worker;

void tr__start_barrier_init(struct start_barrier *start_barrier, const tr_system_options *options);
void tr__start_barrier_deinit(struct tr_system *system);
/**
 * Called before the threads are started, by the thread that starts the system. TR_NO_MEMORY,
 * TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__start_barrier_prepare(struct tr_system *system);
/**
 * Called at the beginning of a worker's thread: calls the function, and waits until the barrier is
 * open. Returns false if the worker was added later and its function has failed: its thread must
 * then end. On the worker's thread.
 */
TR_MUST_CHECK bool tr__start_barrier_pass(struct worker *worker);
/** Returns the number of workers for which on_worker_start has returned. Any thread. */
uint32_t tr__start_barrier_arrived(const struct start_barrier *start_barrier);
/**
 * Waits until on_worker_start has returned for `count` workers, for a worker that is added while
 * the others run. Returns the status of that worker. Under scale.lock.
 */
tr_status tr__start_barrier_wait_late(struct tr_system *system, uint32_t count);
/** Whether the calling thread is in on_worker_start. */
bool tr__start_barrier_is_caller(struct tr_system *system);
/**
 * Waits until on_worker_start has returned for `count` workers. Returns the first status other than
 * TR_OK with which the start has failed, else TR_OK. Only the thread that called
 * tr__start_barrier_prepare.
 */
tr_status tr__start_barrier_wait(struct tr_system *system, uint32_t count);
/** Lets the workers continue. Only the thread that called tr__start_barrier_prepare. */
void tr__start_barrier_open(struct tr_system *system);
/** Makes the start fail with `status`, unless it has failed before: no turn runs. Any thread. */
void tr__start_barrier_refuse(struct start_barrier *start_barrier, tr_status status);
/**
 * Calls the function for the only worker of a system without threads. Further calls do nothing and
 * return TR_OK.
 */
tr_status tr__start_barrier_pass_embedded(struct tr_system *system);

#endif
