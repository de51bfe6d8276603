/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A parker is what a thread of the real platform sleeps on, until a deadline, a wake-up or an event of a watched
 * descriptor.
 *
 * troupe/platform.h says what each function promises. `platform` is ignored.
 */
#ifndef OS_PARKER_H
#define OS_PARKER_H

#include <troupe/platform.h>

tr_status tr__real_parker_new(const tr_platform *platform, tr_parker **parker);
void tr__real_parker_free(const tr_platform *platform, tr_parker *parker);
void tr__real_park(const tr_platform *platform, tr_parker *parker, tr_time deadline);
void tr__real_wake(const tr_platform *platform, tr_parker *parker);
int tr__real_parker_fd(const tr_platform *platform, tr_parker *parker);
void tr__real_parker_alarm(const tr_platform *platform, tr_parker *parker, tr_time deadline);
tr_status tr__real_io_watch(const tr_platform *platform, tr_parker *parker, int fd, uint64_t token);
tr_status tr__real_io_watch_input(const tr_platform *platform, tr_parker *parker, int fd,
                                  uint64_t token);
tr_status tr__real_io_watch_output(const tr_platform *platform, tr_parker *parker, int fd,
                                   uint64_t token);
void tr__real_io_unwatch(const tr_platform *platform, tr_parker *parker, int fd);
size_t tr__real_io_poll(const tr_platform *platform, tr_parker *parker, tr_io_event *events,
                        size_t max);

/** Returns how often the parker has asked epoll for events. For tests. Any thread. */
uint64_t tr__real_parker_waits(const tr_parker *parker);

#endif
