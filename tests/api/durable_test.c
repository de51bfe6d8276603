/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors on a kit: state that outlives its actor, sleep and wake, failures, what is held back.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/durable.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(counted, (u64, value));
TR_REQUEST(count, counted, (u64, by));
TR_REQUEST(read_count, counted);
TR_REQUEST(count_badly, counted, (u64, by));
TR_REQUEST(count_slowly, counted, (u64, by));
TR_MESSAGE(go_away);
TR_MESSAGE(vanish);
TR_MESSAGE(grind, (u64, by));
TR_REQUEST(weigh, counted, (u64, by));
TR_ACTOR(mill, grind, weigh);
TR_REQUEST(order_flour, counted, (ref_of(mill), mills));
TR_ACTOR(counter, count, read_count, count_badly, count_slowly, go_away, vanish, order_flour);
TR_MESSAGE(counter_state, (u64, value), (u64, starts), (u64, sleeps), (u64, creations));

static tr_next on_created(struct counter_state *state)
{
    state->creations++;
    return TR_SAME;
}

static tr_next on_awake(struct counter_state *state)
{
    state->starts++;
    return TR_SAME;
}

static tr_next on_sleeping(struct counter_state *state)
{
    state->sleeps++;
    return TR_SAME;
}

static tr_next on_count(tr_self *self, struct counter_state *state, const struct count *message)
{
    state->value += message->by;
    return tr_reply(self, counted, .value = state->value);
}

static tr_next on_read(tr_self *self, struct counter_state *state)
{
    return tr_reply(self, counted, .value = state->value);
}

static tr_next on_count_badly(tr_self *self, struct counter_state *state,
                              const struct count_badly *message)
{
    state->value += message->by;
    tr_reply(self, counted, .value = state->value);
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next on_count_slowly(tr_self *self, struct counter_state *state,
                               const struct count_slowly *message)
{
    state->value += message->by;
    tr_sleep(self, TR_SECOND);
    return tr_reply(self, counted, .value = state->value);
}

static tr_next on_go_away(tr_self *self)
{
    ck_assert_int_eq(tr_go_to_sleep(self), TR_OK);
    return TR_SAME;
}

static tr_next on_vanish(tr_self *self)
{
    ck_assert_int_eq(tr_destroy(self), TR_OK);
    return TR_SAME;
}

static uint64_t ground;

static tr_next on_grind(const struct grind *message)
{
    ground += message->by;
    return TR_SAME;
}

static tr_next on_weigh(tr_self *self, const struct weigh *message)
{
    return tr_reply(self, counted, .value = 2 * message->by);
}

TR_BEHAVIOR(mill, void, TR_ON(grind, on_grind), TR_ON(weigh, on_weigh));

static tr_next on_order_flour(tr_self *self, struct counter_state *state,
                              const struct order_flour *message)
{
    state->value += 10;
    tr_tell(self, message->mills, grind, .by = 1);
    const struct counted *counted = tr_await(self, tr_ask(self, message->mills, weigh, .by = 4));
    return tr_reply(self, counted, .value = counted->value);
}

TR_BEHAVIOR(counter, struct counter_state, TR_ON(tr_created, on_created), TR_ON(tr_awake, on_awake),
            TR_ON(tr_sleeping, on_sleeping), TR_ON(count, on_count), TR_ON(read_count, on_read),
            TR_ON(count_badly, on_count_badly), TR_ON(count_slowly, on_count_slowly),
            TR_ON(go_away, on_go_away), TR_ON(vanish, on_vanish),
            TR_ON(order_flour, on_order_flour));
TR_DURABLE(counter, counter_state, .idle_ns = 10 * TR_SECOND);

static tr_kit *kit_new(uint64_t seed)
{
    return tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                        .seed = seed,
                                        .workers = 2,
                                        .durable = TR_DURABLES(counter)});
}

static counter_ref counter_of(tr_client *test, const char *key)
{
    counter_ref ref;
    ck_assert_int_eq(tr_try_durable(test, &ref, counter, key), TR_OK);
    return ref;
}

static uint64_t count_by(tr_client *test, const char *key, uint64_t by)
{
    const struct counted *counted;
    count_ask ask = tr_ask(test, counter_of(test, key), count, .by = by);
    ck_assert_int_eq(tr_try_await(test, ask, &counted), TR_OK);
    return counted->value;
}

TEST(a_state_is_there_again_after_sleep, "Z-02", "SL-09")
{
    tr_kit *kit = kit_new(1);
    tr_client *test = tr_kit_client(kit);
    ck_assert_uint_eq(count_by(test, "a", 5), 5);
    counter_ref first = counter_of(test, "a");
    tr_kit_advance(kit, 60 * TR_SECOND);
    ck_assert_int_eq(tr_tell(test, first, count, .by = 1), TR_STOPPED);
    ck_assert_uint_eq(count_by(test, "a", 2), 7);
    counter_ref second = counter_of(test, "a");
    ck_assert(first.bits != second.bits);
    ck_assert_uint_eq(count_by(test, "b", 1), 1);
    tr_kit_free(kit);
}

TEST(what_failed_was_never_there, "Z-14", "K-01")
{
    tr_kit *kit = kit_new(2);
    tr_client *test = tr_kit_client(kit);
    const struct counted *counted;
    ck_assert_uint_eq(count_by(test, "a", 5), 5);
    count_badly_ask bad = tr_ask(test, counter_of(test, "a"), count_badly, .by = 100);
    ck_assert_int_eq(tr_try_await(test, bad, &counted), TR_FAILED);
    ck_assert_uint_eq(count_by(test, "a", 1), 6);
    tr_kit_free(kit);
}

TEST(a_turn_that_waits_is_a_barrier, "Z-14")
{
    tr_kit *kit = kit_new(3);
    tr_client *test = tr_kit_client(kit);
    const struct counted *counted;
    counter_ref ref = counter_of(test, "a");
    count_slowly_ask slow = tr_ask(test, ref, count_slowly, .by = 1);
    count_ask fast = tr_ask(test, ref, count, .by = 10);
    ck_assert_int_eq(tr_try_await(test, slow, &counted), TR_OK);
    ck_assert_uint_eq(counted->value, 1);
    ck_assert_int_eq(tr_try_await(test, fast, &counted), TR_OK);
    ck_assert_uint_eq(counted->value, 11);
    tr_kit_free(kit);
}

TEST(it_sleeps_when_it_wants_to, "Z-01", "Z-10")
{
    tr_kit *kit = kit_new(4);
    tr_client *test = tr_kit_client(kit);
    ck_assert_uint_eq(count_by(test, "a", 5), 5);
    counter_ref first = counter_of(test, "a");
    tr_tell(test, first, go_away);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, first, go_away), TR_STOPPED);
    ck_assert_uint_eq(count_by(test, "a", 5), 10);
    tr_kit_free(kit);
}

TEST(a_destroyed_one_begins_anew, "SL-17", "Z-07")
{
    tr_kit *kit = kit_new(5);
    tr_client *test = tr_kit_client(kit);
    ck_assert_uint_eq(count_by(test, "a", 5), 5);
    tr_tell(test, counter_of(test, "a"), vanish);
    tr_kit_settle(kit);
    ck_assert_uint_eq(count_by(test, "a", 1), 1);
    tr_kit_free(kit);
}

TEST(what_is_held_for_a_group_gets_to_a_member, "K-01")
{
    tr_kit *kit = kit_new(6);
    tr_client *test = tr_kit_client(kit);
    const struct counted *counted;
    mill_ref mills;
    ck_assert_int_eq(tr_try_spawn_group(test, &mills, mill, "mills", 3), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, mills, TR_SECOND, NULL), TR_OK);
    order_flour_ask ask = tr_ask(test, counter_of(test, "a"), order_flour, .mills = mills);
    ck_assert_int_eq(tr_try_await(test, ask, &counted), TR_OK);
    ck_assert_uint_eq(counted->value, 8);
    ck_assert_uint_eq(ground, 1);
    tr_kit_free(kit);
}

SUITE("durable", a_state_is_there_again_after_sleep, what_failed_was_never_there,
      a_turn_that_waits_is_a_barrier, it_sleeps_when_it_wants_to, a_destroyed_one_begins_anew,
      what_is_held_for_a_group_gets_to_a_member)
