/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A cheap clock for deadlines: the time that it returns is never before now, and at most a few
 * microseconds after now. So a deadline that is computed from this time is never early.
 *
 * The clock keeps the last reading of the platform's clock and returns that reading plus a slack.
 * When the processor's counter says that the slack may have passed, it reads the platform's clock
 * again. This is done only with the real platform, and only if the kernel itself takes the time
 * from the processor's counter. Such a kernel checks that the counter is steady and equal on all
 * processors. Otherwise each call reads the platform's clock, and the result is exact. One thread
 * at a time.
 */
#ifndef OS_CLOCK_H
#define OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/platform.h>

enum {
    CLOCK_WINDOW = 4096,   /* For how many ticks of the counter a reading is used. */
    CLOCK_SLACK_NS = 8192, /* What CLOCK_WINDOW ticks take at 500 MHz; no counter is slower. */
    CLOCK_ROUGH = 16,      /* clock_bound_roughly multiplies both values above by this. */
};

struct clock {
    const tr_platform *platform;
    tr_time bound_ns; /* The last reading of the platform's clock, plus the slack. */
    uint64_t ticks;   /* The processor's counter, read just before the clock. */
    bool has_counter;
};

/* Clocks of the real platform: see tr_platform (troupe/platform.h). `platform` is ignored. Any thread. */
tr_time tr__real_mono_now(const tr_platform *platform);
tr_time tr__real_wall_now(const tr_platform *platform);

/** Starts a clock over a platform, which is lent. */
void tr__clock_init(struct clock *clock, const tr_platform *platform);

/**
 * The slow path of clock_bound: reads the platform's clock, and returns what clock_bound returns.
 */
tr_time tr__clock_read(struct clock *clock);

/** Returns the processor's counter; 0 if there is none. */
static inline uint64_t clock_ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/**
 * As clock_bound, but the result is at most CLOCK_ROUGH * CLOCK_SLACK_NS after now. Cheaper for frequent callers, because
 * the clock is read less often.
 */
static inline tr_time clock_bound_roughly(struct clock *clock)
{
    if (clock->has_counter && clock_ticks() - clock->ticks < CLOCK_ROUGH * CLOCK_WINDOW)
        return clock->bound_ns + (CLOCK_ROUGH - 1) * CLOCK_SLACK_NS;
    tr_time bound_ns = tr__clock_read(clock);
    return clock->has_counter ? bound_ns + (CLOCK_ROUGH - 1) * CLOCK_SLACK_NS : bound_ns;
}

/**
 * Returns a time that is not before now and at most CLOCK_SLACK_NS after it. The result never
 * decreases.
 */
static inline tr_time clock_bound(struct clock *clock)
{
    if (clock->has_counter && clock_ticks() - clock->ticks < CLOCK_WINDOW)
        return clock->bound_ns;
    return tr__clock_read(clock);
}

#endif
