/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clocks of the kernel, read without a system call (vDSO) where the machine allows.
 */
#include "os/clock.h"

#include "os/cpu.h"

#include <time.h>

static tr_time clock_read(clockid_t clock)
{
    struct timespec time = {0};
    (void)clock_gettime(clock, &time); /* Fails only for a clock that does not exist. */
    return (tr_time)time.tv_sec * TR_SECOND + time.tv_nsec;
}

tr_time tr__real_mono_now(const tr_platform *platform)
{
    (void)platform;
    return clock_read(CLOCK_MONOTONIC);
}

tr_time tr__real_wall_now(const tr_platform *platform)
{
    (void)platform;
    return clock_read(CLOCK_REALTIME);
}

void tr__clock_init(struct clock *clock, const tr_platform *platform)
{
    bool is_real = platform->mono_now == tr__real_mono_now;
    *clock = (struct clock){.platform = platform, .has_counter = is_real && tr__cpu_has_counter()};
    clock->ticks = clock_ticks() - CLOCK_WINDOW; /* Forces the first call to read the clock. */
}

tr_time tr__clock_read(struct clock *clock)
{
    if (!clock->has_counter)
        return clock->platform->mono_now(clock->platform);
    /* Read the counter first, so that the time between the two reads counts as passed. */
    clock->ticks = clock_ticks();
    clock->bound_ns = clock->platform->mono_now(clock->platform) + CLOCK_SLACK_NS;
    return clock->bound_ns;
}
