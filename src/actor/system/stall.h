/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that take too long: what the watch has noticed becomes lines of the log, a counter, and calls
 * of the application's on_stall. All of it on the watch's thread, but for the counter's readers.
 */
#ifndef ACTOR_SYSTEM_STALL_H
#define ACTOR_SYSTEM_STALL_H

#include <troupe/system.h>

#include "sched/watch.h"

struct stalls;
struct view;

struct tr_system;

enum stall_flag {
    STALL_FIRST = 1 << 0, /* nothing was said of this turn yet */
    STALL_OVER = 1 << 1,
    STALL_RELIEVED = 1 << 2 /* another thread has its worker */
};

/** Says that a turn takes long, or has taken long. On the watch's thread. */
void tr__stalls_tell(struct tr_system *system, const struct view *view, int worker,
                     tr_time duration_ns, unsigned flags);

/** What tr_system_options say. Members behind `context` count only when `size` is given. */
void tr__stalls_init(struct stalls *stalls, const tr_system_options *options);
/** Memory for `worker_count` workers. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__stalls_fill(struct tr_system *system);
void tr__stalls_deinit(struct tr_system *system);

/** What the watch is to do. */
struct watch_report tr__stalls_report(struct tr_system *system);

#endif
