/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors without memory: each allocation of a life fails once, and once with all after it for a while. Nothing
 * leaks, nothing aborts, and what was acknowledged is there.
 */
#include <troupe/alarm.h>
#include <troupe/queue.h>

TR_MESSAGE(ring, (i64, n), (str, text));
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(ring, on_ring)
#define THINGS_OPTIONS .idle_ns = 2 * TR_SECOND, .grace_ns = TR_SECOND
struct thing_state;
static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message);
#include "support/things.h"

static tr_next on_ring(tr_self *self, struct thing_state *state, const struct ring *message)
{
    (void)self;
    ck_assert_str_eq(message->text, "a text of some length, so that it takes memory of its own");
    state->other++;
    return TR_SAME;
}

static tr_next change(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct ring *ring;
    char key[16];
    state->value += n;
    snprintf(key, sizeof key, "k%d", (int)(state->value % 3));
    tr_kv_put(self, (tr_bytes){key, 2}, (tr_bytes){"some value", 10});
    tr_alarm_after(self,
                   "a",
                   5 * TR_SECOND,
                   ring,
                   .text = "a text of some length, so that it takes memory of its own");
    tr_queue_push(self, "q", ring, .n = n);
    if (n == 2)
        tr_save(self);
    if (tr_queue_receive(self, "q", ring, 0, &ring) != TR_OK)
        return tr_fail(self, TR_NO_MEMORY, "it cannot be received");
    return tr_reply(self, acted, .value = state->value);
}

static int unlucky; /* lives in which something was not acknowledged */
static int64_t acknowledged;
static int64_t possible;

static void change_once(int64_t n)
{
    thing_ref ref;
    const struct acted *acted;
    possible += n;
    if (tr_try_durable(test, &ref, thing, "a") != TR_OK)
        return;
    act_ask ask = things_ask(ref, change, n);
    if (tr_try_await(test, ask, &acted) == TR_OK)
        acknowledged += n;
}

/* A life: made, changed, asleep, awake, changed, woken by its alarm. */
static void live(void)
{
    change_once(1);
    change_once(2);
    tr_kit_advance(kit, 3 * TR_SECOND);
    change_once(1);
    tr_kit_advance(kit, 10 * TR_SECOND);
    change_once(2);
    tr_kit_advance(kit, 10 * TR_SECOND);
}

static void live_with(uint64_t seed, uint64_t nth, bool and_all_after)
{
    acknowledged = 0;
    possible = 0;
    things_begin(seed);
    tr_kit_settle(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    live();
    tr_kit_fail_allocation(kit, 0, false);
    unlucky += acknowledged < possible;
    tr_kit_advance(kit, TR_MINUTE);
    int64_t value = 0;
    ck_assert_int_eq(things_try("a", thing_add, 0, &value), TR_OK);
    ck_assert_msg(value >= acknowledged && value <= possible,
                  "%llu: %lld is not within %lld and %lld",
                  (unsigned long long)nth,
                  (long long)value,
                  (long long)acknowledged,
                  (long long)possible);
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

TEST(each_allocation_may_fail, "K-09")
{
    uint64_t count = allocations_of_a_life();
    ck_assert_uint_gt(count, 50);
    uint64_t step = TEST_HAS_SANITIZER ? 1 + count / 100 : 1;
    for (uint64_t nth = 1; nth <= count; nth += step)
        live_with(1, nth, false);
    ck_assert_int_gt(unlucky, 5);
}

TEST(all_memory_may_be_gone_for_a_while, "K-09")
{
    uint64_t count = allocations_of_a_life();
    uint64_t step = 1 + count / (TEST_HAS_SANITIZER ? 30 : 200);
    for (uint64_t nth = 1; nth <= count; nth += step)
        live_with(1, nth, true);
    ck_assert_int_gt(unlucky, 5);
}

SUITE("durable without memory", each_allocation_may_fail, all_memory_may_be_gone_for_a_while)
