/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads of the real platform.
 *
 * troupe/platform.h says what each function promises. `platform` is ignored.
 */
#ifndef OS_THREAD_H
#define OS_THREAD_H

#include <troupe/platform.h>

tr_status tr__real_thread_start(const tr_platform *platform, const char *name,
                                void (*main)(void *context), void *context, tr_thread **thread);
void tr__real_thread_join(const tr_platform *platform, tr_thread *thread);
/**
 * Lowers the priority of the calling thread, so that it runs mainly when other threads leave processor time. For work
 * that is not urgent.
 */
void tr__thread_step_back(void);
uint64_t tr__real_thread_id(const tr_platform *platform);
tr_time tr__real_thread_cpu(const tr_platform *platform, const tr_thread *thread);
size_t tr__real_thread_stack(const tr_platform *platform, const tr_thread *thread, uintptr_t last,
                             uintptr_t *frames, size_t max);
void tr__real_yield(const tr_platform *platform);

#endif
