/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A clock for deadlines: cheap, never before the time, and a few microseconds after it at most.
 *
 * It gives the platform's last reading, raised by what may have passed since, as long as the
 * processor's counter says that this is little; and then reads anew. So a deadline that is counted
 * from it is never early. Only of the real platform, and only where the kernel itself takes the time
 * from that counter, which is then known to be steady and the same on all processors; everywhere else
 * each call reads the platform's clock, and what it gives is exact. One thread at a time.
 */
#ifndef OS_CLOCK_H
#define OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/platform.h>

enum {
    CLOCK_WINDOW = 4096,   /* Ticks of the counter for which a reading serves. */
    CLOCK_SLACK_NS = 8192, /* And what they take at 500 MHz; no counter is as slow as that. */
    CLOCK_ROUGH = 16,      /* Times both, for those who do not mind. */
};

struct clock {
    const tr_platform *platform;
    tr_time bound_ns; /* The last reading, with the slack. */
    uint64_t ticks;   /* Of the counter, before that reading. */
    bool has_counter;
};

/* Clocks of the real platform: see tr_platform (troupe/platform.h). `platform` is ignored. Any thread. */
tr_time tr__real_mono_now(const tr_platform *platform);
tr_time tr__real_wall_now(const tr_platform *platform);

/** The platform is lent. */
void tr__clock_init(struct clock *clock, const tr_platform *platform);

/** Reads the platform's clock: as clock_bound, for which it is. */
tr_time tr__clock_read(struct clock *clock);

/** The processor's counter; 0 where there is none. */
static inline uint64_t clock_ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/** As clock_bound, and at most CLOCK_ROUGH times as far after now: cheaper for who calls it often. */
static inline tr_time clock_bound_roughly(struct clock *clock)
{
    if (clock->has_counter && clock_ticks() - clock->ticks < CLOCK_ROUGH * CLOCK_WINDOW)
        return clock->bound_ns + (CLOCK_ROUGH - 1) * CLOCK_SLACK_NS;
    tr_time bound_ns = tr__clock_read(clock);
    return clock->has_counter ? bound_ns + (CLOCK_ROUGH - 1) * CLOCK_SLACK_NS : bound_ns;
}

/** A time that is not before now and at most CLOCK_SLACK_NS after it. It never goes back. */
static inline tr_time clock_bound(struct clock *clock)
{
    if (clock->has_counter && clock_ticks() - clock->ticks < CLOCK_WINDOW)
        return clock->bound_ns;
    return tr__clock_read(clock);
}

#endif
