/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How durable actors fall asleep on a kit: what keeps them awake, their grace, their last words.
 */
#include "support/things.h"

static const uint64_t seeds[] = {1, 2, 3, 4, 5, 6, 7, 8};
#define EACH_SEED(seed)                                                                            \
    for (size_t seed##_i = 0; seed##_i < sizeof seeds / sizeof seeds[0]; seed##_i++)               \
        for (uint64_t seed = seeds[seed##_i], once = 1; once; once = 0)

/* ---- Idle. ---- */

TEST(an_idle_one_sleeps_after_its_time_and_no_sooner, "SL-01", "Z-04", "SL-09")
{
    EACH_SEED(seed)
    {
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        thing_ref first = things_of("a");
        tr_kit_advance(kit, 9 * TR_SECOND);
        ck_assert(things_is_awake(first));
        ck_assert_int_eq(things_do("a", thing_add, 1), 6); /* the full time begins anew */
        tr_kit_advance(kit, 9 * TR_SECOND);
        ck_assert(things_is_awake(first));
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(first));
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1);
        ck_assert_int_eq(things_do("a", thing_add, 0), 6);
        things_end();
    }
}

static tr_next wait_for(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value++;
    tr_sleep(self, n);
    state->value++;
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_turn_that_waits_keeps_it_awake, "SL-01", "SL-02")
{
    EACH_SEED(seed)
    {
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask ask = things_ask(ref, wait_for, TR_MINUTE);
        tr_kit_advance(kit, 59 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 2);
        tr_kit_advance(kit, 9 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        things_end();
    }
}

static tr_next keep_awake(tr_self *self, struct thing_state *state, int64_t n)
{
    state->other++;
    TR_KEEP_AWAKE(self, "receipt")
    {
        tr_sleep(self, 20 * TR_SECOND);
        if (n == 1)
            return tr_fail(self, TR_BAD_DATA, "as told");
        if (n == 2)
            tr_crash(self, TR_BAD_DATA, "as told");
    }
    return tr_reply(self, acted, .value = 0);
}

TEST(a_keep_awake_ends_however_its_block_ends, "SL-02", "Z-03", "Z-13")
{
    for (int64_t how = 0; how < 3; how++) {
        things_begin((uint64_t)how + 1);
        thing_ref ref = things_of("a");
        act_ask ask = things_ask(ref, keep_awake, how);
        tr_kit_advance(kit, 19 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, ask, &acted), how ? TR_FAILED : TR_OK);
        tr_kit_advance(kit, 9 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        things_end();
    }
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

TEST(a_wait_until_lets_it_begin_to_sleep_but_not_end, "SL-03", "Z-03", "Z-05")
{
    EACH_SEED(seed)
    {
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_aside_ask ask = things_ask_aside(ref, wait_until, 13 * TR_SECOND);
        tr_kit_advance(kit, 9 * TR_SECOND);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 0);
        tr_kit_advance(kit, TR_SECOND);
        /* That question has begun the idle time anew; with 13 s it does not sleep before the block ends. */
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        tr_kit_advance(kit, TR_MINUTE);
        ref = things_of("a");
        ask = things_ask_aside(ref, wait_until, 13 * TR_SECOND);
        tr_kit_advance(kit, 11 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        tr_time now_ns = tr_kit_now(kit);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 2); /* it is in its grace, and serves */
        ck_assert_int_eq(tr_kit_now(kit), now_ns);            /* at once */
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 200);
        tr_kit_settle(kit);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), 200);
        things_end();
    }
}

/* ---- Grace. ---- */

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

TEST(the_hook_goes_before_waiting_mail_and_grace_serves, "SL-04", "SL-08", "Z-06", "Z-07", "Z-14")
{
    EACH_SEED(seed)
    {
        things_story[0] = 0;
        things_on_sleeping = sleep_slowly;
        things_begin(seed);
        thing_ref ref = things_of("a");
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(things_send(ref, note_story, i), TR_OK);
        /* The clock stands still: they are handled while the hook waits, and by this generation. */
        tr_kit_settle(kit);
        ck_assert_str_eq(things_story, "[begin 1][0 1][1 1][2 1]");
        ck_assert_int_eq(things_do("a", thing_starts, 0), 1);
        ck_assert_str_eq(things_story, "[begin 1][0 1][1 1][2 1]");
        tr_kit_advance(kit, 3 * TR_SECOND);
        ck_assert_str_eq(things_story, "[begin 1][0 1][1 1][2 1][end]");
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), 23);
        things_end();
    }
}

static tr_next write_and_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->value += 1000;
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next write_and_crash(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->value += 1000;
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    tr_crash(self, TR_BAD_DATA, "as told");
}

static tr_next has_kv(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    tr_bytes value;
    return tr_reply(self, acted, .value = tr_kv_get(self, (tr_bytes){"k", 1}, &value));
}

TEST(a_hook_that_fails_does_not_keep_it_from_sleep_and_leaves_nothing, "SL-16", "Z-14", "K-01")
{
    EACH_SEED(seed)
    {
        things_on_sleeping = seed % 2 ? write_and_fail : write_and_crash;
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        thing_ref ref = things_of("a");
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), 5);
        ck_assert_int_eq(things_do("a", has_kv, 0), 0);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 0);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        things_end();
    }
}

static tr_next write_and_wait_for_ever(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->value += 10;
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    ck_assert_int_eq(tr_sleep(self, 10 * TR_HOUR), TR_CANCELLED);
    state->value += 100; /* too late */
    return TR_SAME;
}

TEST(a_hook_that_never_ends_is_ended_by_the_deadline, "SL-05", "Z-08", "Z-09", "SL-12")
{
    EACH_SEED(seed)
    {
        things_on_sleeping = write_and_wait_for_ever;
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        thing_ref ref = things_of("a");
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        tr_kit_advance(kit, 4 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), 15); /* its first commit was stored */
        ck_assert_int_eq(things_do("a", has_kv, 0), 1);
        things_end();
    }
}

TEST(a_turn_that_never_ends_is_cancelled_with_its_commits_kept, "SL-05", "Z-08", "SL-12")
{
    EACH_SEED(seed)
    {
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_aside_ask ask = things_ask_aside(ref, wait_for, 10 * TR_HOUR);
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        tr_kit_advance(kit, 4 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        tr_why_report report;
        ck_assert_int_eq(tr_actor_why(test, ref, &report), TR_OK);
        bool is_named = false;
        for (size_t i = 0; i < report.count; i++)
            is_named |= report.reasons[i].kind == TR_WHY_AWAKE &&
                        strstr(report.reasons[i].text, "act_aside") != NULL;
        ck_assert(is_named);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_STOPPED);
        ck_assert_int_eq(things_do("a", thing_add, 0), 1);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1); /* it is no barrier for the hook */
        things_end();
    }
}

static tr_next tell_itself(tr_self *self, struct thing_state *state, int64_t n)
{
    if (n % 2)
        state->value++;
    tr_tell(self, tr_me(self), nudge, .call = (uint64_t)(uintptr_t)thing_add, .n = 10);
    (void)!tr_go_to_sleep(self);
    return tr_reply(self, acted, .value = 0);
}

TEST(what_it_has_told_itself_is_not_lost_by_its_sleep, "SL-08", "K-01")
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        things_begin(seed);
        things_do("a", thing_add, 0);
        thing_ref ref = things_of("a");
        const struct acted *acted;
        act_ask before = things_ask(ref, thing_add, 100); /* on its way to the disk */
        ck_assert_int_eq(tr_try_await(test, things_ask(ref, tell_itself, (int64_t)seed), &acted),
                         TR_OK);
        ck_assert_int_eq(tr_try_await(test, before, &acted), TR_OK);
        tr_kit_settle(kit);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), 110 + (int64_t)seed % 2);
        tr_kit_advance(kit, 11 * TR_SECOND); /* the next one sleeps too */
        ck_assert_int_eq(things_do("a", thing_starts, 0), 3);
        things_end();
    }
}

static tr_next destroy_and_wait(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    (void)!tr_sleep(self, TR_SECOND);
    ck_assert_int_eq(tr_destroy(self), TR_OK);
    ck_assert_int_eq(tr_sleep(self, 10 * TR_HOUR), TR_CANCELLED);
    return TR_SAME;
}

TEST(who_waits_behind_a_turn_when_it_is_destroyed_hears_so, "Z-07", "SL-05")
{
    EACH_SEED(seed)
    {
        const struct acted *acted;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask slow = things_ask(ref, destroy_and_wait, 0);
        act_ask behind = things_ask(ref, thing_add, 1);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(tr_try_await(test, slow, &acted), TR_STOPPED);
        ck_assert_int_eq(tr_try_await(test, behind, &acted), TR_DESTROYING);
        things_end();
    }
}

/* ---- Asking for it. ---- */

static tr_next ask_early(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->other = 1;
    ck_assert_int_eq(tr_go_to_sleep(self), TR_STARTING);
    ck_assert_int_eq(tr_destroy(self), TR_STARTING);
    return TR_SAME;
}

static tr_next ask_twice(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    ck_assert_int_eq(tr_go_to_sleep(self), TR_OK);
    ck_assert_int_eq(tr_go_to_sleep(self), TR_OK);
    return tr_reply(self, acted, .value = 1);
}

static tr_next ask_late(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->other++;
    ck_assert_int_eq(tr_go_to_sleep(self), TR_STOPPING);
    return TR_SAME;
}

TEST(sleep_is_asked_for_once, "SL-06", "SL-07", "Z-10")
{
    things_on_awake = ask_early;
    things_on_sleeping = ask_late;
    EACH_SEED(seed)
    {
        things_begin(seed);
        thing_ref ref = things_of("a");
        ck_assert_int_eq(things_do("a", ask_twice, 0), 1);
        tr_kit_settle(kit);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1);
        things_end();
    }
}

static tr_next destroy_twice(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    ck_assert_int_eq(tr_destroy(self), TR_OK);
    ck_assert_int_eq(tr_destroy(self), TR_STOPPING);
    return tr_reply(self, acted, .value = 1);
}

static tr_next count_destroying(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    things_tell("[destroying]");
    ck_assert_int_eq(tr_destroy(self), TR_STOPPING);
    ck_assert_int_eq(tr_go_to_sleep(self), TR_STOPPING);
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    tr_sleep(self, TR_SECOND);
    return TR_SAME;
}

TEST(a_destroyed_one_refuses_and_can_be_made_anew, "SL-06", "SL-17", "Z-07", "Z-10")
{
    things_on_destroying = count_destroying;
    EACH_SEED(seed)
    {
        things_story[0] = 0;
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        thing_ref ref = things_of("a");
        ck_assert_int_eq(things_do("a", destroy_twice, 0), 1);
        tr_kit_settle(kit);
        thing_ref other;
        ck_assert_int_eq(tr_try_durable(test, &other, thing, "a"), TR_DESTROYING);
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, things_ask(ref, thing_add, 1), &acted), TR_DESTROYING);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_str_eq(things_story, "[destroying]");
        ck_assert_int_eq(things_do("a", thing_add, 1), 1);
        ck_assert_int_eq(things_do("a", has_kv, 0), 0);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 1);
        things_end();
    }
}

static tr_next destroy_in_grace(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->value = 77;
    ck_assert_int_eq(tr_destroy(self), TR_OK);
    return TR_SAME;
}

TEST(a_destroy_in_grace_upgrades, "SL-07", "Z-02", "Z-07")
{
    things_on_sleeping = destroy_in_grace;
    EACH_SEED(seed)
    {
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(things_do("a", thing_add, 1), 1);
        things_end();
    }
}

TEST(stop_lets_it_sleep_and_kill_does_not, "Z-02")
{
    EACH_SEED(seed)
    {
        things_begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        tr_stop(test, things_of("a"));
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        tr_kill(test, things_of("a"));
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 3);
        ck_assert_int_eq(things_do("a", thing_add, 0), 5);
        things_end();
    }
}

TEST(a_stop_right_after_the_wake_waits_for_the_start, "Z-12")
{
    EACH_SEED(seed)
    {
        things_begin(seed);
        thing_ref ref = things_of("a");
        things_send(ref, thing_add, 3);
        tr_stop(test, ref);
        tr_kit_settle(kit);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), 3);
        ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1);
        things_end();
    }
}

SUITE("durable sleep", an_idle_one_sleeps_after_its_time_and_no_sooner,
      a_turn_that_waits_keeps_it_awake, a_keep_awake_ends_however_its_block_ends,
      a_wait_until_lets_it_begin_to_sleep_but_not_end,
      the_hook_goes_before_waiting_mail_and_grace_serves,

      a_hook_that_fails_does_not_keep_it_from_sleep_and_leaves_nothing,
      a_hook_that_never_ends_is_ended_by_the_deadline,
      a_turn_that_never_ends_is_cancelled_with_its_commits_kept,
      what_it_has_told_itself_is_not_lost_by_its_sleep,
      who_waits_behind_a_turn_when_it_is_destroyed_hears_so, sleep_is_asked_for_once,
      a_destroyed_one_refuses_and_can_be_made_anew, a_destroy_in_grace_upgrades,
      stop_lets_it_sleep_and_kill_does_not, a_stop_right_after_the_wake_waits_for_the_start)
