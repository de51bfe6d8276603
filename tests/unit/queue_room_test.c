/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The word of a room: four fields that never leak into each other, held against plain integers.
 */
#include "support/test.h"

#include <inttypes.h>

#include "base/rng.h"
#include "queue/room.h"

enum { GENERATIONS = 1 << 14, LOWEST = -(1 << 23), HIGHEST = (1 << 23) - 1 };

/* What the word says, in plain integers. */
struct plain {
    uint32_t generation;
    uint32_t policy;
    int32_t messages;
    int32_t lines;
};

static void check(const struct room *room, const struct plain *plain)
{
    uint64_t word = room_load(room);
    ck_assert_int_eq(room_messages(word), plain->messages);
    ck_assert_int_eq(room_lines(word), plain->lines);
    ck_assert_uint_eq(room_policy(word), plain->policy);
    ck_assert(room_is_of(word, plain->generation));
    ck_assert(!room_is_of(word, plain->generation + 1));
    ck_assert(!room_is_of(word, plain->generation - 1));
}

static void open(struct room *room, const struct plain *plain)
{
    room_open(room, plain->generation, plain->policy, plain->messages, plain->lines);
    check(room, plain);
}

static const int32_t edges[] = {
    LOWEST, LOWEST + 1, -ROOM_LARGEST, -1, 0, 1, 63, 64, 65, 4096, ROOM_LARGEST, HIGHEST};
enum { EDGES = sizeof edges / sizeof edges[0] };
static const uint32_t generations[] = {0, 1, 0x1fff, 0x3fff, 0x4000, 0x7fffffff, UINT32_MAX};
enum { AGES = sizeof generations / sizeof generations[0] };

TEST(every_edge_of_one_field_leaves_the_others_alone, "M-02")
{
    struct room room;
    for (size_t g = 0; g < AGES; g++)
        for (uint32_t policy = 0; policy < 4; policy++)
            for (size_t m = 0; m < EDGES; m++)
                for (size_t l = 0; l < EDGES; l++)
                    open(&room, &(struct plain){generations[g], policy, edges[m], edges[l]});
}

TEST(giving_goes_from_any_edge_to_any_other, "M-02")
{
    struct room room;
    for (size_t from = 0; from < EDGES; from++) {
        for (size_t to = 0; to < EDGES; to++) {
            struct plain plain = {0x3fff, 3, edges[from], edges[to]};
            open(&room, &plain);
            room_give(&room, edges[to] - edges[from], edges[from] - edges[to]);
            check(&room, &(struct plain){0x3fff, 3, edges[to], edges[from]});
        }
    }
}

TEST(each_policy_changes_into_each_other, "M-02")
{
    struct room room;
    for (uint32_t from = 0; from < 4; from++) {
        for (uint32_t to = 0; to < 4; to++) {
            for (size_t g = 0; g < AGES; g++) {
                struct plain plain = {generations[g], from, -1, LOWEST};
                open(&room, &plain);
                room_set_policy(&room, to);
                plain.policy = to;
                check(&room, &plain);
            }
        }
    }
}

TEST(generations_wrap_at_fourteen_bits, "M-02", "LC-14")
{
    struct room room;
    for (uint32_t generation = 0; generation <= 2 * GENERATIONS; generation++) {
        room_open(&room, generation, 3, 1, 1);
        ck_assert_int_eq(room_take(&room, generation + 1, 1, 0, 0), ROOM_STRANGE);
        ck_assert_int_eq(room_take(&room, generation - 1, 1, 0, 0), ROOM_STRANGE);
        ck_assert_int_eq(room_take(&room, generation + GENERATIONS / 2, 1, 64, 64), ROOM_STRANGE);
        check(&room, &(struct plain){generation, 3, 1, 1});
        ck_assert_int_eq(room_take(&room, generation + GENERATIONS, 1, 0, 0), ROOM_TAKEN);
        ck_assert_int_eq(room_take(&room, generation, 1, 0, 0), ROOM_FULL);
    }
}

TEST(room_is_taken_to_the_last_piece_and_not_one_more, "M-02", "MB-01", "MB-02")
{
    struct room room;
    struct plain plain = {7, 2, 3, 100};
    open(&room, &plain);
    /* Lines run out before messages do. */
    ck_assert_int_eq(room_take(&room, 7, 101, 0, 0), ROOM_FULL);
    ck_assert_int_eq(room_take(&room, 7, 100, 0, 0), ROOM_TAKEN);
    ck_assert_int_eq(room_take(&room, 7, 1, 0, 0), ROOM_FULL);
    check(&room, &(struct plain){7, 2, 2, 0});
    ck_assert_int_eq(room_take(&room, 7, 1, 0, 1), ROOM_TAKEN);
    check(&room, &(struct plain){7, 2, 1, -1});
    ck_assert_int_eq(room_take(&room, 7, 1, 0, 1), ROOM_FULL);
    /* And messages before lines. */
    room_give(&room, 0, 101);
    ck_assert_int_eq(room_take(&room, 7, 1, 0, 0), ROOM_TAKEN);
    ck_assert_int_eq(room_take(&room, 7, 1, 0, 0), ROOM_FULL);
    for (int i = 0; i < 64; i++)
        ck_assert_int_eq(room_take(&room, 7, 1, 64, 0), ROOM_TAKEN);
    ck_assert_int_eq(room_take(&room, 7, 1, 64, 0), ROOM_FULL);
    check(&room, &(struct plain){7, 2, -64, 35});
}

TEST(the_largest_bounds_are_taken_and_overdrawn, "M-02")
{
    struct room room;
    open(&room, &(struct plain){0x3fff, 3, ROOM_LARGEST, ROOM_LARGEST});
    ck_assert_int_eq(room_take(&room, 0x3fff, ROOM_LARGEST, 0, 0), ROOM_TAKEN);
    check(&room, &(struct plain){0x3fff, 3, ROOM_LARGEST - 1, 0});
    ck_assert_int_eq(room_take(&room, 0x3fff, 131073, 0, 131073 + 64), ROOM_TAKEN);
    check(&room, &(struct plain){0x3fff, 3, ROOM_LARGEST - 2, -131073});
    /* A bound that becomes the smallest while all of the largest is taken. */
    room_give(&room, 2 - 2 * ROOM_LARGEST, 1 - ROOM_LARGEST);
    check(&room, &(struct plain){0x3fff, 3, -ROOM_LARGEST, 1 - ROOM_LARGEST - 131073});
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
        return (int32_t)rng_below(rng, 2 * ROOM_LARGEST);
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

static void random_step(struct rng *rng, struct room *room, struct plain *plain)
{
    int32_t messages = some(rng);
    int32_t lines = some(rng);
    uint32_t other = plain->generation + 1 + (uint32_t)rng_below(rng, GENERATIONS - 1);
    switch (rng_below(rng, 8)) {
    case 0: /* a new tenant */
        *plain = (struct plain){(uint32_t)rng_next(rng),
                                (uint32_t)rng_below(rng, 4),
                                messages % (ROOM_LARGEST + 1),
                                lines % (ROOM_LARGEST + 1)};
        open(room, plain);
        break;
    case 1:
        plain->policy = (uint32_t)rng_below(rng, 4);
        room_set_policy(room, plain->policy);
        break;
    case 2:
    case 3: {
        messages = within(plain->messages, rng_below(rng, 2) ? messages : -messages);
        lines = within(plain->lines, rng_below(rng, 2) ? lines : -lines);
        plain->messages += messages;
        plain->lines += lines;
        room_give(room, messages, lines);
        break;
    }
    case 4: {
        int32_t taken = messages;
        int32_t taken_lines = lines;
        room_take_some(room, &taken, &taken_lines);
        ck_assert_int_eq(taken, least(plain->messages, messages));
        ck_assert_int_eq(taken_lines, least(plain->lines, lines));
        plain->messages -= taken;
        plain->lines -= taken_lines;
        break;
    }
    case 5:
        ck_assert_int_eq(room_take(room, other, 0, 64, 64), ROOM_STRANGE);
        break;
    default: {
        int32_t overdraft = (int32_t)rng_below(rng, 2) * 64;
        bool fits = plain->messages + overdraft >= 1 && plain->lines + overdraft >= lines;
        ck_assert_int_eq(room_take(room, plain->generation, lines, overdraft, overdraft),
                         fits ? ROOM_TAKEN : ROOM_FULL);
        plain->messages -= fits;
        plain->lines -= fits ? lines : 0;
        break;
    }
    }
    check(room, plain);
}

TEST(random_use_agrees_with_plain_integers, "M-02")
{
    struct rng rng;
    struct room room;
    struct plain plain = {1, 0, 100, 100};
    rng_init(&rng, test_seed());
    open(&room, &plain);
    uint64_t steps = test_scale(1000000, 100000000);
    for (uint64_t i = 0; i < steps; i++)
        random_step(&rng, &room, &plain);
}

SUITE("queue room", every_edge_of_one_field_leaves_the_others_alone,
      giving_goes_from_any_edge_to_any_other, each_policy_changes_into_each_other,
      generations_wrap_at_fourteen_bits, room_is_taken_to_the_last_piece_and_not_one_more,
      the_largest_bounds_are_taken_and_overdrawn, random_use_agrees_with_plain_integers)
