/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id without memory: each allocation fails once, and once with all after it for a while. The request
 * is repeated until it is answered, and has taken effect once.
 */
#include "support/things.h"

static int unlucky;

static tr_next add(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    return tr_reply(self, acted, .value = state->value);
}

static tr_next refuse(tr_self *self, struct thing_state *state, int64_t n)
{
    state->value += n;
    return tr_refuse(self, 42, "no");
}

static tr_status once(const char *id, thing_call *call)
{
    act_ask ask = tr_ask_once_within(
        test, TR_MINUTE, thing, "a", id, act, .call = (uint64_t)(uintptr_t)call, .n = 1);
    return tr_try_await(test, ask, NULL);
}

static void live(void)
{
    tr_durable_page page;
    bool was_lucky = once("x", add) == TR_OK;
    was_lucky &= once("y", refuse) == TR_REFUSED;
    was_lucky &= once("x", add) == TR_OK;
    was_lucky &= tr_durable_list(test, thing, &page) == TR_OK;
    was_lucky &= tr_durable_exists(test, thing, "a") == TR_OK;
    tr_kit_advance(kit, TR_MINUTE);
    was_lucky &= once("y", refuse) == TR_REFUSED;
    unlucky += !was_lucky;
}

static void live_with(uint64_t nth, bool and_all_after)
{
    int64_t value = 0;
    things_begin(1);
    tr_kit_settle(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    live();
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(once("x", add), TR_OK);
    ck_assert_int_eq(once("y", refuse), TR_REFUSED);
    ck_assert_int_eq(things_try("a", thing_add, 0, &value), TR_OK);
    ck_assert_msg(value == 2, "%llu: %lld", (unsigned long long)nth, (long long)value);
    things_end();
}

static uint64_t allocations_of_a_life(void)
{
    things_begin(1);
    tr_kit_settle(kit);
    uint64_t before = tr_kit_allocations(kit);
    live();
    uint64_t count = tr_kit_allocations(kit) - before;
    things_end();
    return count;
}

TEST(each_allocation_may_fail, "K-14")
{
    uint64_t count = allocations_of_a_life();
    ck_assert_uint_gt(count, 30);
    uint64_t step = TEST_HAS_SANITIZER ? 1 + count / 100 : 1;
    for (uint64_t nth = 1; nth <= count; nth += step)
        live_with(nth, false);
    ck_assert_int_gt(unlucky, 5);
}

TEST(all_memory_may_be_gone_for_a_while, "K-14")
{
    uint64_t count = allocations_of_a_life();
    uint64_t step = 1 + count / (TEST_HAS_SANITIZER ? 30 : 200);
    for (uint64_t nth = 1; nth <= count; nth += step)
        live_with(nth, true);
    ck_assert_int_gt(unlucky, 5);
}

SUITE("durable once without memory", each_allocation_may_fail, all_memory_may_be_gone_for_a_while)
