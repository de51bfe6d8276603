/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How durable actors wake on a kit: once, with what was stored last, before any mail; and what becomes of starts that
 * fail, of restarts, of limits for actors that are awake, and of a system that stops.
 */
#include <stdlib.h>

#include "support/things.h"

enum { SEEDS = TEST_SEEDS(10), CALLERS = 1000 };

/* ---- Waking. ---- */

static tr_next wake_slowly(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->other = 1;
    (void)!tr_sleep(self, TR_SECOND);
    state->other = 2;
    return TR_SAME;
}

static tr_next add_when_awake(tr_self *self, struct thing_state *state, int64_t n)
{
    ck_assert_int_eq(state->other, 2);
    state->value += n;
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_thousand_callers_wake_it_once_and_are_served_in_order, "SL-10", "Z-11", "PE-19")
{
    static act_ask asks[CALLERS];
    things_on_awake = wake_slowly;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 0), 0);
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        tr_kit_settle(kit);
        uint64_t bits = 0;
        for (int i = 0; i < CALLERS; i++) {
            thing_ref ref = things_of("a");
            ck_assert(!bits || bits == ref.bits);
            bits = ref.bits;
            asks[i] = things_ask(ref, add_when_awake, 1);
        }
        for (int i = 0; i < CALLERS; i++) {
            const struct acted *acted;
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
            ck_assert_int_eq(acted->value, i + 1);
        }
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        things_end();
    }
}

static tr_next generation(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    uint64_t epoch;
    uint64_t counter = tr_generation(self, &epoch);
    ck_assert_uint_ge(epoch, 1);
    return tr_reply(self, acted, .value = (int64_t)(epoch * 1000000 + counter));
}

TEST(each_start_is_a_later_generation, "Z-02")
{
    things_begin(1);
    int64_t last = 0;
    for (int i = 0; i < 5; i++) {
        int64_t this = things_do("a", generation, 0);
        ck_assert_int_gt(this, last);
        last = this;
        if (i % 2)
            ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        else
            ck_assert_int_eq(things_try("a", thing_fail, i == 2, NULL), TR_FAILED);
        tr_kit_settle(kit);
    }
    things_end();
}

/* Asked at each moment of falling asleep: by this generation or by the next, once. */
TEST(who_asks_while_it_falls_asleep_is_served_once, "SL-08", "Z-07", "SL-09")
{
    for (int moment = 0; moment < 60; moment++) {
        things_begin((uint64_t)moment % 7 + 1);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        const struct acted *acted;
        act_ask sleep = things_ask(things_of("a"), thing_go_to_sleep, 0);
        for (int i = 0; i < moment; i++)
            tr_kit_step(kit);
        act_ask first = things_ask(things_of("a"), thing_add, 1);
        act_ask second = things_ask(things_of("a"), thing_add, 1);
        ck_assert_int_eq(tr_try_await(test, first, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 6);
        ck_assert_int_eq(tr_try_await(test, second, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 7);
        ck_assert_int_eq(tr_try_await(test, sleep, &acted), TR_OK);
        ck_assert_int_eq(things_do("a", thing_add, 0), 7);
        ck_assert_int_le(things_do("a", thing_starts, 0), 2);
        things_end();
    }
}

/* ---- Starts that fail. ---- */

static int failures_left;

static tr_next fail_a_few_times(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->other += 100;
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    if (failures_left <= 0)
        return TR_SAME;
    if (failures_left-- % 2)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next creations(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(
        self, acted, .value = state->creations * 10000 + state->starts * 1000 + state->other);
}

TEST(a_start_that_fails_leaves_nothing_and_keeps_the_mail, "SL-13", "Z-11", "PE-19")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        failures_left = 2;
        things_on_created = seed % 2 ? fail_a_few_times : NULL;
        things_on_awake = seed % 2 ? NULL : fail_a_few_times;
        things_begin(seed);
        ck_assert_int_eq(things_do("a", creations, 0), 11100);
        things_end();
    }
}

TEST(a_start_that_always_fails_is_given_up_and_tried_again_by_the_next, "PE-19", "SL-13")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        failures_left = 1000;
        things_on_awake = fail_a_few_times;
        things_begin(seed);
        act_ask asks[10];
        for (int i = 0; i < 10; i++)
            asks[i] = things_ask(things_of("a"), thing_add, 1);
        for (int i = 0; i < 10; i++) {
            const struct acted *acted;
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_START_FAILED);
        }
        failures_left = 0;
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_add, 1), 1);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 1);
        things_end();
    }
}

TEST(one_that_fails_too_often_can_be_woken_again, "Z-02", "SL-09")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 7), 7);
        for (int i = 0; i < 20; i++) {
            tr_status status = things_try("a", thing_fail, i % 2, NULL);
            ck_assert_msg(
                status == TR_FAILED || status == TR_START_FAILED, "%s", tr_status_name(status));
            if (i % 3 == 0)
                tr_kit_settle(kit);
        }
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_add, 0), 7);
        things_end();
    }
}

TEST(a_restart_keeps_the_mail_and_the_ref, "Z-14", "SL-08")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask asks[30];
        const struct acted *acted;
        for (int i = 0; i < 30; i++)
            asks[i] = things_ask(ref, i == 10 || i == 20 ? thing_fail : thing_add, i == 10);
        int64_t sum = 0;
        for (int i = 0; i < 30; i++) {
            bool is_bad = i == 10 || i == 20;
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), is_bad ? TR_FAILED : TR_OK);
            ck_assert(is_bad || acted->value == sum);
        }
        ck_assert(things_is_awake(ref));
        things_end();
    }
}

/* ---- A crash while it ends. ---- */

static tr_next fail_later(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += 500;
    (void)!tr_sleep(self, n);
    state->value += 1000;
    return tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(a_turn_that_fails_in_a_grace_leaves_all_or_nothing, "SL-11", "Z-02", "Z-15")
{
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        bool destroys = seed % 2;
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        const struct acted *acted;
        act_aside_ask late = things_ask_aside(things_of("a"), fail_later, TR_SECOND);
        ck_assert_int_eq(things_do("a", destroys ? thing_destroy : thing_go_to_sleep, 0), TR_OK);
        ck_assert_int_eq(tr_try_await(test, late, &acted), TR_FAILED);
        tr_kit_advance(kit, 6 * TR_SECOND);
        /* Its first commit was stored; and so was the destroy, which was answered. */
        ck_assert_int_eq(things_do("a", thing_add, 0), destroys ? 0 : 505);
        things_end();
    }
}

static tr_next kill_me(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += 1000;
    tr_kill(self, tr_me(self));
    if (n)
        (void)!tr_sleep(self, TR_SECOND);
    return tr_reply(self, acted, .value = 0);
}

TEST(a_kill_ends_it_with_what_was_stored, "Z-02", "SL-11")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        int64_t stored = 5;
        tr_status status = things_try("a", kill_me, 0, NULL);
        /* Its own commit was done before the kill: stored if it was acknowledged. */
        tr_kit_settle(kit);
        int64_t value = things_do("a", thing_add, 0);
        if (status == TR_OK)
            stored = 1005;
        ck_assert(value == stored || value == 1005);
        things_end();
    }
}

/* Killed at each moment of a count and of falling asleep. */
TEST(a_kill_at_any_moment_leaves_what_was_acknowledged, "SL-11", "K-09")
{
    for (int moment = 0; moment < 80; moment++) {
        things_begin((uint64_t)moment % 5 + 1);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        thing_ref ref = things_of("a");
        act_ask add = things_ask(ref, thing_add, 1);
        act_ask sleep = things_ask(ref, thing_go_to_sleep, 0);
        for (int i = 0; i < moment; i++)
            tr_kit_step(kit);
        tr_kill(test, ref);
        const struct acted *acted;
        tr_status status = tr_try_await(test, add, &acted);
        (void)!tr_try_await(test, sleep, &acted);
        tr_kit_settle(kit);
        int64_t value = things_do("a", thing_add, 0);
        ck_assert_msg(
            value == 6 || (status != TR_OK && value == 5), "%d: %lld", moment, (long long)value);
        things_end();
    }
}

/* ---- Room, and the end. ---- */

static int count_awake(int keys)
{
    int awake = 0;
    for (int i = 0; i < keys; i++) {
        char path[64];
        snprintf(path, sizeof path, "/system/durable/thing/k%d", i);
        awake += tr_find(test, thing, path).bits != 0;
    }
    return awake;
}

TEST(the_actors_idle_for_longest_are_evicted, "")
{
    enum { KEYS = 60, ROOM = 10 };
    for (uint64_t seed = 1; seed <= 3; seed++) {
        things_begin_with((tr_kit_options){.seed = seed, .awake_max = ROOM});
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < KEYS; i++) {
                char key[16];
                snprintf(key, sizeof key, "k%d", i);
                ck_assert_int_eq(things_do(key, thing_add, 1), round + 1);
                tr_kit_settle(kit);
                ck_assert_int_le(count_awake(KEYS), ROOM + 2);
            }
        }
        ck_assert_int_ge(count_awake(KEYS), ROOM / 2);
        things_end();
    }
}

static char directory[64];

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-wake-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

TEST(a_system_that_stops_lets_all_sleep, "Z-06", "Z-09", "SL-09", "K-09")
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        directory_make();
        things_begin_with((tr_kit_options){.seed = seed, .store = directory});
        int64_t before = things_do("a", generation, 0);
        ck_assert_int_eq(things_do("a", thing_add, 3), 3);
        things_of("b");
        things_send(things_of("b"), thing_add, 4);
        things_end();
        things_begin_with((tr_kit_options){.seed = seed, .store = directory});
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1);
        ck_assert_int_eq(things_do("a", thing_add, 0), 3);
        ck_assert_int_eq(things_do("b", thing_add, 0), 4);
        ck_assert_int_gt(things_do("a", generation, 0), before);
        things_end();
        directory_drop();
    }
}

/* ---- Why. ---- */

static bool is_said(thing_ref ref, const char *words)
{
    tr_why_report report;
    ck_assert_int_eq(tr_actor_why(test, ref, &report), TR_OK);
    for (size_t i = 0; i < report.count; i++) {
        if (strstr(report.reasons[i].text, words))
            return true;
    }
    for (size_t i = 0; i < report.count; i++)
        fprintf(stderr, "%s: %s\n", tr_why_name(report.reasons[i].kind), report.reasons[i].text);
    return false;
}

static tr_next hold(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    TR_KEEP_AWAKE(self, "the receipt")
    {
        (void)!tr_sleep(self, n);
    }
    TR_WAIT_UNTIL(self, "the flush")
    {
        (void)!tr_sleep(self, n);
    }
    return tr_reply(self, acted, .value = 0);
}

TEST(why_names_who_keeps_it_awake, "Z-04", "Z-08")
{
    things_begin(1);
    thing_ref ref = things_of("a");
    act_ask ask = things_ask(ref, hold, 20 * TR_SECOND);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert(is_said(ref, "the receipt keeps it awake"));
    tr_kit_advance(kit, 32 * TR_SECOND);
    ck_assert(is_said(ref, "the flush keeps it from its end"));
    const struct acted *acted;
    (void)!tr_try_await(test, ask, &acted);
    things_end();
}

SUITE("durable wake", a_thousand_callers_wake_it_once_and_are_served_in_order,
      each_start_is_a_later_generation, who_asks_while_it_falls_asleep_is_served_once,
      a_start_that_fails_leaves_nothing_and_keeps_the_mail,
      a_start_that_always_fails_is_given_up_and_tried_again_by_the_next,
      one_that_fails_too_often_can_be_woken_again, a_restart_keeps_the_mail_and_the_ref,
      a_turn_that_fails_in_a_grace_leaves_all_or_nothing, a_kill_ends_it_with_what_was_stored,
      a_kill_at_any_moment_leaves_what_was_acknowledged, the_actors_idle_for_longest_are_evicted,
      a_system_that_stops_lets_all_sleep, why_names_who_keeps_it_awake)
