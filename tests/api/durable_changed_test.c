/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_state_changed: once for each turn that has changed the state, within that turn.
 */
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(tr_state_changed, things_changed)
#include <troupe/durable.h>
struct thing_state;
static tr_next things_changed(tr_self *self, struct thing_state *state);
#include <stdlib.h>

#include "support/things.h"

enum { SEEDS = TEST_SEEDS(10) };

static int told;
static int64_t last_value;
static thing_call *on_changed;

static tr_next things_changed(tr_self *self, struct thing_state *state)
{
    told++;
    last_value = state->value;
    return things_call(on_changed, self, state, 0);
}

static void begin(uint64_t seed)
{
    on_changed = NULL;
    things_begin(seed);
    ck_assert_int_eq(things_do("a", thing_add, 0), 0);
    tr_kit_settle(kit);
    told = 0; /* of tr_created and tr_awake */
}

static tr_next add_in_three_commits(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    (void)!tr_sleep(self, TR_SECOND);
    state->value += n;
    (void)!tr_sleep(self, TR_SECOND);
    state->value += n;
    return tr_reply(self, acted, .value = state->value);
}

static tr_next there_and_back(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    state->value -= n;
    return tr_reply(self, acted, .value = state->value);
}

TEST(it_comes_once_for_each_turn_that_has_changed_the_state, "Z-11")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 0), 0);
        ck_assert_int_eq(things_do("a", there_and_back, 5), 0);
        ck_assert_int_eq(told, 0);
        ck_assert_int_eq(things_do("a", thing_add, 2), 2);
        ck_assert_int_eq(told, 1);
        ck_assert_int_eq(last_value, 2);
        ck_assert_int_eq(things_do("a", add_in_three_commits, 10), 32);
        ck_assert_int_eq(told, 2);
        ck_assert_int_eq(last_value, 32);
        things_end();
    }
}

TEST(a_start_brings_it_too_and_a_wake_without_a_change_does_not, "Z-11")
{
    on_changed = NULL;
    told = 0;
    things_begin(1);
    ck_assert_int_eq(things_do("a", thing_add, 0), 0);
    ck_assert_int_eq(told, 1); /* creations and starts are counted in the state */
    ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(told, 2); /* and so are sleeps */
    ck_assert_int_eq(things_do("a", thing_add, 0), 0);
    ck_assert_int_eq(told, 3);
    ck_assert_int_eq(things_do("a", thing_destroy, 0), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(told, 3);
    things_end();
}

TEST(a_turn_that_fails_does_not_bring_it, "Z-11")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        on_changed = NULL;
        ck_assert_int_eq(things_try("a", thing_fail, seed % 2, NULL), TR_FAILED);
        ck_assert_int_eq(told, 0);
        ck_assert_int_eq(things_do("a", thing_add, 1), 1);
        ck_assert_int_eq(last_value, 1);
        things_end();
    }
}

/* ---- Commits. ---- */

/* Two actors that have changed at once share a commit, or need two; a turn that has changed nothing needs none. */
TEST(commits_are_counted, "K-01")
{
    ck_assert_uint_eq(tr_durable_commits(NULL), 0);
    begin(1);
    tr_system *system = tr_kit_system(kit);
    things_do("b", thing_add, 0);
    tr_kit_settle(kit);
    uint64_t before = tr_durable_commits(system);
    ck_assert_uint_ge(before, 2);
    ck_assert_int_eq(things_do("a", thing_add, 1), 1);
    ck_assert_uint_eq(tr_durable_commits(system), before + 1);
    ck_assert_int_eq(things_do("a", thing_add, 0), 1);
    ck_assert_uint_eq(tr_durable_commits(system), before + 1);
    act_ask first = things_ask(things_of("a"), thing_add, 1);
    act_ask second = things_ask(things_of("b"), thing_add, 1);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_try_await(test, first, NULL), TR_OK);
    ck_assert_int_eq(tr_try_await(test, second, NULL), TR_OK);
    ck_assert_uint_ge(tr_durable_commits(system), before + 2);
    ck_assert_uint_le(tr_durable_commits(system), before + 3);
    things_end();
}

/* ---- What it does is a part of the turn. ---- */

static tr_next count(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    char text[24];
    int length = snprintf(text, sizeof text, "%lld", (long long)state->value);
    tr_kv_put(self, (tr_bytes){"value", 5}, (tr_bytes){text, (size_t)length});
    state->other++;
    return TR_SAME;
}

static tr_next other_and_key(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    tr_bytes value;
    bool is_there = tr_kv_get(self, (tr_bytes){"value", 5}, &value);
    return tr_reply(self, acted, .value = state->other * 1000 + (is_there ? atoll(value.data) : 0));
}

TEST(what_it_changes_is_stored_with_the_turn_and_does_not_bring_it_again, "Z-11", "K-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        on_changed = count;
        ck_assert_int_eq(things_do("a", thing_add, 7), 7);
        ck_assert_int_eq(told, 1);
        ck_assert_int_eq(things_do("a", other_and_key, 0), 1007);
        ck_assert_int_eq(told, 1);
        (void)!tr_kill(test, things_of("a"));
        tr_kit_settle(kit);
        on_changed = NULL;
        ck_assert_int_eq(things_do("a", other_and_key, 0), 1007);
        things_end();
    }
}

static tr_next refuse(tr_self *self, struct thing_state *state, int64_t n)
{
    state->other++;
    (void)n;
    if (state->value % 2)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(if_it_fails_so_does_the_turn_and_nothing_is_stored, "Z-11", "K-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 1), 1);
        on_changed = refuse;
        ck_assert_int_eq(things_try("a", thing_add, (int64_t)seed, NULL), TR_FAILED);
        on_changed = NULL;
        ck_assert_int_eq(things_do("a", thing_add, 0), 1);
        things_end();
    }
}

static tr_next wait_a_little(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    (void)!tr_sleep(self, TR_SECOND);
    return TR_SAME;
}

TEST(it_may_wait_and_the_reply_waits_with_it, "Z-11")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        on_changed = wait_a_little;
        const struct acted *acted;
        act_ask first = things_ask(things_of("a"), thing_add, 1);
        act_ask second = things_ask(things_of("a"), thing_add, 1);
        ck_assert_int_eq(tr_try_await(test, first, &acted), TR_OK);
        ck_assert_int_eq(tr_try_await(test, second, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 2);
        tr_kit_settle(kit);
        ck_assert_int_eq(told, 2);
        things_end();
    }
}

SUITE("durable changed", it_comes_once_for_each_turn_that_has_changed_the_state,
      a_start_brings_it_too_and_a_wake_without_a_change_does_not,
      a_turn_that_fails_does_not_bring_it,
      what_it_changes_is_stored_with_the_turn_and_does_not_bring_it_again,
      if_it_fails_so_does_the_turn_and_nothing_is_stored, it_may_wait_and_the_reply_waits_with_it,
      commits_are_counted)
