/* SPDX-License-Identifier: Apache-2.0 */
/** Shows which turns the workers run. */
#ifndef OBSERVE_RUNNING_H
#define OBSERVE_RUNNING_H

#include <troupe/observe.h>

/** Fills in what a worker is doing. Any thread. */
void tr__worker_describe(tr_system *system, uint32_t worker, tr_worker_info *info);
/**
 * Fills in the turn that a thread is stuck in, while another one runs its worker (tr_system_options.handoff_after_ns). Returns
 * false if the thread is in no such turn. `thread` is below tr__handoff_threads. Any thread.
 */
bool tr__handed_off_describe(tr_system *system, uint32_t thread, tr_worker_info *info);

#endif
