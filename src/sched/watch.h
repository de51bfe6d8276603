/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The watch: a thread that gives every awake loop a tick each millisecond.
 *
 * A loop reads no clock between two turns; the tick is how it knows that time has passed, so that a
 * run of slow turns ends after about a millisecond and not after 64 turns. When all loops have slept
 * for a while the watch sleeps too, without a timeout: an idle system wakes nobody.
 */
#ifndef SCHED_WATCH_H
#define SCHED_WATCH_H

#include "sched/loop.h"

#define WATCH_TICK_NS TR_MILLISECOND
enum { WATCH_PATIENCE = 100 }; /* ticks without an awake loop before the watch sleeps */

struct watch {
    const tr_platform *platform;
    tr_parker *parker;
    tr_thread *thread;
    struct loop **loops; /* lent */
    size_t loop_count;
    uint64_t ticks;
    atom32 is_asleep;
    atom32 is_over;
};

/** Starts the thread. `loops` is lent until tr__watch_stop. TR_NO_MEMORY, TR_LIMIT. */
TR_MUST_CHECK tr_status tr__watch_start(struct watch *watch, const tr_platform *platform,
                                        struct loop **loops, size_t loop_count);
/** Ends and joins it. A watch of all zero was never started. */
void tr__watch_stop(struct watch *watch);

/** A loop goes on after sleep: the watch must be awake too. Any thread. */
static inline void watch_rouse(struct watch *watch)
{
    if (atom32_load(&watch->is_asleep, ATOM_SEQ_CST) &&
        atom32_exchange(&watch->is_asleep, 0, ATOM_SEQ_CST))
        watch->platform->wake(watch->platform, watch->parker);
}

#endif
