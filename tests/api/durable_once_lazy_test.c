/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id of a kind that stores later: an answer and its effect are stored together, or both are lost.
 */
#define THINGS_OPTIONS                                                                             \
    .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND, .durability = TR_SAVE_INTERVAL
#include "support/things.h"

enum { SEEDS = TEST_SEEDS(10) };

static int calls;

static tr_next add(tr_self *self, struct thing_state *state, int64_t n)
{
    calls++;
    return thing_add(self, state, n);
}

static tr_next look(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->value);
}

static int64_t once(const char *id, thing_call *call)
{
    const struct acted *acted;
    act_ask ask = tr_ask_once_within(
        test, TR_HOUR, thing, "a", id, act, .call = (uint64_t)(uintptr_t)call, .n = 5);
    ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
    return acted->value;
}

TEST(a_repeat_gets_an_answer_that_is_not_stored_yet, "K-14", "K-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        calls = 0;
        things_begin(seed);
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(once("x", add), 5);
            ck_assert_int_eq(once("y", add), 10);
            tr_kit_advance(kit, i * 700 * TR_MILLISECOND);
        }
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(once("x", add), 5);
        ck_assert_int_eq(calls, 2);
        ck_assert_int_eq(things_do("a", look, 0), 10);
        things_end();
    }
}

TEST(what_a_kill_loses_is_done_once_again, "K-14", "K-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        calls = 0;
        things_begin(seed);
        ck_assert_int_eq(once("w", add), 5);
        tr_kit_advance(kit, 2 * TR_SECOND); /* stored */
        ck_assert_int_eq(once("x", add), 10);
        tr_kill(test, things_of("a"));
        tr_kit_settle(kit);
        ck_assert_int_eq(once("w", add), 5);
        ck_assert_int_eq(once("x", add), 10);
        ck_assert_int_eq(calls, 3);
        ck_assert_int_eq(things_do("a", look, 0), 10);
        things_end();
    }
}

/* A failure takes back its own part only: finished parts are stored with their answers. */
TEST(a_failure_loses_no_answer_of_others, "K-14", "K-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        calls = 0;
        things_begin(seed);
        ck_assert_int_eq(once("x", add), 5);
        ck_assert_int_eq(things_try("a", thing_fail, 0, NULL), TR_FAILED);
        ck_assert_int_eq(once("x", add), 5);
        ck_assert_int_eq(calls, 1);
        ck_assert_int_eq(things_do("a", look, 0), 5);
        things_end();
    }
}

SUITE("durable once, stored later", a_repeat_gets_an_answer_that_is_not_stored_yet,
      what_a_kill_loses_is_done_once_again, a_failure_loses_no_answer_of_others)
