/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a worker does: the hooks of its loop, its slices, its start and its end. The record is
 * struct worker of actor/cell/worker.h.
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
/**
 * Runs the worker until the worker has nothing to do or has run `turns_max` turns. Returns true if
 * there is more to do. Worker only.
 */
bool tr__worker_slice(struct worker *worker, uint32_t turns_max);
/**
 * Whether the system is over and this worker may end. While channels still send, the worker must
 * not end before the deadline of the shutdown. In that case this returns false, and sets *until_ns
 * to the latest time at which the caller must ask again. Owner only.
 */
bool tr__worker_is_over(struct worker *worker, tr_time *until_ns);
/**
 * Runs the worker on the calling thread. Returns true when the system is over, and false when
 * another thread has got the worker.
 */
bool tr__worker_work(struct worker *worker);
/** The main function of a worker's thread. Returns when the system is over. */
void tr__worker_main(void *worker);

extern const struct loop_hooks tr__worker_hooks;
extern const struct loop_hooks tr__worker_trapping_hooks; /* for a system that traps faults */
extern const struct loop_hooks tr__worker_handoff_hooks;  /* for a system with thread handoff */

/**
 * Returns the time at which the worker has something to do next. This may be a timer, a wait, an
 * ask, a schedule or, for a worker that leaves, its next walk over its actors
 * (actor/system/leave.h). Worker only.
 */
tr_time tr__worker_next(struct worker *worker);

#endif
