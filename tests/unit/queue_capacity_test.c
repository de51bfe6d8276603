/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The word of a capacity: four fields that never leak into each other, held against plain integers.
 */
#include "support/test.h"

#include <inttypes.h>

#include "base/rng.h"
#include "queue/capacity.h"

enum { GENERATIONS = 1 << 13, LOWEST = -(1 << 23), HIGHEST = (1 << 23) - 1 };

/* What the word says, in plain integers. */
struct plain {
    uint32_t generation;
    uint32_t policy;
    int32_t messages;
    int32_t lines;
};

static void check(const struct capacity *capacity, const struct plain *plain)
{
    uint64_t word = capacity_load(capacity);
    ck_assert_int_eq(capacity_messages(word), plain->messages);
    ck_assert_int_eq(capacity_lines(word), plain->lines);
    ck_assert_uint_eq(capacity_policy(word), plain->policy);
    ck_assert(capacity_is_of(word, plain->generation));
    ck_assert(!capacity_is_of(word, plain->generation + 1));
    ck_assert(!capacity_is_of(word, plain->generation - 1));
}

static void open(struct capacity *capacity, const struct plain *plain)
{
    capacity_open(capacity, plain->generation, plain->policy, plain->messages, plain->lines);
    check(capacity, plain);
}

static const int32_t edges[] = {
    LOWEST, LOWEST + 1, -CAPACITY_LARGEST, -1, 0, 1, 63, 64, 65, 4096, CAPACITY_LARGEST, HIGHEST};
enum { EDGES = sizeof edges / sizeof edges[0] };
static const uint32_t generations[] = {0, 1, 0xfff, 0x1fff, 0x2000, 0x7fffffff, UINT32_MAX};
enum { AGES = sizeof generations / sizeof generations[0] };

TEST(every_edge_of_one_field_leaves_the_others_alone, "M-02")
{
    struct capacity capacity;
    for (size_t g = 0; g < AGES; g++)
        for (uint32_t policy = 0; policy < CAPACITY_POLICIES; policy++)
            for (size_t m = 0; m < EDGES; m++)
                for (size_t l = 0; l < EDGES; l++)
                    open(&capacity, &(struct plain){generations[g], policy, edges[m], edges[l]});
}

TEST(giving_goes_from_any_edge_to_any_other, "M-02")
{
    struct capacity capacity;
    for (size_t from = 0; from < EDGES; from++) {
        for (size_t to = 0; to < EDGES; to++) {
            struct plain plain = {0x1fff, 7, edges[from], edges[to]};
            open(&capacity, &plain);
            capacity_give(&capacity, edges[to] - edges[from], edges[from] - edges[to]);
            check(&capacity, &(struct plain){0x1fff, 7, edges[to], edges[from]});
        }
    }
}

TEST(each_policy_changes_into_each_other, "M-02")
{
    struct capacity capacity;
    for (uint32_t from = 0; from < CAPACITY_POLICIES; from++) {
        for (uint32_t to = 0; to < CAPACITY_POLICIES; to++) {
            for (size_t g = 0; g < AGES; g++) {
                struct plain plain = {generations[g], from, -1, LOWEST};
                open(&capacity, &plain);
                capacity_set_policy(&capacity, to);
                plain.policy = to;
                check(&capacity, &plain);
            }
        }
    }
}

TEST(generations_wrap_at_thirteen_bits, "M-02", "LC-14")
{
    struct capacity capacity;
    for (uint32_t generation = 0; generation <= 2 * GENERATIONS; generation++) {
        capacity_open(&capacity, generation, 7, 1, 1);
        ck_assert_int_eq(capacity_take(&capacity, generation + 1, 1, 0, 0), CAPACITY_STRANGE);
        ck_assert_int_eq(capacity_take(&capacity, generation - 1, 1, 0, 0), CAPACITY_STRANGE);
        ck_assert_int_eq(capacity_take(&capacity, generation + GENERATIONS / 2, 1, 64, 64),
                         CAPACITY_STRANGE);
        check(&capacity, &(struct plain){generation, 7, 1, 1});
        ck_assert_int_eq(capacity_take(&capacity, generation + GENERATIONS, 1, 0, 0),
                         CAPACITY_TAKEN);
        ck_assert_int_eq(capacity_take(&capacity, generation, 1, 0, 0), CAPACITY_FULL);
    }
}

TEST(room_is_taken_to_the_last_piece_and_not_one_more, "M-02", "MB-01", "MB-02")
{
    struct capacity capacity;
    struct plain plain = {7, 2, 3, 100};
    open(&capacity, &plain);
    /* Lines run out before messages do. */
    ck_assert_int_eq(capacity_take(&capacity, 7, 101, 0, 0), CAPACITY_FULL);
    ck_assert_int_eq(capacity_take(&capacity, 7, 100, 0, 0), CAPACITY_TAKEN);
    ck_assert_int_eq(capacity_take(&capacity, 7, 1, 0, 0), CAPACITY_FULL);
    check(&capacity, &(struct plain){7, 2, 2, 0});
    ck_assert_int_eq(capacity_take(&capacity, 7, 1, 0, 1), CAPACITY_TAKEN);
    check(&capacity, &(struct plain){7, 2, 1, -1});
    ck_assert_int_eq(capacity_take(&capacity, 7, 1, 0, 1), CAPACITY_FULL);
    /* And messages before lines. */
    capacity_give(&capacity, 0, 101);
    ck_assert_int_eq(capacity_take(&capacity, 7, 1, 0, 0), CAPACITY_TAKEN);
    ck_assert_int_eq(capacity_take(&capacity, 7, 1, 0, 0), CAPACITY_FULL);
    for (int i = 0; i < 64; i++)
        ck_assert_int_eq(capacity_take(&capacity, 7, 1, 64, 0), CAPACITY_TAKEN);
    ck_assert_int_eq(capacity_take(&capacity, 7, 1, 64, 0), CAPACITY_FULL);
    check(&capacity, &(struct plain){7, 2, -64, 35});
}

TEST(the_largest_bounds_are_taken_and_overdrawn, "M-02")
{
    struct capacity capacity;
    open(&capacity, &(struct plain){0x1fff, 7, CAPACITY_LARGEST, CAPACITY_LARGEST});
    ck_assert_int_eq(capacity_take(&capacity, 0x1fff, CAPACITY_LARGEST, 0, 0), CAPACITY_TAKEN);
    check(&capacity, &(struct plain){0x1fff, 7, CAPACITY_LARGEST - 1, 0});
    ck_assert_int_eq(capacity_take(&capacity, 0x1fff, 131073, 0, 131073 + 64), CAPACITY_TAKEN);
    check(&capacity, &(struct plain){0x1fff, 7, CAPACITY_LARGEST - 2, -131073});
    /* A bound that becomes the smallest while all of the largest is taken. */
    capacity_give(&capacity, 2 - 2 * CAPACITY_LARGEST, 1 - CAPACITY_LARGEST);
    check(&capacity, &(struct plain){0x1fff, 7, -CAPACITY_LARGEST, 1 - CAPACITY_LARGEST - 131073});
}

static int32_t some(struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return (int32_t)rng_below(rng, 4);
    case 1:
        return (int32_t)rng_below(rng, 200);
    case 2:
        return (int32_t)rng_below(rng, 140000);
    default:
        return (int32_t)rng_below(rng, 2 * CAPACITY_LARGEST);
    }
}

static int32_t least(int32_t a, int32_t b)
{
    int32_t less = a < b ? a : b;
    return less < 0 ? 0 : less;
}

static int32_t within(int32_t from, int32_t change)
{
    int64_t to = (int64_t)from + change;
    return to < LOWEST || to > HIGHEST ? 0 : change;
}

static void random_step(struct rng *rng, struct capacity *capacity, struct plain *plain)
{
    int32_t messages = some(rng);
    int32_t lines = some(rng);
    uint32_t other = plain->generation + 1 + (uint32_t)rng_below(rng, GENERATIONS - 1);
    switch (rng_below(rng, 8)) {
    case 0: /* a new tenant */
        *plain = (struct plain){(uint32_t)rng_next(rng),
                                (uint32_t)rng_below(rng, 4),
                                messages % (CAPACITY_LARGEST + 1),
                                lines % (CAPACITY_LARGEST + 1)};
        open(capacity, plain);
        break;
    case 1:
        plain->policy = (uint32_t)rng_below(rng, 4);
        capacity_set_policy(capacity, plain->policy);
        break;
    case 2:
    case 3: {
        messages = within(plain->messages, rng_below(rng, 2) ? messages : -messages);
        lines = within(plain->lines, rng_below(rng, 2) ? lines : -lines);
        plain->messages += messages;
        plain->lines += lines;
        capacity_give(capacity, messages, lines);
        break;
    }
    case 4: {
        int32_t taken = messages;
        int32_t taken_lines = lines;
        capacity_take_some(capacity, &taken, &taken_lines);
        ck_assert_int_eq(taken, least(plain->messages, messages));
        ck_assert_int_eq(taken_lines, least(plain->lines, lines));
        plain->messages -= taken;
        plain->lines -= taken_lines;
        break;
    }
    case 5:
        ck_assert_int_eq(capacity_take(capacity, other, 0, 64, 64), CAPACITY_STRANGE);
        break;
    default: {
        int32_t overdraft = (int32_t)rng_below(rng, 2) * 64;
        bool fits = plain->messages + overdraft >= 1 && plain->lines + overdraft >= lines;
        ck_assert_int_eq(capacity_take(capacity, plain->generation, lines, overdraft, overdraft),
                         fits ? CAPACITY_TAKEN : CAPACITY_FULL);
        plain->messages -= fits;
        plain->lines -= fits ? lines : 0;
        break;
    }
    }
    check(capacity, plain);
}

TEST(random_use_agrees_with_plain_integers, "M-02")
{
    struct rng rng;
    struct capacity capacity;
    struct plain plain = {1, 0, 100, 100};
    rng_init(&rng, test_seed());
    open(&capacity, &plain);
    uint64_t steps = test_scale(1000000, 100000000);
    for (uint64_t i = 0; i < steps; i++)
        random_step(&rng, &capacity, &plain);
}

SUITE("queue capacity", every_edge_of_one_field_leaves_the_others_alone,
      giving_goes_from_any_edge_to_any_other, each_policy_changes_into_each_other,
      generations_wrap_at_thirteen_bits, room_is_taken_to_the_last_piece_and_not_one_more,
      the_largest_bounds_are_taken_and_overdrawn, random_use_agrees_with_plain_integers)
