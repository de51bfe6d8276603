/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What stands between the threads of the workers and their first turns: on_worker_start.
 *
 * Each worker calls it on its own thread and waits until all have; then either all go on, or, when
 * one has failed, the system is stopped before any turn has run. A system without the function has no
 * start_barrier, and its workers do not wait for each other.
 */
#ifndef ACTOR_SYSTEM_START_BARRIER_H
#define ACTOR_SYSTEM_START_BARRIER_H

#include <troupe/system.h>

#include "actor/cell/system_parts.h"

struct start_barrier;
struct worker;

void tr__start_barrier_init(struct start_barrier *start_barrier, const tr_system_options *options);
void tr__start_barrier_deinit(struct tr_system *system);
/** Before the threads are started. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__start_barrier_prepare(struct tr_system *system);
/**
 * A worker's thread has begun: calls the function, and waits for the others. False: it was added later,
 * failed, and its thread is to end.
 */
TR_MUST_CHECK bool tr__start_barrier_pass(struct worker *worker);
/** How many have called it. */
uint32_t tr__start_barrier_arrived(const struct start_barrier *start_barrier);
/** As tr__start_barrier_wait, for one that is added when the others run. */
tr_status tr__start_barrier_wait_late(struct tr_system *system, uint32_t count);
/** Whether the calling thread is in the function. */
bool tr__start_barrier_is_caller(struct tr_system *system);
/** Waits until `count` workers have called it; their status. Who has prepared it. */
tr_status tr__start_barrier_wait(struct tr_system *system, uint32_t count);
/** Lets the workers go on. Who has prepared it. */
void tr__start_barrier_open(struct tr_system *system);
/** Nothing is to run: as if a worker had not started. */
void tr__start_barrier_refuse(struct start_barrier *start_barrier, tr_status status);
/** Calls it for the only worker of a system without threads, once. */
tr_status tr__start_barrier_pass_embedded(struct tr_system *system);

#endif
