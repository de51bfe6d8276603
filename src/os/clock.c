/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clocks of the kernel, read without a system call (vDSO) where the machine allows.
 */
#include "os/real.h"

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
