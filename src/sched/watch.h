/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The watch: a thread that gives every awake loop a tick each millisecond.
 *
 * A loop reads no clock between two turns. The tick shows a worker that time has passed. So a run
 * of slow turns ends after about a millisecond, and not only after 64 turns. When all loops have
 * slept for a while, the watch sleeps too, without a timeout. So an idle process has no wake-ups.
 *
 * A loop reads the clock in time by itself as long as its turns take about as long as before
 * (LOOP_CLOCK_NS). While this is so for all loops, the watch ticks only each fourth millisecond,
 * because a tick takes 10 to 20 us of a busy CPU. The first loop whose clock is too old brings back
 * a tick each millisecond.
 *
 * The watch also notices a loop that makes no progress. After a tick, a run ends with the turn that
 * runs, and is counted then. So if a loop is awake and has counted nothing over several ticks, it
 * has been in the same turn all the time. This finds long turns, and costs nothing in each turn.
 */
#ifndef SCHED_WATCH_H
#define SCHED_WATCH_H

#include "sched/doorbell.h"
#include "sched/loop.h"

#define WATCH_TICK_NS TR_MILLISECOND
/*
 * The time between two ticks while all loops read the clock in time by themselves. A loop that no
 * longer does so gets its next tick after at most this time.
 */
#define WATCH_CALM_NS (4 * TR_MILLISECOND)
/*
 * How old the clock of a loop may be at a look, if the loop reads it in time by itself: twice what
 * LOOP_CLOCK_NS aims at. A loop that reads its clock only at ticks has an older one, because the
 * last tick was WATCH_TICK_NS ago.
 */
#define WATCH_FRESH_NS (2 * LOOP_CLOCK_NS)
enum {
    WATCH_PATIENCE = 100, /* after this many ms without an awake loop the watch sleeps */
    /* After this many looks in a row at which all clocks were read in time, ticks become rarer. */
    WATCH_CALM_LOOKS = 32,
    /*
     * How many looks in a row must find a loop at the same step before the watch reports the loop.
     * Fewer looks prove nothing if the watch itself was late.
     */
    WATCH_LOOKS_MIN = 3,
    /* after a report of a turn, the next report is due when the turn has taken this many times as
     * long */
    WATCH_GROWTH = 10
};

/** What the watch reports, and the functions that it calls. */
struct watch_report {
    tr_time stall_ns; /* how long a turn may take; 0: nothing is reported */
    /**
     * Called when a loop has been in one turn for `duration_ns` so far. With `is_over`, called when
     * a turn that was reported has ended. Returns false if the loop is in no turn. On the watch's
     * thread.
     */
    bool (*on_stall)(void *context, struct loop *loop, tr_time duration_ns, bool is_over);
    void *context;
    /* on_stuck is called for a turn that takes longer than this; 0: on_stuck is never called */
    tr_time handoff_ns;
    /**
     * Called when a loop has been at the same step (loop_steps) for handoff_ns. Called again at
     * each tick while the loop stays at this step.
     */
    void (*on_stuck)(void *context, struct loop *loop, uint64_t steps, tr_time now_ns);
    /**
     * Called after each look at all loops. Returns true if the watch must not sleep. May be NULL.
     */
    bool (*on_look)(void *context, tr_time now_ns);
    struct doorbell *doorbell; /* rung when the watch wakes up after it has slept; may be NULL */
};

struct watch {
    const tr_platform *platform;
    tr_parker *parker;
    tr_thread *thread;
    struct loop **loops; /* lent */
    size_t loop_count;
    struct watch_report report;
    uint64_t ticks;
    tr_time ticked_ns; /* when the last tick was */
    /* by how much the wait before this look was planned longer than WATCH_TICK_NS */
    tr_time missed_ns;
    atom32 is_asleep;
    atom32 is_over;
};

/**
 * Starts the thread of the watch. `loops` is lent until tr__watch_stop. Returns TR_OK, TR_NO_MEMORY
 * or TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__watch_start(struct watch *watch, const tr_platform *platform,
                                        struct loop **loops, size_t loop_count,
                                        const struct watch_report *report);
/**
 * Checks which loops make progress, and reports the loops that do not. The watch's thread calls
 * this at each tick. Returns what on_look returns.
 */
bool tr__watch_look(struct watch *watch, tr_time now_ns);
/**
 * Stops and joins the thread. Does nothing if the watch is all zero, because then it was never
 * started.
 */
void tr__watch_stop(struct watch *watch);

/** Wakes the watch, because a loop continues after it has slept. Any thread. */
static inline void watch_rouse(struct watch *watch)
{
    if (atom32_load(&watch->is_asleep, ATOM_SEQ_CST) &&
        atom32_exchange(&watch->is_asleep, 0, ATOM_SEQ_CST))
        watch->platform->wake(watch->platform, watch->parker);
}

#endif
