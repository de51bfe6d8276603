/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Alarms of durable actors on a kit: they wake sleepers, are stored with the rest, are tried again.
 */
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(seen, (u64, rings), (u64, failures), (u64, occurrence), (i64, due), (u64, value));
TR_REQUEST(look, seen);
TR_MESSAGE(set_after, (i64, ns));
TR_MESSAGE(set_every, (i64, ns));
TR_MESSAGE(set_cron, (str, text));
TR_MESSAGE(set_and_fail, (i64, ns));
TR_MESSAGE(set_failing, (i64, ns), (u32, times));
TR_MESSAGE(take_back);
TR_MESSAGE(vanish);
TR_MESSAGE(ring, (str, text));
TR_MESSAGE(ring_badly, (u32, times));
TR_ACTOR(sleeper, look, set_after, set_every, set_cron, set_and_fail, set_failing, take_back,
         vanish);
TR_MESSAGE(sleeper_state, (u64, rings), (u64, failures), (u64, occurrence), (u64, value),
           (u64, given_up));

static tr_next on_look(tr_self *self, struct sleeper_state *state)
{
    return tr_reply(self,
                    seen,
                    .rings = state->rings,
                    .failures = state->failures,
                    .occurrence = state->occurrence,
                    .value = state->given_up,
                    .due = tr_alarm_due(self, "a"));
}

static tr_next on_set_after(tr_self *self, const struct set_after *message)
{
    tr_alarm_after(self, "a", message->ns, ring, .text = "hello");
    return TR_SAME;
}

static tr_next on_set_every(tr_self *self, const struct set_every *message)
{
    tr_alarm_every(self, "a", message->ns, ring, .text = "hello");
    return TR_SAME;
}

static tr_next on_set_cron(tr_self *self, const struct set_cron *message)
{
    tr_alarm_cron(self, "a", message->text, ring, .text = "hello");
    return TR_SAME;
}

static tr_next on_set_and_fail(tr_self *self, const struct set_and_fail *message)
{
    tr_alarm_after(self, "a", message->ns, ring, .text = "hello");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next on_set_failing(tr_self *self, const struct set_failing *message)
{
    tr_alarm_after(self, "a", message->ns, ring_badly, .times = message->times);
    return TR_SAME;
}

static tr_next on_take_back(tr_self *self)
{
    ck_assert(tr_alarm_cancel(self, "a"));
    ck_assert(!tr_alarm_cancel(self, "a"));
    return TR_SAME;
}

static tr_next on_vanish(tr_self *self)
{
    ck_assert_int_eq(tr_destroy(self), TR_OK);
    return TR_SAME;
}

static tr_next on_ring(tr_self *self, struct sleeper_state *state, const struct ring *message)
{
    ck_assert_str_eq(message->text, "hello");
    ck_assert_str_eq(tr_alarm_fired(self).name, "a");
    ck_assert_int_eq(tr_alarm_due(self, "a"), 0);
    state->rings++;
    state->occurrence = tr_alarm_fired(self).occurrence;
    return TR_SAME;
}

static tr_next on_ring_badly(tr_self *self, struct sleeper_state *state,
                             const struct ring_badly *message)
{
    uint32_t failures = tr_alarm_fired(self).failures;
    state->rings++;
    state->failures = failures;
    if (failures < message->times / 2)
        tr_crash(self, TR_BAD_DATA, "as told");
    if (failures < message->times)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return TR_SAME;
}

static tr_next on_given_up(struct sleeper_state *state, const struct tr_alarm_given_up *message)
{
    ck_assert_str_eq(message->name, "a");
    state->given_up++;
    return TR_SAME;
}

TR_BEHAVIOR(sleeper, struct sleeper_state, TR_ON(look, on_look), TR_ON(set_after, on_set_after),
            TR_ON(set_every, on_set_every), TR_ON(set_cron, on_set_cron),
            TR_ON(set_and_fail, on_set_and_fail), TR_ON(set_failing, on_set_failing),
            TR_ON(take_back, on_take_back), TR_ON(vanish, on_vanish), TR_ON(ring, on_ring),
            TR_ON(ring_badly, on_ring_badly), TR_ON(tr_alarm_given_up, on_given_up));
TR_DURABLE(sleeper, sleeper_state, .idle_ns = 10 * TR_SECOND);

static tr_kit *kit;
static tr_client *test;

static void begin(uint64_t seed)
{
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .seed = seed,
                                       .workers = 2,
                                       .durable = TR_DURABLES(sleeper)});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static sleeper_ref sleeper_of(const char *key)
{
    sleeper_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, sleeper, key), TR_OK);
    return ref;
}

static struct seen look_at(const char *key)
{
    const struct seen *seen;
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, sleeper_of(key), look), &seen), TR_OK);
    return *seen;
}

TEST(an_alarm_wakes_a_sleeper, "K-04", "AL-01", "AL-02")
{
    begin(1);
    tr_tell(test, sleeper_of("x"), set_after, .ns = TR_HOUR);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(look_at("x").rings, 0);
    ck_assert(look_at("x").due != 0);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(look_at("x").rings, 1);
    ck_assert_int_eq(look_at("x").due, 0);
    tr_kit_free(kit);
}

TEST(an_alarm_of_a_commit_that_failed_was_never_set, "K-01", "AL-07")
{
    begin(2);
    tr_tell(test, sleeper_of("x"), set_and_fail, .ns = TR_MINUTE);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(look_at("x").rings, 0);
    tr_kit_free(kit);
}

TEST(every_period_rings_once_and_what_was_missed_is_one, "K-04")
{
    begin(3);
    tr_tell(test, sleeper_of("x"), set_every, .ns = TR_MINUTE);
    tr_kit_advance(kit, 10 * TR_MINUTE + TR_SECOND);
    ck_assert_uint_eq(look_at("x").rings, 10);
    tr_tell(test, sleeper_of("x"), take_back);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(look_at("x").rings, 10);
    tr_kit_free(kit);
}

TEST(cron_rings_when_it_says, "K-04")
{
    begin(4);
    tr_tell(test, sleeper_of("x"), set_cron, .text = "0 * * * * Europe/Berlin");
    tr_kit_advance(kit, 24 * TR_HOUR);
    ck_assert_uint_eq(look_at("x").rings, 24);
    tr_kit_free(kit);
}

TEST(a_handler_that_fails_is_called_again_later, "K-04", "AL-04", "AL-08")
{
    begin(5);
    tr_tell(test, sleeper_of("x"), set_failing, .ns = TR_SECOND, .times = 2);
    tr_kit_advance(kit, TR_MINUTE);
    struct seen seen = look_at("x");
    ck_assert_uint_eq(seen.rings, 1); /* the others were never there */
    ck_assert_uint_eq(seen.failures, 2);
    tr_kit_free(kit);
}

TEST(an_alarm_that_fails_too_often_is_given_up, "AL-04")
{
    begin(6);
    tr_tell(test, sleeper_of("x"), set_failing, .ns = TR_SECOND, .times = 1000);
    tr_kit_advance(kit, 3 * TR_HOUR);
    ck_assert_uint_eq(look_at("x").value, 1);
    ck_assert_int_eq(look_at("x").due, 0);
    tr_kit_free(kit);
}

TEST(a_destroyed_actor_has_no_alarms, "AL-14", "SL-17")
{
    begin(7);
    tr_tell(test, sleeper_of("x"), set_after, .ns = TR_MINUTE);
    tr_tell(test, sleeper_of("x"), vanish);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(look_at("x").rings, 0);
    tr_kit_free(kit);
}

SUITE("durable alarms", an_alarm_wakes_a_sleeper, an_alarm_of_a_commit_that_failed_was_never_set,
      every_period_rings_once_and_what_was_missed_is_one, cron_rings_when_it_says,
      a_handler_that_fails_is_called_again_later, an_alarm_that_fails_too_often_is_given_up,
      a_destroyed_actor_has_no_alarms)
