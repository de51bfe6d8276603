/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work of a durable actor that no turn has: replies that it owes, messages in its stash, mail that waits. All of it
 * keeps the actor awake and holds its grace, and why names it.
 */
#include "support/things.h"

static tr_later owed;

static tr_next put_off(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    owed = tr_reply_later(self);
    return TR_SAME;
}

static tr_next pay(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    ck_assert_int_eq(tr_reply_to(self, owed, acted, .value = 7), TR_OK);
    return tr_reply(self, acted, .value = state->value);
}

/* Set aside until it is opened. */
static tr_next set_aside(tr_self *self, struct thing_state *state, int64_t n)
{
    if (!state->other)
        return tr_stash(self);
    state->value += n;
    return tr_reply(self, acted, .value = state->value);
}

static tr_next open(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    state->other = 1;
    return tr_reply(self, acted, .value = (int64_t)tr_unstash(self, 100));
}

static tr_next open_at_start(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    (void)n;
    state->other = state->starts > 1;
    return TR_SAME;
}

/* Whether why says that this keeps it awake, or from its end. */
static bool is_held_by(thing_ref ref, const char *what)
{
    tr_why_report report;
    ck_assert_int_eq(tr_actor_why(test, ref, &report), TR_OK);
    for (size_t i = 0; i < report.count; i++)
        if (report.reasons[i].kind == TR_WHY_AWAKE && strstr(report.reasons[i].text, what))
            return true;
    return false;
}

/* ---- Replies that are owed. ---- */

TEST(a_reply_that_is_owed_keeps_it_awake, "Z-04", "Z-05", "SL-01")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const struct acted *acted;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask ask = things_ask(ref, put_off, 0);
        tr_kit_advance(kit, 3 * TR_MINUTE);
        ck_assert(things_is_awake(ref));
        ck_assert(is_held_by(ref, "replies owed: act keeps it awake"));
        things_do("a", pay, 0);
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 7);
        ck_assert(!is_held_by(ref, "replies owed"));
        tr_kit_advance(kit, 9 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        things_end();
    }
}

TEST(a_reply_that_nobody_waits_for_any_more_lets_it_sleep, "Z-04", "Z-13")
{
    const struct acted *acted;
    things_begin(1);
    thing_ref ref = things_of("a");
    act_ask ask =
        tr_ask_within(test, TR_MINUTE, ref, act, .call = (uint64_t)(uintptr_t)put_off, .n = 0);
    tr_kit_advance(kit, 59 * TR_SECOND);
    ck_assert(is_held_by(ref, "replies owed: act"));
    /* The time of the ask is up, and with it begins the idle time. */
    ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_TIMEOUT);
    tr_kit_advance(kit, 5 * TR_SECOND);
    ck_assert(things_is_awake(ref));
    tr_kit_advance(kit, 6 * TR_SECOND);
    ck_assert(!things_is_awake(ref));
    things_end();
}

TEST(a_reply_owed_to_one_who_is_gone_lets_it_sleep, "Z-04", "Z-13")
{
    tr_client *other;
    things_begin(1);
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &other), TR_OK);
    thing_ref ref = things_of("a");
    (void)tr_ask_within(
        other, 1000 * TR_HOUR, ref, act, .call = (uint64_t)(uintptr_t)put_off, .n = 0);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert(is_held_by(ref, "replies owed: act"));
    tr_client_free(other);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert(!things_is_awake(ref));
    things_end();
}

TEST(a_reply_that_is_owed_holds_the_grace_until_the_deadline, "Z-05", "Z-08")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const struct acted *acted;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask ask = things_ask(ref, put_off, 0);
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        tr_kit_advance(kit, 4 * TR_SECOND);
        ck_assert(is_held_by(ref, "replies owed: act keeps it from its end"));
        if (seed % 2) {
            things_do("a", pay, 0); /* the grace serves */
            tr_kit_settle(kit);
            ck_assert(!things_is_awake(ref));
            ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        } else {
            tr_kit_advance(kit, 2 * TR_SECOND);
            ck_assert(!things_is_awake(ref));
            ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_STOPPED);
        }
        things_end();
    }
}

TEST(a_destroy_waits_for_a_reply_that_is_owed_and_not_for_a_stash, "Z-05")
{
    const struct acted *acted;
    for (int owes = 0; owes < 2; owes++) {
        things_begin(1);
        thing_ref ref = things_of("a");
        act_ask ask = things_ask(ref, owes ? put_off : set_aside, 0);
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_destroy, 0), TR_OK);
        tr_kit_settle(kit);
        ck_assert_int_eq(things_is_awake(ref), owes);
        tr_kit_advance(kit, 6 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(tr_try_await(test, ask, &acted), owes ? TR_STOPPED : TR_DESTROYING);
        things_end();
    }
}

/* ---- The stash. ---- */

TEST(stashed_messages_keep_it_awake, "Z-04", "Z-05", "SL-01")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const struct acted *acted;
        tr_counters before, after;
        things_begin(seed);
        tr_system_counters(tr_kit_system(kit), &before);
        thing_ref ref = things_of("a");
        act_ask ask = things_ask(ref, set_aside, 5);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(things_send(ref, set_aside, 1), TR_OK);
        tr_kit_advance(kit, 3 * TR_MINUTE);
        ck_assert(is_held_by(ref, "stashed messages: "));
        ck_assert_int_eq(things_do("a", open, 0), 4);
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        tr_kit_advance(kit, 11 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_add, 0), 8);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        tr_system_counters(tr_kit_system(kit), &after);
        ck_assert_uint_eq(after.dead_letters, before.dead_letters);
        things_end();
    }
}

TEST(what_is_stashed_when_it_falls_asleep_waits_for_its_next_life, "Z-05", "Z-07", "SL-08")
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        const struct acted *acted;
        things_on_awake = open_at_start;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask ask = things_ask(ref, set_aside, 5);
        ck_assert_int_eq(things_send(ref, set_aside, 1), TR_OK);
        tr_kit_settle(kit);
        ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
        tr_kit_advance(kit, 4 * TR_SECOND);
        ck_assert(is_held_by(ref, "stashed messages: act keeps it from its end"));
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 5);
        ck_assert_int_eq(things_do("a", thing_add, 0), 6);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        things_end();
    }
}

TEST(a_stash_does_not_hold_one_up_that_is_stopped, "Z-05")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const struct acted *acted;
        things_on_awake = open_at_start;
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_ask ask = things_ask(ref, set_aside, 5);
        tr_kit_settle(kit);
        tr_stop(test, ref);
        tr_kit_settle(kit);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK); /* by its next life */
        ck_assert_int_eq(acted->value, 5);
        things_end();
    }
}

/* ---- Mail. ---- */

TEST(mail_that_waits_while_it_is_suspended_keeps_it_awake, "Z-04", "SL-01")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const struct acted *acted;
        things_begin(seed);
        thing_ref ref = things_of("a");
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        tr_suspend(test, ref);
        tr_kit_settle(kit);
        act_ask ask = things_ask(ref, thing_add, 1);
        tr_kit_advance(kit, 3 * TR_MINUTE);
        ck_assert(things_is_awake(ref));
        tr_resume(test, ref);
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        ck_assert_int_eq(acted->value, 6);
        tr_kit_advance(kit, 11 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        things_end();
    }
}

TEST(what_is_waiting_when_it_asks_to_sleep_is_handled_in_its_grace, "Z-05", "Z-07", "SL-08")
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct acted *acted;
        act_ask asks[6];
        things_begin(seed);
        thing_ref ref = things_of("a");
        for (int i = 0; i < 6; i++)
            asks[i] = things_ask(ref, i == 2 ? thing_go_to_sleep : thing_starts, 0);
        for (int i = 0; i < 6; i++) {
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
            if (i != 2)
                ck_assert_int_eq(acted->value, 1); /* by this life: no other was begun for it */
        }
        tr_kit_settle(kit);
        ck_assert(!things_is_awake(ref));
        things_end();
    }
}

SUITE("durable work", a_reply_that_is_owed_keeps_it_awake,
      a_reply_that_nobody_waits_for_any_more_lets_it_sleep,
      a_reply_owed_to_one_who_is_gone_lets_it_sleep,
      a_reply_that_is_owed_holds_the_grace_until_the_deadline,
      a_destroy_waits_for_a_reply_that_is_owed_and_not_for_a_stash, stashed_messages_keep_it_awake,
      what_is_stashed_when_it_falls_asleep_waits_for_its_next_life,
      a_stash_does_not_hold_one_up_that_is_stopped,
      mail_that_waits_while_it_is_suspended_keeps_it_awake,
      what_is_waiting_when_it_asks_to_sleep_is_handled_in_its_grace)
