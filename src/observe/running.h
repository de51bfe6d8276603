/* SPDX-License-Identifier: Apache-2.0 */
/** Shows which turns the workers run. */
#ifndef OBSERVE_RUNNING_H
#define OBSERVE_RUNNING_H

#include <troupe/observe.h>

/** Fills in what a worker is doing. Any thread. */
void tr__worker_describe(tr_system *system, uint32_t worker, tr_worker_info *info);

#endif
