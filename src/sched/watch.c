/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/watch.h"

/*
 * Returns a time by which the current turn of a loop has probably begun. The loop has made progress
 * since the last look. If ticks are rare, the last look was some milliseconds ago, and the turn may
 * have begun soon after it. But the loop usually reads its clock every LOOP_CLOCK_NS between turns,
 * so the turn has probably begun at most LOOP_CLOCK_NS after the last read.
 */
static tr_time turn_since(const struct watch *watch, const struct loop *loop, tr_time now_ns)
{
    tr_time least_ns = now_ns - watch->missed_ns;
    tr_time likely_ns = (tr_time)atom64_load(&loop->seen_ns, ATOM_RELAXED) + LOOP_CLOCK_NS;
    return likely_ns >= now_ns ? now_ns : likely_ns > least_ns ? likely_ns : least_ns;
}

static void look_at(const struct watch *watch, struct loop *loop, tr_time now_ns)
{
    const struct watch_report *report = &watch->report;
    bool is_awake = atom32_load(&loop->ready.sleep, ATOM_RELAXED) != READY_ASLEEP;
    uint64_t steps = loop_steps(loop);
    tr_time age_ns = now_ns - (tr_time)atom64_load(&loop->since_ns, ATOM_RELAXED);
    if (!is_awake || !loop->looks || steps != loop->steps_seen) {
        if (loop->is_reported)
            (void)report->on_stall(report->context, loop, age_ns, true);
        loop->is_reported = false;
        loop->steps_seen = steps;
        loop->looks = is_awake;
        loop->report_ns = report->stall_ns;
        atom64_store(&loop->since_ns,
                     is_awake ? (uint64_t)turn_since(watch, loop, now_ns) : 0,
                     ATOM_RELAXED);
        return;
    }
    if (loop->looks < WATCH_LOOKS_MIN && ++loop->looks < WATCH_LOOKS_MIN)
        return;
    if (report->handoff_ns && age_ns >= report->handoff_ns)
        report->on_stuck(report->context, loop, steps, now_ns);
    if (!report->stall_ns || age_ns < loop->report_ns)
        return;
    if (!report->on_stall(report->context, loop, age_ns, false))
        return;
    loop->is_reported = true;
    while (loop->report_ns <= age_ns)
        loop->report_ns *= WATCH_GROWTH;
}

bool tr__watch_look(struct watch *watch, tr_time now_ns)
{
    const struct watch_report *report = &watch->report;
    for (size_t i = 0; i < watch->loop_count; i++)
        look_at(watch, watch->loops[i], now_ns);
    return report->on_look && report->on_look(report->context, now_ns);
}

/*
 * Gives a tick to every loop that is awake, `passed_ns` after the last tick. Returns true if any
 * loop is awake.
 */
static bool watch_tick(struct watch *watch, tr_time passed_ns)
{
    bool is_busy = false;
    for (size_t i = 0; i < watch->loop_count; i++) {
        struct loop *loop = watch->loops[i];
        if (atom32_load(&loop->ready.sleep, ATOM_SEQ_CST) == READY_ASLEEP)
            continue;
        /*
         * A plain store is enough, because only the watch writes `tick`, and the store publishes
         * nothing else.
         */
        atom32_store(&loop->tick, atom32_load(&loop->tick, ATOM_RELAXED) + 1, ATOM_RELAXED);
        atom64_count(&loop->awake_ns, (uint64_t)passed_ns);
        is_busy = true;
    }
    return is_busy;
}

/*
 * Sleeps until a loop wakes the watch. First announces sleep, and then looks at the loops once
 * more: this pairs with watch_rouse.
 */
static void watch_doze(struct watch *watch)
{
    struct doorbell *doorbell = watch->report.doorbell;
    atom32_exchange(&watch->is_asleep, 1, ATOM_SEQ_CST);
    if (!watch_tick(watch, 0) && !atom32_load(&watch->is_over, ATOM_SEQ_CST)) {
        if (doorbell)
            doorbell_begin_quiet(doorbell);
        watch->platform->park(watch->platform, watch->parker, TR_NEVER);
        if (doorbell)
            doorbell_end_quiet(doorbell);
    }
    atom32_store(&watch->is_asleep, 0, ATOM_SEQ_CST);
}

/* Returns whether all loops that are awake have read the clock lately, and not only at the last tick. */
static bool is_calm(const struct watch *watch, tr_time now_ns)
{
    for (size_t i = 0; i < watch->loop_count; i++) {
        const struct loop *loop = watch->loops[i];
        if (atom32_load(&loop->ready.sleep, ATOM_RELAXED) != READY_ASLEEP &&
            now_ns - (tr_time)atom64_load(&loop->seen_ns, ATOM_RELAXED) >= WATCH_FRESH_NS)
            return false;
    }
    return true;
}

/*
 * Returns the time to the next tick. `calm` counts the looks in a row that have found no need for
 * ticks. If the watch has to find stuck threads (handoff_ns), there is a tick each millisecond,
 * because on_stuck must be called in time.
 */
static tr_time tick_ns(const struct watch *watch, int calm)
{
    return calm < WATCH_CALM_LOOKS || watch->report.handoff_ns ? WATCH_TICK_NS : WATCH_CALM_NS;
}

static void watch_main(void *context)
{
    struct watch *watch = context;
    const tr_platform *platform = watch->platform;
    int patience = WATCH_PATIENCE;
    int calm = 0;
    tr_time now_ns = platform->mono_now(platform);
    watch->ticked_ns = now_ns;
    while (!atom32_load(&watch->is_over, ATOM_ACQUIRE)) {
        tr_time wait_ns = tick_ns(watch, calm);
        platform->park(platform, watch->parker, now_ns + wait_ns);
        now_ns = platform->mono_now(platform);
        calm = is_calm(watch, now_ns) ? calm + (calm < WATCH_CALM_LOOKS) : 0;
        watch->ticks++;
        watch->missed_ns = wait_ns - WATCH_TICK_NS;
        /*
         * Look at the loops before the next tick. A loop that shows no progress then has made none
         * since the last tick.
         */
        bool is_needed = tr__watch_look(watch, now_ns);
        bool is_busy = watch_tick(watch, now_ns - watch->ticked_ns);
        watch->ticked_ns = now_ns;
        if (is_busy || is_needed) {
            patience = WATCH_PATIENCE;
        } else if ((patience -= (int)(wait_ns / TR_MILLISECOND)) <= 0) {
            watch_doze(watch);
            patience = WATCH_PATIENCE;
            calm = 0;
            now_ns = platform->mono_now(platform);
            watch->ticked_ns = now_ns;
        }
    }
    /* If the last turn was reported, report that it has ended. */
    (void)tr__watch_look(watch, platform->mono_now(platform));
}

tr_status tr__watch_start(struct watch *watch, const tr_platform *platform, struct loop **loops,
                          size_t loop_count, const struct watch_report *report)
{
    *watch = (struct watch){
        .platform = platform, .loops = loops, .loop_count = loop_count, .report = *report};
    atom32_init(&watch->is_asleep, 0);
    atom32_init(&watch->is_over, 0);
    tr_status status = platform->parker_new(platform, &watch->parker);
    if (status != TR_OK)
        goto forget;
    status = platform->thread_start(platform, "troupe-watch", watch_main, watch, &watch->thread);
    if (status != TR_OK)
        goto free_parker;
    return TR_OK;

free_parker:
    platform->parker_free(platform, watch->parker);
forget:
    watch->platform = NULL;
    return status;
}

void tr__watch_stop(struct watch *watch)
{
    if (!watch->platform)
        return;
    const tr_platform *platform = watch->platform;
    atom32_store(&watch->is_over, 1, ATOM_SEQ_CST);
    platform->wake(platform, watch->parker);
    platform->thread_join(platform, watch->thread);
    platform->parker_free(platform, watch->parker);
    watch->platform = NULL;
}
