/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The grace of a durable actor that has a handler for tr_sleeping: it serves while that runs, waits, or cannot begin.
 */
#include "support/things.h"

static tr_next note_story(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value++;
    things_tell("[%d %d]", (int)n, tr_is_aborted(self));
    return TR_SAME;
}

static tr_next sleep_slowly(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->value += 10;
    things_tell("[begin %d]", tr_is_aborted(self));
    tr_sleep(self, 2 * TR_SECOND);
    state->value += 10;
    things_tell("[end]");
    return TR_SAME;
}

static tr_next wait_until(tr_self *self, struct thing_state *state, int64_t n)
{
    TR_WAIT_UNTIL(self, "flush")
    {
        tr_sleep(self, n);
        state->value += 100;
    }
    return tr_reply(self, acted, .value = state->value);
}

static tr_next wait_as_barrier(tr_self *self, struct thing_state *state, int64_t n)
{
    things_tell("[turn]");
    ck_assert_int_eq(tr_go_to_sleep(self), TR_OK);
    tr_status status = tr_sleep(self, n);
    ck_assert(status == TR_OK || status == TR_CANCELLED);
    things_tell("[turn ends]");
    return tr_reply(self, acted, .value = state->value);
}

TEST(the_hook_waits_for_a_barrier_and_goes_before_what_waits_behind_it, "Z-06", "Z-07", "Z-14")
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const struct acted *acted;
        things_story[0] = 0;
        things_on_sleeping = sleep_slowly;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask turn = things_ask(ref, wait_as_barrier, TR_SECOND);
        tr_kit_settle(kit);
        ck_assert_int_eq(things_send(ref, note_story, 1), TR_OK);
        tr_kit_settle(kit);
        ck_assert_str_eq(things_story, "[turn]");
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_str_eq(things_story, "[turn][turn ends][begin 1][1 1]");
        ck_assert_int_eq(tr_try_await(test, turn, &acted), TR_OK);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert(!things_is_awake(ref));
        things_end();
    }
}

TEST(a_hook_that_a_barrier_lets_not_begin_is_skipped_and_named, "SL-05", "Z-08", "Z-14")
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const struct acted *acted;
        tr_why_report report;
        bool is_named = false;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask turn = things_ask(ref, wait_as_barrier, TR_HOUR);
        act_ask behind = things_ask(ref, thing_starts, 0);
        tr_kit_advance(kit, 4 * TR_SECOND);
        ck_assert_int_eq(tr_actor_why(test, ref, &report), TR_OK);
        for (size_t i = 0; i < report.count; i++)
            is_named |= strstr(report.reasons[i].text, "on_sleep, not started") != NULL;
        ck_assert(is_named);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(tr_try_await(test, turn, &acted), TR_STOPPED);
        ck_assert_int_eq(tr_try_await(test, behind, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 2); /* by its next life */
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 0);
        things_end();
    }
}

static tr_next note_and_reply(tr_self *self, struct thing_state *state, int64_t n)
{
    things_tell("[%d %d]", (int)n, tr_is_aborted(self));
    return tr_reply(self, acted, .value = state->sleeps);
}

/* docs/mends.md, 8: requests of the grace waited for the turn, and for the hook. */
TEST(a_grace_with_a_turn_and_a_hook_under_way_serves_at_once, "Z-03", "Z-07", "Z-14")
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        things_story[0] = 0;
        things_on_sleeping = sleep_slowly;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_aside_ask flush = things_ask_aside(ref, wait_until, 14 * TR_SECOND);
        /* 10 s idle: the hook has begun, the flush takes 4 s more. */
        tr_kit_advance(kit, 10 * TR_SECOND + TR_MILLISECOND);
        tr_time now_ns = tr_kit_now(kit);
        ck_assert_int_eq(things_do("a", note_and_reply, 1), 1);
        ck_assert_int_eq(tr_kit_now(kit), now_ns);
        ck_assert_str_eq(things_story, "[begin 1][1 1]");
        tr_kit_advance(kit, 3 * TR_SECOND);
        now_ns = tr_kit_now(kit);
        ck_assert_int_eq(things_do("a", note_and_reply, 2), 1);
        ck_assert_int_eq(tr_kit_now(kit), now_ns);
        ck_assert_str_eq(things_story, "[begin 1][1 1][end][2 1]");
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, flush, &acted), TR_OK);
        tr_kit_settle(kit);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), 120);
        things_end();
    }
}

static tr_next destroy_slowly(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    things_tell("[begin]");
    (void)!tr_sleep(self, 2 * TR_SECOND);
    things_tell("[end]");
    return TR_SAME;
}

TEST(nothing_is_served_while_the_hook_of_a_destroy_waits, "Z-07", "Z-14")
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const struct acted *acted;
        things_story[0] = 0;
        things_on_destroying = destroy_slowly;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask destroy = things_ask(ref, thing_destroy, 0);
        act_ask behind = things_ask(ref, note_and_reply, 1);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_str_eq(things_story, "[begin]");
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_str_eq(things_story, "[begin][end]");
        ck_assert_int_eq(tr_try_await(test, destroy, &acted), TR_OK);
        ck_assert_int_eq(tr_try_await(test, behind, &acted), TR_DESTROYING);
        things_end();
    }
}

SUITE("durable grace", the_hook_waits_for_a_barrier_and_goes_before_what_waits_behind_it,
      a_hook_that_a_barrier_lets_not_begin_is_skipped_and_named,
      a_grace_with_a_turn_and_a_hook_under_way_serves_at_once,
      nothing_is_served_while_the_hook_of_a_destroy_waits)
