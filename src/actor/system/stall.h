/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that take too long. When the watch notices such a turn, it logs and counts the turn, and
 * calls the application's on_stall. All of this runs on the watch's thread. Any thread may read the
 * counter.
 */
#ifndef ACTOR_SYSTEM_STALL_H
#define ACTOR_SYSTEM_STALL_H

#include <troupe/system.h>

#include "actor/system/stall_log.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "sched/watch.h"

struct view;

struct tr_system;

/** Long turns. Written by the watch's thread. */
struct stalls {
    tr_time report_ns; /* TR_TURN_REPORT_NS, or the application's value; 0: no reports */
    void (*on_stall)(void *context, const tr_stall *stall);
    void *context;
    atom64 total;
    struct view *views; /* for each worker, the last turn that was reported */
    struct stall_log log;
    struct lock threads_lock; /* while it is held, the threads of workers are not joined */
    tr_time second_ns;        /* since when `logged` counts */
    uint32_t logged;          /* number of lines since second_ns */
    uint64_t unlogged;        /* number of reports that were left out since the last line */
    tr_time looks_ns;         /* since when `looks` counts */
    uint32_t looks;           /* how often stacks were looked at since looks_ns */
};

enum stall_flag {
    STALL_FIRST = 1 << 0,   /* this turn was not reported yet */
    STALL_OVER = 1 << 1,    /* the turn has ended */
    STALL_RELIEVED = 1 << 2 /* thread handoff: another thread runs the worker of the turn */
};

/** Reports a turn that takes long. With STALL_OVER, the turn has ended. On the watch's thread. */
void tr__stalls_tell(struct tr_system *system, const struct view *view, int worker,
                     tr_time duration_ns, unsigned flags, const struct stall_stack *stack);

/** Reads the options of the application into `stalls`. `options` must have all members. */
void tr__stalls_init(struct stalls *stalls, const tr_system_options *options);
/**
 * Allocates a view for each worker, unless reports are switched off. Returns TR_OK or TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__stalls_fill(struct tr_system *system);
void tr__stalls_deinit(struct tr_system *system);

/** Returns the callbacks with which the watch reports, including those of the thread handoff. */
struct watch_report tr__stalls_report(struct tr_system *system);

#endif
