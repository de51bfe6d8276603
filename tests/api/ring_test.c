/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rings of actors that wait for each other, some for capacity and some, as barriers, for a reply; and
 * what is no ring. The clock stands still where one is to be found: it ends by itself, or not at all.
 */
#include "support/parks.h"

TR_MESSAGE(value, (u32, n));
TR_MESSAGE(run_alone, (u64, function));
TR_REQUEST(call, value, (u64, function));
TR_ACTOR(knot, run, run_alone, call, item);
TR_ACTOR(short_one, call, item);

static tr_next on_run_alone(tr_self *self, const struct run_alone *message)
{
    return ((turn *)(uintptr_t)message->function)(self);
}

static tr_next on_call(tr_self *self, const struct call *message)
{
    if (message->function)
        (void)((turn *)(uintptr_t)message->function)(self);
    return tr_reply(self, value, .n = 1);
}

TR_BEHAVIOR(knot, void, TR_ON(run, on_run), TR_ON(run_alone, on_run_alone, .is_barrier = true),
            TR_ON(call, on_call), TR_ON(item, on_item),
            TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));
TR_BEHAVIOR(short_one, void, TR_ON(call, on_call), TR_ON(item, on_item),
            TR_OPTIONS(.mailbox_max = 1, .overflow = TR_DROP_OLDEST));

#define FUNCTION(function) (uint64_t)(uintptr_t)(function)

static knot_ref knots[3];
static turn *called;         /* what the one who is asked does before it answers */
static tr_status replied;    /* how the ask ended, */
static uint32_t reply_count; /* and how often */

static void knots_begin(bool is_spread)
{
    parks_begin();
    called = NULL;
    replied = TR_OK;
    reply_count = 0;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &knots[i], is_spread && home ? i : home, knot, NULL),
                         TR_OK);
    tr_kit_settle(kit);
}

static tr_next ask_0(tr_self *self)
{
    const struct value *reply;
    call_ask asked = tr_ask(self, knots[0], call, .function = FUNCTION(called));
    replied = tr_try_await(self, asked, &reply);
    reply_count++;
    return TR_SAME;
}

static tr_next send_to_1(tr_self *self)
{
    for (uint32_t n = 0; n < 3; n++) {
        last_status[n] = tr_tell(self, knots[1], item, .from = 1, .n = n);
        ok_count += last_status[n] == TR_OK;
    }
    done_count++;
    return TR_SAME;
}

/* 0 waits for capacity at 1, whose mailbox has a barrier that asks 0, and so many items. */
static void tie(turn *waits, int items)
{
    SHUT(knots[1]);
    ck_assert_int_eq(tr_tell(test, knots[1], run_alone, .function = FUNCTION(ask_0)), TR_OK);
    for (int i = 0; i < items; i++)
        ck_assert_int_eq(tr_tell(test, knots[1], item, .from = 8, .n = 0), TR_OK);
    TELL_RUN(test, knots[0], waits);
    tr_kit_settle(kit);
    ck_assert_uint_eq(done_count, 0);
    OPEN(knots[1]);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_uint_eq(reply_count, 1);
}

static tr_next send_one_to_1(tr_self *self)
{
    last_status[0] = tr_tell(self, knots[1], item, .from = 1, .n = 0);
    done_count++;
    return TR_SAME;
}

/* The turn that asks has left the mailbox: there is the room that the other waits for. */
static void play_freed(void)
{
    for (int is_spread = 0; is_spread <= 1; is_spread++) {
        knots_begin(is_spread);
        tie(send_one_to_1, 1);
        ck_assert_int_eq(replied, TR_OK);
        ck_assert_int_eq(last_status[0], TR_OK);
    }
}

TEST(what_the_one_who_asks_has_freed_closes_no_ring, "MB-09", "AK-09")
{
    kits_each(play_freed);
}

/* 0 gets that room, and wants more: now it is a ring, and one of both hears of it. */
static void play_mixed(void)
{
    for (int is_spread = 0; is_spread <= 1; is_spread++) {
        knots_begin(is_spread);
        tr_time now_ns = tr_kit_now(kit);
        tie(send_to_1, 1);
        ck_assert_int_eq(last_status[0], TR_OK);
        bool is_refused = ok_count < 3;
        ck_assert(is_refused || replied == TR_ASK_CYCLE);
        ck_assert(replied == TR_OK || replied == TR_ASK_CYCLE);
        if (!home)
            ck_assert_int_eq(replied, TR_OK); /* 0 is the last, and hears it before it waits */
        ck_assert_int_eq(tr_kit_now(kit), now_ns);
        ck_assert_uint_eq(seen_count, ok_count + 1);
    }
}

TEST(a_ring_of_room_and_reply_is_broken_at_once, "MB-09", "AK-09")
{
    kits_each(play_mixed);
}

/*
 * 1 has two turns that wait: one for capacity at 2, which is shut, the other for a reply of 0. Then 0
 * waits for 1, and whichever of both came first, that is a ring.
 */
static tr_next send_to_2(tr_self *self)
{
    last_status[10] = tr_tell(self, knots[2], item, .from = 2, .n = 0);
    return TR_SAME;
}

static bool asks_first;

static tr_next set_timers(tr_self *self)
{
    tr_timer_once(
        self, "ask", asks_first ? 1 * MS : 2 * MS, run_alone, .function = FUNCTION(ask_0));
    tr_timer_once(self, "send", asks_first ? 2 * MS : 1 * MS, run, .function = FUNCTION(send_to_2));
    return TR_SAME;
}

static void play_branches(void)
{
    for (int i = 0; i < 4; i++) {
        knots_begin(i & 1);
        asks_first = i & 2;
        called = send_to_1;
        TELL_RUN(test, knots[1], set_timers);
        tr_kit_settle(kit);
        SHUT(knots[0]);
        SHUT(knots[2]);
        ck_assert_int_eq(tr_tell(test, knots[2], item, .from = 8, .n = 0), TR_OK);
        ck_assert_int_eq(tr_tell(test, knots[2], item, .from = 8, .n = 1), TR_OK);
        tr_kit_advance(kit, 2 * MS);
        tr_kit_settle(kit);
        tr_time now_ns = tr_kit_now(kit);
        OPEN(knots[0]);
        ck_assert_uint_eq(done_count, 1);
        ck_assert_uint_eq(reply_count, 1);
        ck_assert_int_eq(last_status[1], TR_OK);
        ck_assert_int_eq(last_status[2], TR_MAILBOX_FULL);
        ck_assert_int_eq(replied, TR_OK);
        ck_assert_int_eq(tr_kit_now(kit), now_ns);
        OPEN(knots[2]);
        ck_assert_int_eq(last_status[10], TR_OK);
        ck_assert_uint_eq(seen_count, 5);
    }
}

TEST(all_whom_an_actor_waits_for_are_followed, "MB-09", "AK-09")
{
    kits_each(play_branches);
}

/*
 * Between the request and the wait something arrives that drives the request out, and who looks for
 * a ring finds it behind the door: the answer is there before the wait.
 */
static short_one_ref short_one;

static tr_next ask_the_short_one(tr_self *self)
{
    const struct value *reply;
    call_ask asked = tr_ask(self, short_one, call, .function = 0);
    ck_assert_int_eq(tr_tell(test, short_one, item, .from = 3, .n = 0), TR_OK);
    replied = tr_try_await(self, asked, &reply);
    reply_count++;
    return TR_SAME;
}

static void play_driven_out(void)
{
    knots_begin(false);
    ck_assert_int_eq(tr_try_spawn_at(test, &short_one, home, short_one, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, knots[0], run_alone, .function = FUNCTION(ask_the_short_one)),
                     TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(reply_count, 1);
    ck_assert_int_eq(replied, TR_MAILBOX_FULL);
    SEEN("3.0 ");
}

TEST(an_answer_that_comes_before_the_wait_is_not_missed, "MB-09", "AK-09")
{
    kits_each(play_driven_out);
}

SUITE("rings of those who wait", what_the_one_who_asks_has_freed_closes_no_ring,
      a_ring_of_room_and_reply_is_broken_at_once, all_whom_an_actor_waits_for_are_followed,
      an_answer_that_comes_before_the_wait_is_not_missed)
