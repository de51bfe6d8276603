/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions of the real platform, which real.c puts into its table; see troupe/platform.h for
 * what each of them promises. They look at no platform: the world is the same for all.
 */
#ifndef OS_REAL_H
#define OS_REAL_H

#include <troupe/platform.h>

/* clock.c */
tr_time tr__real_mono_now(const tr_platform *platform);
tr_time tr__real_wall_now(const tr_platform *platform);

/* random.c */
uint64_t tr__real_random(const tr_platform *platform);

/* log.c */
void tr__real_log(const tr_platform *platform, tr_level level, const char *path, const char *text);

/* cpu.c */
unsigned tr__real_cpu_count(const tr_platform *platform);

/* thread.c */
tr_status tr__real_thread_start(const tr_platform *platform, const char *name,
                                void (*main)(void *context), void *context, tr_thread **thread);
void tr__real_thread_join(const tr_platform *platform, tr_thread *thread);
uint64_t tr__real_thread_id(const tr_platform *platform);
tr_time tr__real_thread_cpu(const tr_platform *platform, const tr_thread *thread);
void tr__real_yield(const tr_platform *platform);

/* parker.c */
tr_status tr__real_parker_new(const tr_platform *platform, tr_parker **parker);
void tr__real_parker_free(const tr_platform *platform, tr_parker *parker);
void tr__real_park(const tr_platform *platform, tr_parker *parker, tr_time deadline);
void tr__real_wake(const tr_platform *platform, tr_parker *parker);
int tr__real_parker_fd(const tr_platform *platform, tr_parker *parker);
void tr__real_parker_alarm(const tr_platform *platform, tr_parker *parker, tr_time deadline);
tr_status tr__real_io_submit(const tr_platform *platform, tr_parker *parker, tr_io *io);
bool tr__real_io_cancel(const tr_platform *platform, tr_parker *parker, tr_io *io);
tr_io *tr__real_io_reap(const tr_platform *platform, tr_parker *parker);

#endif
