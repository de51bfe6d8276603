/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The states of actors, of all sizes: zero at the start, each actor's own, and gone with it.
 */
#include "support/stage.h"

TR_MESSAGE(mark, (u8, with));
TR_MESSAGE(compare, (u8, with));
TR_MESSAGE(turn_into);
TR_MESSAGE(fill, (i32, workers), (u8, first));

static unsigned zeros;
static unsigned same;
static unsigned wrong;

static bool is_all(const void *state, size_t size, uint8_t value)
{
    const uint8_t *bytes = state;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

/* The actors are on one thread, that of the kit. */
static tr_next on_mark_any(void *state, size_t size, uint8_t with)
{
    if (is_all(state, size, 0))
        zeros++;
    else
        wrong++;
    memset(state, with, size);
    return TR_SAME;
}

static tr_next on_compare_any(const void *state, size_t size, uint8_t with)
{
    if (is_all(state, size, with))
        same++;
    else
        wrong++;
    return TR_SAME;
}

#define SIZED(name, count, next)                                                                   \
    struct name {                                                                                  \
        uint8_t bytes[count];                                                                      \
    };                                                                                             \
    TR_BEHAVIOR_DECLARE(next);                                                                     \
    TR_ACTOR(name, mark, compare, turn_into);                                                      \
    static tr_next name##_mark(struct name *state, const struct mark *message)                     \
    {                                                                                              \
        return on_mark_any(state, sizeof *state, message->with);                                   \
    }                                                                                              \
    static tr_next name##_compare(struct name *state, const struct compare *message)               \
    {                                                                                              \
        return on_compare_any(state, sizeof *state, message->with);                                \
    }                                                                                              \
    static tr_next name##_turn(tr_self *self)                                                      \
    {                                                                                              \
        return tr_become(self, next);                                                              \
    }                                                                                              \
    TR_BEHAVIOR(name,                                                                              \
                struct name,                                                                       \
                TR_ON(mark, name##_mark),                                                          \
                TR_ON(compare, name##_compare),                                                    \
                TR_ON(turn_into, name##_turn))

SIZED(s8, 8, s17);
SIZED(s17, 17, s24);
SIZED(s24, 24, s32);
SIZED(s32, 32, s33);
SIZED(s33, 33, s64);
SIZED(s64, 64, s65);
SIZED(s65, 65, s200);
SIZED(s200, 200, s8);

enum { KINDS = 8, CROWD = 200 };

static tr_ref crowd[CROWD];

TR_ACTOR(nursery, fill);
static tr_next on_fill(tr_self *self, const struct fill *fill)
{
    const tr_behavior *const kinds[KINDS] = {&tr_behavior_s8,
                                             &tr_behavior_s17,
                                             &tr_behavior_s24,
                                             &tr_behavior_s32,
                                             &tr_behavior_s33,
                                             &tr_behavior_s64,
                                             &tr_behavior_s65,
                                             &tr_behavior_s200};
    for (int i = 0; i < CROWD; i++) {
        const tr_spawn_args args = {.size = sizeof args,
                                    .behavior = kinds[(i + fill->first) % KINDS],
                                    .worker = i % fill->workers};
        crowd[i] = tr_self_spawn(self, &args);
    }
    return TR_SAME;
}
TR_BEHAVIOR(nursery, void, TR_ON(fill, on_fill));

static uint8_t mark_of(int i)
{
    return (uint8_t)(1 + i % 251);
}

static void look_at_all(struct stage *stage)
{
    zeros = same = wrong = 0;
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(tr_tell(stage->client, crowd[i], mark, .with = mark_of(i)), TR_OK);
    tr_kit_settle(stage->kit);
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(tr_tell(stage->client, crowd[i], compare, .with = mark_of(i)), TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(zeros, CROWD);
    ck_assert_uint_eq(same, CROWD);
}

static void play_sizes(struct stage *stage)
{
    nursery_ref nursery;
    ck_assert_int_eq(tr_try_spawn(stage->client, &nursery, nursery, NULL), TR_OK);
    /* The second crowd lives where the first one did, with other sizes. */
    for (uint8_t first = 0; first < 2; first++) {
        tr_tell(stage->client, nursery, fill, .workers = stage->workers, .first = first);
        tr_kit_settle(stage->kit);
        look_at_all(stage);
        /* Through all sizes: each begins with zeros. */
        for (int round = 0; round < KINDS; round++) {
            for (int i = 0; i < CROWD; i++)
                ck_assert_int_eq(tr_tell(stage->client, crowd[i], turn_into), TR_OK);
            tr_kit_settle(stage->kit);
            look_at_all(stage);
        }
        for (int i = 0; i < CROWD; i++)
            ck_assert_int_eq(tr_stop(stage->client, crowd[i]), TR_OK);
        tr_kit_settle(stage->kit);
        ck_assert_uint_eq(stage_live(stage), 1);
    }
}

TEST(states_of_all_sizes_are_zero_at_first_and_each_actors_own, "L-03")
{
    stage_play(play_sizes);
}

SUITE("state", states_of_all_sizes_are_zero_at_first_and_each_actors_own)
