/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many asks at once: arrays of them, a request to each member of a group, and asks that are
 * cancelled. Also the verbs for timers that return a status.
 */
#include "support/test.h"

#include <troupe/kit.h>
#include <troupe/troupe.h>

#define MS TR_MILLISECOND

enum { ASKS = 40, MEMBERS = 5 };

TR_MESSAGE(number, (i64, value));
TR_REQUEST(wait_for, number, (i64, ns));
TR_MESSAGE(tick, (u32, n));
TR_REQUEST(play, number, (u32, part));
TR_ACTOR(slow, wait_for);
TR_ACTOR(player, play, tick);

static int handled;
static tr_next on_wait(tr_self *self, const struct wait_for *m)
{
    if (m->ns < 0)
        return tr_refuse(self, 1, "negative");
    (void)!tr_sleep(self, m->ns);
    handled++;
    return tr_reply(self, number, .value = m->ns);
}
TR_BEHAVIOR(slow, void, TR_ON(wait_for, on_wait));

static slow_ref one;

static void await_all_of(tr_self *self)
{
    wait_for_ask asked[ASKS];
    const struct number *reply;
    for (int i = 0; i < ASKS; i++)
        asked[i] = tr_ask(self, one, wait_for, .ns = (ASKS - i) * MS);
    tr_time began_ns = tr_now(self);
    ck_assert_int_eq(tr_await_all_of(self, asked, 0), TR_OK);
    ck_assert_int_eq(tr_now(self), began_ns);
    ck_assert_int_eq(tr_await_all_of(self, asked, ASKS), TR_OK);
    ck_assert_int_eq(tr_now(self), began_ns + ASKS * MS);
    for (int i = 0; i < ASKS; i++) {
        ck_assert_int_eq(tr_try_await(self, asked[i], &reply), TR_OK);
        ck_assert_int_eq(reply->value, (ASKS - i) * MS);
    }
    asked[3] = tr_ask(self, one, wait_for, .ns = -1);
    ck_assert_int_eq(tr_await_all_of(self, asked + 2, 3), TR_REFUSED);
}

static void await_any_of(tr_self *self)
{
    wait_for_ask asked[ASKS];
    size_t first = 99;
    for (int i = 0; i < ASKS; i++)
        asked[i] = tr_ask(self, one, wait_for, .ns = (1 + i * 7 % ASKS) * MS);
    ck_assert_int_eq(tr_await_any_of(self, &first, asked, 0), TR_INVALID_ARGUMENT);
    tr_time last_ns = 0;
    for (size_t left = ASKS; left; left--) {
        const struct number *reply;
        ck_assert_int_eq(tr_await_any_of(self, &first, asked, left), TR_OK);
        ck_assert_int_eq(tr_try_await(self, asked[first], &reply), TR_OK);
        ck_assert_int_gt(reply->value, last_ns);
        last_ns = reply->value;
        asked[first] = asked[left - 1];
    }
}

static void cancel(tr_self *self)
{
    const struct number *reply;
    tr_time began_ns = tr_now(self);
    wait_for_ask a = tr_ask(self, one, wait_for, .ns = 10 * MS);
    wait_for_ask b = tr_ask(self, one, wait_for, .ns = 5 * MS);
    wait_for_ask none = {0};
    ck_assert_int_eq(tr_ask_cancel(self, a), TR_OK);
    ck_assert_int_eq(tr_ask_cancel(self, a), TR_NOT_FOUND);
    ck_assert_int_eq(tr_ask_cancel(self, none), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_await(self, a, &reply), TR_CANCELLED);
    ck_assert_ptr_nonnull(strstr(tr_ask_error(self, a)->text, "wait_for"));
    ck_assert_int_eq(tr_now(self), began_ns);
    ck_assert_int_eq(tr_await_all(self, a, b), TR_CANCELLED);
    ck_assert_int_eq(tr_now(self), began_ns + 5 * MS);
    ck_assert_int_eq(tr_ask_cancel(self, b), TR_NOT_FOUND);
    ck_assert_int_eq(tr_await(self, b)->value, 5 * MS);
    wait_for_ask gone = tr_ask(self, (slow_ref){0}, wait_for);
    ck_assert_int_eq(tr_ask_cancel(self, gone), TR_NOT_FOUND);
}

static void gather(tr_self *self)
{
    wait_for_ask asked[MEMBERS];
    const struct number *reply;
    slow_ref group = tr_spawn_group(self, slow, "slows", MEMBERS);
    tr_time began_ns = tr_now(self);
    handled = 0;
    ck_assert_uint_eq(tr_gather(self, group, asked, MEMBERS, wait_for, .ns = 3 * MS), MEMBERS);
    ck_assert_int_eq(tr_now(self), began_ns + 3 * MS);
    ck_assert_int_eq(handled, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        ck_assert_int_eq(tr_try_await(self, asked[i], &reply), TR_OK);
        ck_assert_int_eq(reply->value, 3 * MS);
    }
    /* Fewer places than members, a timeout, and a ref that is no group. */
    ck_assert_uint_eq(tr_gather_within(self, MS, group, asked, 2, wait_for, .ns = 3 * MS), MEMBERS);
    ck_assert_int_eq(tr_try_await(self, asked[1], NULL), TR_TIMEOUT);
    ck_assert_uint_eq(tr_gather(self, group, asked, 0, wait_for), MEMBERS);
    ck_assert_uint_eq(tr_gather(self, one, asked, MEMBERS, wait_for), 0);
    tr_stop_child(self, group);
}

static void timers(tr_self *self)
{
    tr_timer timer = {0};
    ck_assert_int_eq(tr_try_timer_once(self, NULL, "", MS, tick), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_timer_fixed_rate(self, NULL, "rate", 0, tick), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_timer_fixed_delay(self, NULL, "delay", -MS, tick), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_timer_once(self, &timer, NULL, MS, tick, .n = 1), TR_OK);
    ck_assert_int_eq(tr_timer_stop(self, timer), TR_TIMER_CANCELLED);
    ck_assert_int_eq(tr_try_timer_fixed_rate(self, NULL, "rate", MS, tick, .n = 100), TR_OK);
    ck_assert_int_eq(tr_try_timer_fixed_delay(self, NULL, "delay", MS, tick, .n = 1), TR_OK);
    (void)!tr_sleep(self, 5 * MS + MS / 2);
    ck_assert_int_eq(tr_timer_cancel(self, "rate"), TR_TIMER_CANCELLED);
    ck_assert_int_eq(tr_timer_cancel(self, "delay"), TR_TIMER_CANCELLED);
}

static uint32_t ticks;
static tr_next on_tick(const struct tick *m)
{
    ticks += m->n;
    return TR_SAME;
}
static tr_next on_play(tr_self *self, const struct play *m)
{
    static void (*const parts[])(tr_self *) = {await_all_of, await_any_of, cancel, gather, timers};
    parts[m->part](self);
    return tr_reply(self, number);
}
TR_BEHAVIOR(player, void, TR_ON(play, on_play), TR_ON(tick, on_tick));

static tr_kit *kit;
static tr_client *test;

static void play_part(uint32_t part)
{
    player_ref player;
    kit = tr_kit_new(&(tr_kit_options){.workers = 2});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    ticks = 0;
    ck_assert_int_eq(tr_try_spawn(test, &one, slow, "one"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &player, player, "player"), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, player, play, .part = part), NULL), TR_OK);
    tr_kit_settle(kit);
}

static void end(void)
{
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(an_array_of_asks_is_awaited_as_a_whole, "A-07")
{
    play_part(0);
    end();
}

TEST(an_array_of_asks_is_awaited_one_by_one, "A-07")
{
    play_part(1);
    end();
}

TEST(a_cancelled_ask_ends_at_once_and_its_reply_is_a_dead_letter, "A-08")
{
    play_part(2);
    tr_kit_advance(kit, TR_SECOND);
    tr_kit_settle(kit);
    tr_dead_letter_record records[2];
    size_t count;
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), records, 2, &count), 1);
    ck_assert_str_eq(records[0].type, "number");
    end();
}

TEST(a_client_forgets_an_ask_that_it_cancels, "A-08")
{
    play_part(4);
    wait_for_ask asked = tr_ask(test, one, wait_for, .ns = 5 * MS);
    ck_assert_int_eq(tr_ask_cancel(test, asked), TR_OK);
    ck_assert_int_eq(tr_ask_cancel(test, asked), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_try_await(test, asked, NULL), TR_INVALID_ARGUMENT);
    asked = tr_ask(test, one, wait_for, .ns = 5 * MS);
    tr_kit_advance(kit, 10 * MS);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_ask_cancel(test, asked), TR_NOT_FOUND);
    ck_assert_int_eq(tr_try_await(test, asked, NULL), TR_OK);
    /* More than TR_CLIENT_ASKS_MAX of them, one after the other: none is left behind. */
    for (int i = 0; i < TR_CLIENT_ASKS_MAX + 10; i++) {
        asked = tr_ask(test, one, wait_for);
        ck_assert_int_eq(tr_ask_cancel(test, asked), TR_OK);
        if (i % 1000 == 0)
            tr_kit_settle(kit);
    }
    tr_kit_settle(kit);
    end();
}

TEST(a_group_is_asked_as_a_whole, "A-09")
{
    play_part(3);
    end();
}

TEST(a_timer_that_cannot_start_is_a_status, "T-01")
{
    play_part(4);
    ck_assert_uint_eq(ticks, 505);
    end();
}

SUITE("ask many", an_array_of_asks_is_awaited_as_a_whole, an_array_of_asks_is_awaited_one_by_one,
      a_cancelled_ask_ends_at_once_and_its_reply_is_a_dead_letter,
      a_client_forgets_an_ask_that_it_cancels, a_group_is_asked_as_a_whole,
      a_timer_that_cannot_start_is_a_status)
