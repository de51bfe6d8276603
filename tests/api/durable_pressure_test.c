/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A limit of the memory of durable actors that are awake: those that have been idle for longest sleep first.
 */
#include <stdlib.h>

#include "support/things.h"

enum { KEYS = 40, LARGE = 100 * 1000 };

static tr_next grow(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)tr_alloc(self, (size_t)n);
    state->value++;
    return tr_reply(self, acted, .value = state->value);
}

static void key_make(char key[16], int i)
{
    snprintf(key, 16, "k%d", i);
}

static bool is_awake(int i)
{
    char path[64];
    snprintf(path, sizeof path, "/system/durable/thing/k%d", i);
    return tr_find(test, thing, path).bits != 0;
}

static int count_awake(void)
{
    int awake = 0;
    for (int i = 0; i < KEYS; i++)
        awake += is_awake(i);
    return awake;
}

static void fill(int64_t bytes)
{
    char key[16];
    for (int i = 0; i < KEYS; i++) {
        key_make(key, i);
        things_do(key, grow, bytes);
        tr_kit_settle(kit);
    }
}

TEST(those_idle_for_longest_sleep_when_there_is_too_much_memory, "Z-04")
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        things_begin_with(
            (tr_kit_options){.seed = seed, .workers = 1, .awake_bytes_max = 10 * LARGE});
        fill(LARGE);
        int awake = count_awake();
        ck_assert_int_le(awake, 10);
        ck_assert_int_ge(awake, 2);
        ck_assert(is_awake(KEYS - 1));
        ck_assert(!is_awake(0));
        /* They are served all the same, with what they had. */
        char key[16];
        for (int i = 0; i < KEYS; i++) {
            key_make(key, i);
            ck_assert_int_eq(things_do(key, grow, 1), 2);
        }
        things_end();
    }
}

TEST(small_ones_are_within_the_same_limit, "Z-04")
{
    things_begin_with((tr_kit_options){.seed = 1, .workers = 2, .awake_bytes_max = 10 * LARGE});
    fill(1);
    ck_assert_int_eq(count_awake(), KEYS);
    things_end();
}

TEST(one_that_is_larger_than_the_limit_stays_while_it_is_alone, "Z-04")
{
    things_begin_with((tr_kit_options){.seed = 1, .workers = 1, .awake_bytes_max = LARGE});
    thing_ref ref = things_of("k0");
    ck_assert_int_eq(things_do("k0", grow, 2 * LARGE), 1);
    tr_kit_settle(kit);
    ck_assert_int_eq(things_do("k0", grow, 2 * LARGE), 2);
    ck_assert_uint_eq(things_of("k0").bits, ref.bits);
    /* Who is there last stays: the other one has been idle for longer. */
    ck_assert_int_eq(things_do("k1", grow, 2 * LARGE), 1);
    tr_kit_settle(kit);
    ck_assert(!is_awake(0));
    things_end();
}

TEST(memory_that_was_given_back_counts_no_more, "Z-04")
{
    things_begin_with((tr_kit_options){.seed = 1, .workers = 1, .awake_bytes_max = 10 * LARGE});
    for (int round = 0; round < 5; round++) {
        fill(LARGE);
        tr_kit_advance(kit, TR_MINUTE); /* all sleep */
        ck_assert_int_eq(count_awake(), 0);
    }
    fill(1);
    ck_assert_int_eq(count_awake(), KEYS);
    things_end();
}

/* ---- Many more keys at once than may be awake. ---- */

enum { BURST = 300, FEW = 3 };

static int awake_now;
static int awake_most;
static int began[2 * BURST]; /* numbers of keys, in the order in which they woke */
static int began_count;

static tr_next count_up(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    if (began_count < 2 * BURST)
        began[began_count++] = atoi((const char *)tr_key(self).data + 1);
    awake_now++;
    awake_most = awake_now > awake_most ? awake_now : awake_most;
    return TR_SAME;
}

static tr_next count_down(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    (void)state;
    (void)n;
    awake_now--;
    return TR_SAME;
}

static uint64_t count_starts(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.spawned;
}

static void burst_begin(tr_kit_options options)
{
    awake_now = 0;
    awake_most = 0;
    began_count = 0;
    things_on_awake = count_up;
    things_on_sleeping = count_down;
    things_begin_with(options);
}

static void burst_ask(act_ask asks[BURST], thing_call *call, int64_t n)
{
    char key[16];
    for (int i = 0; i < BURST; i++) {
        key_make(key, i);
        asks[i] = things_ask(things_of(key), call, n);
    }
}

static void burst_await(act_ask asks[BURST], int64_t value)
{
    for (int i = 0; i < BURST; i++) {
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
        ck_assert_int_eq(acted->value, value);
    }
}

/* docs/mends.md, 2: three of ten were answered, and there were 636,000 starts in five seconds. */
TEST(many_more_keys_at_once_than_may_be_awake_are_all_served, "Z-04")
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        act_ask asks[BURST];
        int workers = seed % 2 ? 1 : 2;
        burst_begin((tr_kit_options){.seed = seed, .workers = workers, .awake_max = FEW});
        uint64_t before = count_starts();
        for (int round = 1; round <= 3; round++) {
            tr_time begin_ns = tr_kit_now(kit);
            burst_ask(asks, grow, 1);
            burst_await(asks, round);
            /* Nobody waited for a time: one slept, and the next was there. */
            ck_assert_int_eq(tr_kit_now(kit), begin_ns);
            ck_assert_uint_le(count_starts() - before, (uint64_t)round * BURST);
        }
        ck_assert_int_le(awake_most, 2 * FEW + 16);
        things_end();
    }
}

TEST(many_more_keys_at_once_than_have_memory_are_all_served, "Z-04")
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        act_ask asks[BURST];
        int workers = seed % 2 ? 1 : 2;
        burst_begin((tr_kit_options){
            .seed = seed, .workers = workers, .awake_bytes_max = (uint64_t)FEW * LARGE});
        uint64_t before = count_starts();
        for (int round = 1; round <= 3; round++) {
            burst_ask(asks, grow, LARGE);
            burst_await(asks, round);
            ck_assert_uint_le(count_starts() - before, (uint64_t)round * BURST);
        }
        tr_kit_settle(kit);
        ck_assert_int_le(count_awake(), FEW + workers);
        things_end();
    }
}

static tr_next take_a_second(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->value++;
    ck_assert_int_eq(tr_sleep(self, TR_SECOND), TR_OK);
    return tr_reply(self, acted, .value = state->value);
}

TEST(those_that_work_stay_and_the_others_wait_in_order, "Z-04")
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        act_ask asks[BURST];
        burst_begin((tr_kit_options){.seed = seed, .workers = 1, .awake_max = FEW});
        uint64_t before = count_starts();
        burst_ask(asks, take_a_second, 0);
        tr_kit_settle(kit);
        ck_assert_int_eq(awake_now, FEW);
        /* One more in each TR_AWAKE_WAIT_NS, since nobody is idle. */
        tr_kit_advance(kit, 10 * TR_AWAKE_WAIT_NS + TR_MILLISECOND);
        ck_assert_int_eq(awake_now, FEW + 10);
        burst_await(asks, 1);
        ck_assert_uint_eq(count_starts() - before, BURST);
        ck_assert_int_lt(awake_most, BURST / 2);
        for (int i = 0; i < BURST; i++)
            ck_assert_int_eq(began[i], i);
        tr_kit_settle(kit);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_eq(awake_now, FEW);
        things_end();
    }
}

static tr_next ask_next(tr_self *self, struct thing_state *state, int64_t n)
{
    char key[16];
    state->value++;
    if (n == 0)
        return tr_reply(self, acted, .value = state->value);
    key_make(key, (int)n - 1);
    const struct acted *inner = tr_await(self,
                                         tr_ask(self,
                                                tr_durable(self, thing, key),
                                                act,
                                                .call = (uint64_t)(uintptr_t)ask_next,
                                                .n = n - 1));
    return tr_reply(self, acted, .value = inner->value);
}

TEST(those_that_wait_for_each_other_get_through_any_limit, "Z-04")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        burst_begin((tr_kit_options){.seed = seed, .workers = 1, .awake_max = FEW});
        ck_assert_int_eq(things_do("k20", ask_next, 20), 1);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_le(count_awake(), FEW);
        things_end();
    }
}

TEST(a_system_that_stops_while_keys_wait_to_wake_serves_them, "Z-04", "Z-06")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        act_ask asks[BURST];
        burst_begin((tr_kit_options){.seed = seed, .workers = seed % 2 ? 1 : 2, .awake_max = FEW});
        burst_ask(asks, take_a_second, 0);
        tr_kit_settle(kit);
        tr_system_shutdown(tr_kit_system(kit), TR_MINUTE);
        burst_await(asks, 1);
        things_end();
    }
}

TEST(a_key_that_is_killed_while_it_waits_to_wake_does_not_begin, "Z-04")
{
    const struct acted *acted;
    act_ask asks[BURST];
    burst_begin((tr_kit_options){.seed = 1, .workers = 1, .awake_max = FEW});
    burst_ask(asks, take_a_second, 0);
    tr_kit_settle(kit);
    thing_ref last = things_of("k299");
    tr_kill(test, last);
    ck_assert_int_eq(tr_try_await(test, asks[BURST - 1], &acted), TR_STOPPED);
    for (int i = 0; i < BURST - 1; i++)
        ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
    ck_assert_int_eq(things_do("k299", take_a_second, 0), 1);
    things_end();
}

SUITE("durable pressure", those_idle_for_longest_sleep_when_there_is_too_much_memory,
      small_ones_are_within_the_same_limit,
      one_that_is_larger_than_the_limit_stays_while_it_is_alone,
      memory_that_was_given_back_counts_no_more,
      many_more_keys_at_once_than_may_be_awake_are_all_served,
      many_more_keys_at_once_than_have_memory_are_all_served,
      those_that_work_stay_and_the_others_wait_in_order,
      those_that_wait_for_each_other_get_through_any_limit,
      a_system_that_stops_while_keys_wait_to_wake_serves_them,
      a_key_that_is_killed_while_it_waits_to_wake_does_not_begin)
