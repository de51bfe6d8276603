/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A limit of the memory of durable actors that are awake: those that have been idle for longest sleep first.
 */
#include "support/things.h"

enum { KEYS = 40, LARGE = 100 * 1000 };

static tr_next grow(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)tr_alloc(self, (size_t)n);
    state->value++;
    return tr_reply(self, acted, .value = state->value);
}

static void key_make(char key[16], int i)
{
    snprintf(key, 16, "k%d", i);
}

static bool is_awake(int i)
{
    char path[64];
    snprintf(path, sizeof path, "/system/durable/thing/k%d", i);
    return tr_find(test, thing, path).bits != 0;
}

static int count_awake(void)
{
    int awake = 0;
    for (int i = 0; i < KEYS; i++)
        awake += is_awake(i);
    return awake;
}

static void fill(int64_t bytes)
{
    char key[16];
    for (int i = 0; i < KEYS; i++) {
        key_make(key, i);
        things_do(key, grow, bytes);
        tr_kit_settle(kit);
    }
}

TEST(those_idle_for_longest_sleep_when_there_is_too_much_memory, "Z-04")
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        things_begin_with(
            (tr_kit_options){.seed = seed, .workers = 1, .awake_bytes_max = 10 * LARGE});
        fill(LARGE);
        int awake = count_awake();
        ck_assert_int_le(awake, 10);
        ck_assert_int_ge(awake, 2);
        ck_assert(is_awake(KEYS - 1));
        ck_assert(!is_awake(0));
        /* They are served all the same, with what they had. */
        char key[16];
        for (int i = 0; i < KEYS; i++) {
            key_make(key, i);
            ck_assert_int_eq(things_do(key, grow, 1), 2);
        }
        things_end();
    }
}

TEST(small_ones_are_within_the_same_limit, "")
{
    things_begin_with((tr_kit_options){.seed = 1, .workers = 2, .awake_bytes_max = 10 * LARGE});
    fill(1);
    ck_assert_int_eq(count_awake(), KEYS);
    things_end();
}

TEST(one_that_is_larger_than_the_limit_stays_while_it_is_alone, "")
{
    things_begin_with((tr_kit_options){.seed = 1, .workers = 1, .awake_bytes_max = LARGE});
    thing_ref ref = things_of("k0");
    ck_assert_int_eq(things_do("k0", grow, 2 * LARGE), 1);
    tr_kit_settle(kit);
    ck_assert_int_eq(things_do("k0", grow, 2 * LARGE), 2);
    ck_assert_uint_eq(things_of("k0").bits, ref.bits);
    /* Who is there last stays: the other one has been idle for longer. */
    ck_assert_int_eq(things_do("k1", grow, 2 * LARGE), 1);
    tr_kit_settle(kit);
    ck_assert(!is_awake(0));
    things_end();
}

TEST(memory_that_was_given_back_counts_no_more, "")
{
    things_begin_with((tr_kit_options){.seed = 1, .workers = 1, .awake_bytes_max = 10 * LARGE});
    for (int round = 0; round < 5; round++) {
        fill(LARGE);
        tr_kit_advance(kit, TR_MINUTE); /* all sleep */
        ck_assert_int_eq(count_awake(), 0);
    }
    fill(1);
    ck_assert_int_eq(count_awake(), KEYS);
    things_end();
}

SUITE("durable room", those_idle_for_longest_sleep_when_there_is_too_much_memory,
      small_ones_are_within_the_same_limit,
      one_that_is_larger_than_the_limit_stays_while_it_is_alone,
      memory_that_was_given_back_counts_no_more)
