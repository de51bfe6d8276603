/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clock for deadlines: never before the time, exact where there is no counter to lean on.
 */
#include "os/clock.h"

#include "base/rng.h"
#include "os/cpu.h"
#include "os/virtual.h"
#include "support/test.h"

#include <stdio.h>

TEST(it_is_never_before_the_time_and_little_after_it, "TM-01")
{
    const tr_platform *real = tr_platform_real();
    uint64_t seed = real->random(real);
    printf("seed %llu\n", (unsigned long long)seed);
    struct rng rng;
    rng_init(&rng, seed);
    struct clock clock;
    tr__clock_init(&clock, real);
    tr_time last_ns = 0;
    for (int i = 0; i < 200000; i++) {
        /* From nothing at all to several windows, most often less than one. */
        uint64_t pause = rng_next(&rng) % (1u << rng_next(&rng) % 12);
        for (volatile uint64_t k = 0; k < pause; k = k + 1)
            continue;
        tr_time before_ns = real->mono_now(real);
        tr_time bound_ns = clock_bound(&clock);
        tr_time after_ns = real->mono_now(real);
        ck_assert_int_ge(bound_ns, before_ns);
        ck_assert_int_le(bound_ns, after_ns + CLOCK_SLACK_NS);
        ck_assert_int_ge(bound_ns, last_ns);
        last_ns = bound_ns;
    }
}

TEST(the_counter_is_not_slower_than_the_slack_says, "TM-01")
{
    const tr_platform *real = tr_platform_real();
    if (!tr__cpu_has_counter())
        return;
    /* The counter around the clock: what comes between them makes the counter look faster only. */
    uint64_t ticks = clock_ticks();
    tr_time begin_ns = real->mono_now(real);
    tr_time passed_ns = 0;
    while (passed_ns < TR_MILLISECOND)
        passed_ns = real->mono_now(real) - begin_ns;
    uint64_t passed = clock_ticks() - ticks;
    ck_assert_uint_ge(passed * CLOCK_SLACK_NS, (uint64_t)passed_ns * CLOCK_WINDOW);
}

static int readings;

static tr_time count_readings(const tr_platform *platform)
{
    (void)platform;
    return ++readings;
}

TEST(another_clock_than_the_kernel_s_is_read_each_time, "")
{
    tr_platform other = *tr_platform_real();
    other.mono_now = count_readings;
    struct clock clock;
    tr__clock_init(&clock, &other);
    for (int i = 1; i <= 1000; i++)
        ck_assert_int_eq(clock_bound(&clock), i);
    ck_assert_int_eq(readings, 1000);
}

TEST(without_a_counter_each_call_reads, "")
{
    const tr_platform *real = tr_platform_real();
    struct clock clock;
    tr__clock_init(&clock, real);
    clock.has_counter = false;
    for (int i = 0; i < 1000; i++) {
        tr_time before_ns = real->mono_now(real);
        tr_time bound_ns = clock_bound(&clock);
        ck_assert_int_ge(bound_ns, before_ns);
        ck_assert_int_le(bound_ns, real->mono_now(real));
    }
}

TEST(virtual_time_is_exact, "TM-01")
{
    struct virtual_platform *virtual = tr__virtual_new(1);
    struct clock clock;
    tr__clock_init(&clock, &virtual->table);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(clock_bound(&clock), virtual->table.mono_now(&virtual->table));
        ck_assert_int_eq(clock_bound(&clock), virtual->table.mono_now(&virtual->table));
        tr__virtual_advance(virtual, i % 3);
    }
    tr__virtual_free(virtual);
}

SUITE("os clock", it_is_never_before_the_time_and_little_after_it,
      the_counter_is_not_slower_than_the_slack_says,
      another_clock_than_the_kernel_s_is_read_each_time, without_a_counter_each_call_reads,
      virtual_time_is_exact)
