/* SPDX-License-Identifier: Apache-2.0 */
/** Shows which turns run on the workers now. */
#ifndef OBSERVE_RUNNING_H
#define OBSERVE_RUNNING_H

#include <troupe/observe.h>

/** Fills in what a worker does now. Any thread. */
void tr__worker_describe(tr_system *system, uint32_t worker, tr_worker_info *info);
/**
 * Fills in the turn in which a thread is stuck while another thread runs its worker
 * (tr_system_options.handoff_after_ns). Returns false if the thread is not stuck in such a turn.
 * `thread` must be below tr__handoff_threads. Any thread.
 */
bool tr__handed_off_describe(tr_system *system, uint32_t thread, tr_worker_info *info);

#endif
