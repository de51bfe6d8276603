/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Native faults of durable actors, on a kit that traps them: what is stored, and what becomes of turns that wait.
 *
 * Not under sanitizers: see tests/api/fault_test.c.
 */
#include "support/things.h"

#include "actor/system/kit.h"

enum { SEEDS = 20 };

static void begin(uint64_t seed)
{
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    const tr_kit_options options = {.size = sizeof options,
                                    .seed = seed,
                                    .durable = TR_DURABLES(thing),
                                    .log = TR_KIT_LOG_NONE};
    const struct kit_stacks stacks = {.traps_faults = true};
    things_on_created = things_on_awake = things_on_sleeping = NULL;
    things_on_destroying = things_on_run = NULL;
    kit = tr__kit_new(&options, &stacks);
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static char *volatile nowhere = (char *)8;
static int slips;

/* Changes what is stored, waits if `n` is not 0, and writes to an address that is not mapped. */
static tr_next slip(tr_self *self, struct thing_state *state, int64_t n)
{
    slips++;
    state->value += 1000;
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    if (n && tr_sleep(self, n) != TR_OK)
        return TR_SAME;
    *(volatile char *)nowhere = 1;
    return tr_reply(self, acted, .value = 0);
}

static tr_next slip_once(tr_self *self, struct thing_state *state, int64_t n)
{
    return slips ? TR_SAME : slip(self, state, n);
}

static tr_next has_key(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    tr_bytes value;
    return tr_reply(self, acted, .value = tr_kv_get(self, (tr_bytes){"k", 1}, &value));
}

/* Nothing of the turns that faulted is stored. */
static void check_stored(int64_t value)
{
    ck_assert_int_eq(things_do("a", thing_add, 0), value);
    ck_assert_int_eq(things_do("a", has_key, 0), false);
}

TEST(a_fault_in_a_durable_turn_is_its_failure_and_nothing_of_it_is_stored, "S-10", "K-01")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        ck_assert_int_eq(things_try("a", slip, 0, NULL), TR_FAILED);
        check_stored(5);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 2);
        things_end();
    }
}

TEST(a_durable_turn_that_has_waited_may_fault, "S-10", "K-01")
{
    begin(1);
    ck_assert_int_eq(things_do("a", thing_add, 5), 5);
    ck_assert_int_eq(things_try("a", slip, TR_SECOND, NULL), TR_FAILED);
    /* the part before the wait is stored */
    ck_assert_int_eq(things_do("a", thing_add, 0), 1005);
    ck_assert_int_eq(things_do("a", has_key, 0), true);
    things_end();
}

TEST(hooks_of_a_durable_actor_may_fault, "S-10", "K-01", "SL-16")
{
    static thing_call **const hooks[] = {&things_on_created,
                                         &things_on_awake,
                                         &things_on_run,
                                         &things_on_sleeping,
                                         &things_on_destroying};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
            begin(seed);
            slips = 0;
            *hooks[i] = slip_once;
            (void)things_try("a", thing_add, 0, NULL); /* fails if the start does */
            tr_kit_advance(kit, TR_MINUTE);            /* it sleeps now */
            check_stored(0);
            ck_assert_int_eq(things_do("a", thing_destroy, 0), TR_OK);
            tr_kit_advance(kit, TR_MINUTE);
            ck_assert_int_eq(slips, 1);
            check_stored(0);
            things_end();
        }
    }
}

static tr_next wait_long(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)tr_sleep(self, n);
    return tr_reply(self, acted, .value = state->value);
}

/*
 * A barrier. So tr_sleeping, whose turn begins in the first wait, waits for the end of this turn. After the second
 * wait has begun, this turn is behind that one in the list of turns that wait.
 */
static tr_next wait_alone(tr_self *self, struct thing_state *state, int64_t n)
{
    ck_assert_int_eq(tr_go_to_sleep(self), TR_OK);
    (void)tr_sleep(self, TR_SECOND);
    return wait_long(self, state, n);
}

TEST(turns_of_a_durable_actor_that_wait_are_abandoned, "S-10", "Y-02")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(seed);
        thing_ref ref = things_of("a");
        ck_assert_int_eq(things_do("a", thing_add, 5), 5);
        act_aside_ask slipping = things_ask_aside(ref, slip, 2 * TR_SECOND);
        act_aside_ask aside = things_ask_aside(ref, wait_long, TR_HOUR);
        act_ask alone = things_ask(ref, wait_alone, TR_HOUR);
        tr_kit_advance(kit, 3 * TR_SECOND);
        const struct acted *acted;
        ck_assert_int_eq(tr_try_await(test, slipping, &acted), TR_FAILED);
        ck_assert_int_ne(tr_try_await(test, aside, &acted), TR_OK);
        ck_assert_int_ne(tr_try_await(test, alone, &acted), TR_OK);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(things_do("a", thing_add, 0), 1005); /* stored where `slip` waited */
        things_end();
    }
}

static tr_next sleep_and_wait(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)tr_go_to_sleep(self);
    return wait_long(self, state, n);
}

static tr_next wait_in_hook(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    (void)tr_sleep(self, TR_SECOND);
    state->other++;
    return TR_SAME;
}

/* Turns of all kinds, in any order, at any time; the kit accounts for messages and memory. */
TEST(durable_actors_live_through_many_faults, "S-10", "Y-02", "K-01")
{
    static thing_call *const calls[] = {slip,
                                        slip,
                                        wait_long,
                                        sleep_and_wait,
                                        thing_add,
                                        thing_go_to_sleep,
                                        thing_destroy,
                                        thing_fail};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t random = seed;
        begin(seed);
        slips = 0;
        things_on_sleeping = things_on_destroying = wait_in_hook;
        for (int i = 0; i < 300; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint32_t dice = (uint32_t)(random >> 33);
            char key[] = {(char)('a' + dice % 3), '\0'};
            thing_call *call = calls[dice / 3 % 8];
            int64_t n = dice / 24 % 4 * TR_SECOND;
            thing_ref ref;
            /* refused while the key is destroyed */
            tr_status status = tr_try_durable(test, &ref, thing, key);
            if (status == TR_OK && dice / 96 % 3 == 0)
                (void)things_ask(ref, call, n);
            else if (status == TR_OK && dice / 96 % 3 == 1)
                (void)things_ask_aside(ref, call, n);
            else if (status == TR_OK)
                (void)things_send(ref, call, n);
            tr_kit_advance(kit, dice / 288 % 2000 * TR_MILLISECOND);
        }
        ck_assert_int_ge(slips, 50);
        tr_kit_advance(kit, TR_HOUR);
        for (char key[] = "a"; *key < 'd'; ++*key)
            (void)things_do(key, thing_add, 0);
        things_end();
    }
}

SUITE("faults of durable actors",
      a_fault_in_a_durable_turn_is_its_failure_and_nothing_of_it_is_stored,
      a_durable_turn_that_has_waited_may_fault, hooks_of_a_durable_actor_may_fault,
      turns_of_a_durable_actor_that_wait_are_abandoned, durable_actors_live_through_many_faults)
