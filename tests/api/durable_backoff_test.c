/* SPDX-License-Identifier: Apache-2.0 */
/**
 * After a start that failed the next one of that key comes after a while, which grows; who asks meanwhile waits.
 */
#define THINGS_OPTIONS                                                                             \
    .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND, .retry_ns = TR_SECOND,                   \
    .retry_max_ns = 8 * TR_SECOND
#include "support/things.h"

enum { SEEDS = TEST_SEEDS(10) };

static int failures_left;
static int attempts;

static tr_next fail_to_wake(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    attempts++;
    if (failures_left <= 0)
        return TR_SAME;
    failures_left--;
    return tr_fail(self, TR_BAD_DATA, "as told");
}

/* Until the parent gives it up: its restarts are within the first moments. */
static void fail_for_good(const char *key)
{
    failures_left = 1000000;
    ck_assert_int_eq(things_try(key, thing_add, 1, NULL), TR_START_FAILED);
    tr_kit_settle(kit);
}

static tr_time wait_for(const char *key, tr_status expected)
{
    tr_time before = tr_kit_now(kit);
    ck_assert_int_eq(things_try(key, thing_add, 1, NULL), expected);
    return tr_kit_now(kit) - before;
}

TEST(the_next_request_waits_and_is_served_when_the_backoff_is_over, "SL-13", "PE-19", "Z-11")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_on_awake = fail_to_wake;
        things_begin(seed);
        fail_for_good("a");
        attempts = 0;
        failures_left = 0;
        act_ask asks[10];
        for (int i = 0; i < 10; i++)
            asks[i] = things_ask(things_of("a"), thing_add, 1);
        tr_kit_advance(kit, 900 * TR_MILLISECOND);
        ck_assert_int_eq(attempts, 0);
        tr_kit_advance(kit, 400 * TR_MILLISECOND); /* a second, and up to a quarter more */
        ck_assert_int_eq(attempts, 1);
        for (int i = 0; i < 10; i++) {
            const struct acted *acted;
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
            ck_assert_int_eq(acted->value, i + 1);
        }
        things_end();
    }
}

TEST(other_keys_do_not_wait, "PE-21")
{
    things_on_awake = fail_to_wake;
    things_begin(1);
    fail_for_good("a");
    failures_left = 0;
    ck_assert_int_lt(wait_for("b", TR_OK), 10 * TR_MILLISECOND);
    things_end();
}

TEST(backoffs_grow_up_to_a_bound_and_a_start_that_succeeds_ends_them, "PE-19")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_on_awake = fail_to_wake;
        things_begin(seed);
        fail_for_good("a");
        tr_time least = TR_SECOND;
        for (int i = 0; i < 6; i++) {
            tr_time waited = wait_for("a", TR_START_FAILED);
            ck_assert_int_ge(waited, least);
            /* And what the restarts of its parent take. */
            ck_assert_int_le(waited, least + least / 4 + TR_SECOND);
            least = least < 8 * TR_SECOND ? 2 * least : least;
        }
        failures_left = 0;
        ck_assert_int_ge(wait_for("a", TR_OK), 8 * TR_SECOND);
        ck_assert_int_lt(wait_for("a", TR_OK), 10 * TR_MILLISECOND);
        (void)!tr_kill(test, things_of("a"));
        tr_kit_settle(kit);
        fail_for_good("a");
        failures_left = 0;
        ck_assert_int_le(wait_for("a", TR_OK), 1250 * TR_MILLISECOND + TR_MILLISECOND);
        things_end();
    }
}

TEST(failures_are_forgotten_when_nobody_asks, "PE-19")
{
    things_on_awake = fail_to_wake;
    things_begin(1);
    for (int i = 0; i < 4; i++)
        fail_for_good("a");
    tr_kit_advance(kit, TR_MINUTE);
    failures_left = 0;
    ck_assert_int_lt(wait_for("a", TR_OK), 10 * TR_MILLISECOND);
    things_end();
}

TEST(a_sleep_a_kill_and_a_destroy_are_no_failures, "Z-02")
{
    things_on_awake = NULL;
    things_begin(1);
    ck_assert_int_eq(things_do("a", thing_add, 1), 1);
    ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_lt(wait_for("a", TR_OK), 10 * TR_MILLISECOND);
    (void)!tr_kill(test, things_of("a"));
    tr_kit_settle(kit);
    ck_assert_int_lt(wait_for("a", TR_OK), 10 * TR_MILLISECOND);
    ck_assert_int_eq(things_do("a", thing_destroy, 0), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_lt(wait_for("a", TR_OK), 10 * TR_MILLISECOND);
    things_end();
}

TEST(who_waits_hears_of_a_system_that_stops, "Z-06")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_on_awake = fail_to_wake;
        things_begin_with((tr_kit_options){.seed = seed, .workers = 1 + (int)(seed % 3)});
        static const char *const keys[] = {"a", "b", "c", "d", "e"};
        act_ask asks[5];
        for (int i = 0; i < 5; i++)
            fail_for_good(keys[i]);
        for (int i = 0; i < 5; i++)
            asks[i] = things_ask(things_of(keys[i]), thing_add, 1);
        for (uint64_t i = 0; i < seed; i++)
            tr_kit_step(kit);
        tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
        for (int i = 0; i < 5; i++) {
            const struct acted *acted;
            tr_status status = tr_try_await(test, asks[i], &acted);
            ck_assert_msg(status == TR_STOPPED || status == TR_STOPPING ||
                              status == TR_START_FAILED,
                          "%s",
                          tr_status_name(status));
        }
        tr_kit_settle(kit);
        /* Each of them had its message, and was buried with it. */
        tr_counters counters;
        tr_system_counters(tr_kit_system(kit), &counters);
        ck_assert_uint_eq(counters.queued, 0);
        ck_assert_uint_eq(counters.live, 0);
        tr_kit_check(kit);
        things_end();
    }
}

TEST(one_that_is_killed_while_it_waits_is_gone_and_the_next_is_served, "Z-02")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_on_awake = fail_to_wake;
        things_begin(seed);
        fail_for_good("a");
        failures_left = 0;
        act_ask ask = things_ask(things_of("a"), thing_add, 1);
        (void)!tr_kill(test, things_of("a"));
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_STOPPED);
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_add, 1), 1);
        things_end();
    }
}

SUITE("durable backoff", the_next_request_waits_and_is_served_when_the_backoff_is_over,
      other_keys_do_not_wait, backoffs_grow_up_to_a_bound_and_a_start_that_succeeds_ends_them,
      failures_are_forgotten_when_nobody_asks, a_sleep_a_kill_and_a_destroy_are_no_failures,
      who_waits_hears_of_a_system_that_stops,
      one_that_is_killed_while_it_waits_is_gone_and_the_next_is_served)
