/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A request that was forwarded, or answered, no longer waits for the turn that had it. So a turn that
 * then asks the asker back closes no cycle.
 */
#include "support/test.h"

#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(number, (i64, value));
TR_REQUEST(go, number, (u32, how));
TR_REQUEST(work, number, (u32, how));
TR_REQUEST(ping, number);
TR_ACTOR(front, go, ping);
TR_ACTOR(middle, work);
TR_ACTOR(back, work);

enum { FORWARD, REPLY, NEITHER };

static front_ref front;
static middle_ref middle;
static back_ref back;
static tr_status asked_back;

static tr_next front_go(tr_self *self, const struct go *m)
{
    const struct number *reply;
    tr_status status = tr_try_await(self, tr_ask(self, middle, work, .how = m->how), &reply);
    return tr_reply(self, number, .value = status);
}
static tr_next front_ping(tr_self *self)
{
    return tr_reply(self, number, .value = 7);
}
TR_BEHAVIOR(front, void, TR_ON(go, front_go, .is_barrier = true), TR_ON(ping, front_ping));

static tr_next middle_work(tr_self *self, const struct work *m)
{
    if (m->how == FORWARD)
        (void)tr_forward(self, back);
    if (m->how == REPLY)
        (void)tr_reply(self, number, .value = 1);
    asked_back = tr_try_await(self, tr_ask(self, front, ping), NULL);
    return m->how == NEITHER ? tr_reply(self, number, .value = 2) : TR_SAME;
}
TR_BEHAVIOR(middle, void, TR_ON(work, middle_work, .is_barrier = true));

static tr_next back_work(tr_self *self)
{
    (void)!tr_sleep(self, TR_MILLISECOND);
    return tr_reply(self, number, .value = 3);
}
TR_BEHAVIOR(back, void, TR_ON(work, back_work));

static void play(uint32_t how, int workers, tr_status expected)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.workers = workers});
    ck_assert_ptr_nonnull(kit);
    tr_client *test = tr_kit_client(kit);
    const struct number *reply;
    asked_back = 99;
    ck_assert_int_eq(tr_try_spawn(test, &front, front, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &middle, workers - 1, middle, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &back, back, NULL), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, front, go, .how = how), &reply), TR_OK);
    ck_assert_int_eq(reply->value, TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(asked_back, expected);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(a_forwarded_request_closes_no_cycle, "A-03")
{
    play(FORWARD, 1, TR_OK);
    play(FORWARD, 2, TR_OK);
}

TEST(nor_does_one_that_was_answered, "A-03")
{
    play(REPLY, 1, TR_OK);
    play(REPLY, 2, TR_OK);
}

TEST(one_that_waits_for_this_turn_does, "A-03")
{
    play(NEITHER, 1, TR_ASK_CYCLE);
    play(NEITHER, 2, TR_ASK_CYCLE);
}

SUITE("ask forward", a_forwarded_request_closes_no_cycle, nor_does_one_that_was_answered,
      one_that_waits_for_this_turn_does)
