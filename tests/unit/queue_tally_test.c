/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sums in parts: what stays in a part, what is handed in, and that nothing is lost between threads.
 */
#include "support/test.h"

#include <pthread.h>

#include "base/rng.h"
#include "queue/tally.h"

enum { STEP = 64 * 1024, PARTS = 4, ADDS = 200000 };

struct part {
    struct tally_part part;
    char rest[56];
};

static struct tally tally;
static struct part parts[PARTS];

static void begin(void)
{
    tally_init(&tally);
    for (int i = 0; i < PARTS; i++)
        tally_part_init(&parts[i].part);
}

static int64_t handed_in(void)
{
    return (int64_t)atom64_load(&tally.handed_in, ATOM_RELAXED);
}

static int64_t sum(void)
{
    return tally_read(&tally, &parts[0].part, PARTS, sizeof *parts);
}

TEST(a_part_keeps_less_than_a_step, "O-06")
{
    begin();
    tally_add(&tally, &parts[0].part, STEP - 1, STEP);
    ck_assert_int_eq(handed_in(), 0);
    ck_assert_int_eq(tally_held(&parts[0].part), STEP - 1);
    tally_add(&tally, &parts[0].part, 1, STEP);
    ck_assert_int_eq(handed_in(), STEP);
    ck_assert_int_eq(tally_held(&parts[0].part), 0);
    tally_add(&tally, &parts[1].part, -STEP + 1, STEP);
    ck_assert_int_eq(handed_in(), STEP);
    ck_assert_int_eq(sum(), 1);
    tally_add(&tally, &parts[1].part, -1, STEP);
    ck_assert_int_eq(handed_in(), 0);
    ck_assert_int_eq(sum(), 0);
}

TEST(a_flush_hands_in_what_is_left, "O-06")
{
    begin();
    tally_add(&tally, &parts[2].part, 5, STEP);
    tally_add(&tally, &parts[3].part, -7, STEP);
    ck_assert_int_eq(tally_near(&tally, &parts[2].part), 5);
    ck_assert_int_eq(tally_near(&tally, &parts[3].part), -7);
    ck_assert_int_eq(sum(), -2);
    tally_flush(&tally, &parts[2].part);
    tally_flush(&tally, &parts[2].part);
    tally_flush(&tally, &parts[3].part);
    ck_assert_int_eq(handed_in(), -2);
    ck_assert_int_eq(sum(), -2);
}

struct adder {
    struct part *part;
    uint64_t seed;
    int64_t added;
    int64_t worst; /* how far a look at all parts was off the bounds, 0 for never */
};

static void *add(void *context)
{
    struct adder *adder = context;
    struct rng rng;
    rng_init(&rng, adder->seed);
    for (int i = 0; i < ADDS; i++) {
        int64_t amount = (int64_t)rng_below(&rng, 2 * 9000) - 9000;
        /* Each stays between 0 and a million, so the sum stays between bounds that are known. */
        if (adder->added + amount < 0 || adder->added + amount > 1000000)
            amount = -amount;
        adder->added += amount;
        tally_add(&tally, &adder->part->part, amount, STEP);
        int64_t seen = sum();
        if (seen < -PARTS * (STEP + 9000) || seen > PARTS * (1000000 + STEP + 9000))
            adder->worst = seen;
    }
    tally_flush(&tally, &adder->part->part);
    return NULL;
}

TEST(threads_lose_nothing, "O-06")
{
    begin();
    pthread_t threads[PARTS];
    struct adder adders[PARTS];
    int64_t expected = 0;
    for (int i = 0; i < PARTS; i++) {
        adders[i] = (struct adder){.part = &parts[i], .seed = (uint64_t)i + 1};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add, &adders[i]), 0);
    }
    for (int i = 0; i < PARTS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        expected += adders[i].added;
        ck_assert_int_eq(adders[i].worst, 0);
    }
    ck_assert_int_eq(handed_in(), expected);
    ck_assert_int_eq(sum(), expected);
}

SUITE("queue tally", a_part_keeps_less_than_a_step, a_flush_hands_in_what_is_left,
      threads_lose_nothing)
