/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ALONE=1: a workload without threads and without real time, so that it executes the same instructions
 * each time. tools/bench-guard counts them.
 *
 * The platform is the real one but for the clock, which moves by a microsecond whenever somebody looks,
 * and for sleep: while the client waits on the main thread, the worker's turns run on it, and when there
 * is nothing to do the clock advances to a moment after the next timer.
 */
#include "bench.h"

#define LOOK_NS TR_MICROSECOND
#define LATE_NS (5 * TR_MILLISECOND) /* so that several timers are due at once */

static tr_platform platform;
static tr_time clock_ns;
static tr_system *system_;
static bool is_inside; /* of tr_system_run_once */
static bool is_woken;  /* the client was, or the worker has more to do */

static tr_time look_at_clock(const tr_platform *unused)
{
    (void)unused;
    return clock_ns += LOOK_NS;
}

static uint64_t not_random(const tr_platform *unused)
{
    (void)unused;
    return 1;
}

static tr_status run_once(void)
{
    is_inside = true;
    tr_status status = tr_system_run_once(system_, 0);
    is_inside = false;
    return status;
}

static void wake(const tr_platform *unused, tr_parker *parker)
{
    (void)unused;
    (void)parker;
    is_woken = true;
}

/* The worker's own sleep is over at once: it is never for long. */
static void run_instead(const tr_platform *unused, tr_parker *parker, tr_time deadline_ns)
{
    (void)unused;
    (void)parker;
    if (is_inside)
        return;
    is_woken = false;
    bench_must(run_once(), "tr_system_run_once");
    if (is_woken)
        return;
    tr_time timeout_ns = tr_system_timeout(system_);
    tr_time left_ns = deadline_ns - clock_ns;
    clock_ns += timeout_ns < left_ns - LATE_NS ? timeout_ns + LATE_NS : left_ns;
}

const tr_platform *bench_alone_platform(void)
{
    platform = *tr_platform_real();
    platform.mono_now = look_at_clock;
    platform.wall_now = look_at_clock;
    platform.random = not_random;
    platform.park = run_instead;
    platform.wake = wake;
    return &platform;
}

void bench_alone_begin(tr_system *system)
{
    system_ = system;
}

void bench_alone_end(void)
{
    tr_status status;
    while ((status = run_once()) == TR_OK)
        ;
    if (status != TR_STOPPED)
        bench_must(status, "tr_system_run_once");
}
