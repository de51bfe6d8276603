/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The work of a worker: its loop's hooks, its slices, its start and its end. The record is struct worker of
 * actor/cell/worker.h.
 */
#ifndef ACTOR_SYSTEM_WORKER_H
#define ACTOR_SYSTEM_WORKER_H

#include <troupe/detail/base.h>
#include <troupe/status.h>

struct tr_system;
struct worker;

TR_MUST_CHECK tr_status tr__worker_init(struct worker *worker, struct tr_system *system,
                                        uint32_t index);
void tr__worker_deinit(struct worker *worker);
/** Runs the worker until nothing is to be done or `turns_max` turns are over. True: more to do. */
bool tr__worker_slice(struct worker *worker, uint32_t turns_max);
/**
 * Works on the calling thread until the system is over, which is told by true, or until the worker is
 * handed to another thread.
 */
bool tr__worker_work(struct worker *worker);
/** The life of a worker's thread: until the system is over. */
void tr__worker_main(void *worker);

extern const struct loop_hooks tr__worker_hooks;
extern const struct loop_hooks tr__worker_trapping_hooks; /* of a system that traps faults */
extern const struct loop_hooks tr__worker_handoff_hooks;  /* of one whose threads are replaced */

/** When something falls due next: timers, waits, asks, schedules. Worker only. */
tr_time tr__worker_next(struct worker *worker);

#endif
