/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A storm: trees of actors of every kind that fail, stop, wait, stash, ask and kill at random. When
 * it is over nobody hangs, nothing is lost, and each PreStart has had its one end.
 */
#include "support/kits.h"

enum { CROWD_MAX = 4096 };

TR_MESSAGE(grow, (u32, level));
TR_MESSAGE(act, (u64, dice));
TR_MESSAGE(ping);
TR_MESSAGE(answer, (u64, dice));
TR_REQUEST(ask, answer, (u64, dice));

static tr_ref crowd[CROWD_MAX];
static size_t crowd_count;
static bool is_calm;
static uint64_t begun;
static uint64_t ended;
static uint64_t pings;
static uint64_t chance_state;

static uint64_t chance(void)
{
    chance_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = chance_state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct soul {
    uint64_t number;
    tr_later later;
    unsigned char body[40];
};

static const tr_behavior *pick_behavior(void);

static tr_next spawn_one(tr_self *self, uint32_t level)
{
    struct grow message = {.level = level};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = pick_behavior(),
                                .worker = (int)(chance() % (uint64_t)(home + 1)),
                                .setup_type = &tr_type_grow,
                                .setup = &message};
    uint64_t bits = 0;
    if (crowd_count < CROWD_MAX && tr_self_try_spawn(self, &args, &bits) == TR_OK)
        crowd[crowd_count++] = tr_ref_from_bits(bits);
    return TR_SAME;
}

static bool is_bad_luck(uint64_t odds)
{
    return !is_calm && chance() % odds == 0;
}

static tr_next blow(tr_self *self)
{
    return tr_fail(self, chance() % 2 ? TR_BAD_DATA : TR_REFUSED, "blown away");
}

static void close_soul(void *resource)
{
    (void)resource;
}

static tr_next on_grow(tr_self *self, struct soul *soul, const struct grow *message)
{
    soul->number = chance();
    tr_at_end(self, soul, close_soul);
    for (uint64_t i = message->level ? chance() % 4 : 0; i; i--)
        spawn_one(self, message->level - 1);
    return is_bad_luck(25) ? blow(self) : is_bad_luck(60) ? TR_STOP : TR_SAME;
}

static tr_next on_begin(tr_self *self)
{
    begun++;
    return is_bad_luck(25) ? blow(self) : is_bad_luck(60) ? TR_STOP : TR_SAME;
}

static tr_next on_end(tr_self *self)
{
    ended++;
    return is_bad_luck(10) ? blow(self) : TR_SAME;
}

static tr_next on_again(tr_self *self)
{
    return is_bad_luck(30) ? blow(self) : TR_SAME;
}

static tr_ref anybody(void)
{
    return crowd[chance() % crowd_count];
}

static tr_next on_act(tr_self *self, struct soul *soul, const struct act *message)
{
    tr_ref children[8];
    size_t count;
    if (is_calm)
        return TR_SAME;
    switch (message->dice % 18) {
    case 0:
    case 1:
    case 2:
        return blow(self);
    case 3:
        return TR_STOP;
    case 4:
        return tr_sleep(self, (tr_time)(message->dice / 32 % 50) * MS) == TR_OK ? blow(self)
                                                                                : TR_SAME;
    case 5:
        return tr_stash(self);
    case 6:
        (void)tr_unstash(self, SIZE_MAX);
        return TR_SAME;
    case 7:
        return spawn_one(self, 1);
    case 8: {
        const struct answer *reply;
        ask_ask asked = tr_ask_within(self, 20 * MS, anybody(), ask, .dice = chance());
        return tr_try_await(self, asked, &reply) == TR_OK ? TR_SAME : blow(self);
    }
    case 9:
        count = tr_children(self, children, 8);
        for (size_t i = 0; i < count && i < 8; i++)
            (void)tr_stop(self, children[i]);
        return TR_SAME;
    case 10:
        count = tr_children(self, children, 8);
        if (count)
            (void)tr_kill(self, children[chance() % (count < 8 ? count : 8)]);
        return TR_SAME;
    case 11:
        tr_timer_once(self, "act", (tr_time)(chance() % 30) * MS, act, .dice = chance());
        return TR_SAME;
    case 12:
        (void)tr_suspend(self, anybody());
        return TR_SAME;
    case 13:
        (void)tr_resume(self, anybody());
        return TR_SAME;
    case 14:
        (void)tr_reply_to(self, soul->later, answer, .dice = 1);
        return TR_SAME;
    case 15:
        (void)tr_alloc(self, 3000);
        return TR_SAME;
    default:
        (void)tr_tell(self, anybody(), act, .dice = chance());
        return TR_SAME;
    }
}

static tr_next on_ask(tr_self *self, struct soul *soul, const struct ask *message)
{
    if (is_calm)
        return tr_reply(self, answer, .dice = 0);
    switch (message->dice % 6) {
    case 0:
        return blow(self);
    case 1:
        soul->later = tr_reply_later(self);
        return TR_SAME;
    case 2:
        return tr_stash(self);
    case 3:
        (void)tr_sleep(self, 10 * MS);
        break;
    default:
        break;
    }
    return tr_reply(self, answer, .dice = message->dice);
}

static tr_next on_ping(void)
{
    pings++;
    return TR_SAME;
}

static tr_directive decide_at_random(tr_self *self, const tr_error *cause)
{
    if (is_bad_luck(30))
        tr_crash(self, TR_FAILED, "undecided");
    return cause->status == TR_REFUSED ? TR_RESUME : (tr_directive)(chance() % 4);
}

#define STORM_ROWS                                                                                 \
    TR_SETUP_WITH(grow, on_grow), TR_ON(act, on_act), TR_ON(ask, on_ask), TR_ON(ping, on_ping),    \
        TR_ON(tr_pre_start, on_begin), TR_ON(tr_post_stop, on_end), TR_ON(tr_pre_restart, on_end), \
        TR_ON(tr_post_restart, on_again), TR_ON(tr_child_failed, on_again)

TR_BEHAVIOR(one, struct soul, STORM_ROWS, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 20));
TR_BEHAVIOR(all, struct soul, STORM_ROWS, TR_SUPERVISE(TR_ALL_FOR_ONE, .restarts_max = 20),
            TR_OPTIONS(.restart = TR_PERMANENT));
TR_BEHAVIOR(rest, struct soul, STORM_ROWS,
            TR_SUPERVISE(TR_REST_FOR_ONE, .restarts_max = 20,
                         .backoff = {.initial_ns = MS, .max_ns = 20 * MS, .jitter = 0.5}));
TR_BEHAVIOR(random_all, struct soul, STORM_ROWS,
            TR_SUPERVISE(TR_ALL_FOR_ONE, .decide = decide_at_random, .restarts_max = 20,
                         .backoff = {.initial_ns = 5 * MS}));
TR_BEHAVIOR(random_one, struct soul, STORM_ROWS,
            TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = decide_at_random),
            TR_OPTIONS(.restart = TR_PERMANENT, .ordering = TR_BY_KIND));
TR_BEHAVIOR(weak, struct soul, STORM_ROWS, TR_SUPERVISE(TR_REST_FOR_ONE),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(frugal, struct soul, STORM_ROWS, TR_SUPERVISE(TR_ALL_FOR_ONE, .restarts_max = 20),
            TR_OPTIONS(.budget_bytes = 8000, .tree_budget_bytes = 40000));

static const tr_behavior *pick_behavior(void)
{
    static const tr_behavior *const all[] = {&tr_behavior_one,
                                             &tr_behavior_all,
                                             &tr_behavior_rest,
                                             &tr_behavior_random_all,
                                             &tr_behavior_random_one,
                                             &tr_behavior_weak,
                                             &tr_behavior_frugal};
    return all[chance() % (sizeof all / sizeof *all)];
}

static void spawn_top(void)
{
    struct grow message = {.level = 3};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = pick_behavior(),
                                .worker = (int)(chance() % (uint64_t)(home + 1)),
                                .setup_type = &tr_type_grow,
                                .setup = &message};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    crowd[crowd_count++] = tr_ref_from_bits(bits);
}

static void calm_down(uint64_t seed)
{
    is_calm = true;
    for (int i = 0; i < 20; i++) {
        for (size_t j = 0; j < crowd_count; j++)
            (void)tr_resume(test, crowd[j]);
        tr_kit_advance(kit, 2 * TR_MINUTE);
    }
    tr_kit_check(kit);
    for (size_t i = 0; i < crowd_count; i++) {
        pings = 0;
        tr_status status = tr_tell(test, crowd[i], ping);
        tr_kit_settle(kit);
        ck_assert_msg(status == TR_STOPPED || pings == 1,
                      "%d workers, seed %d: actor %d, %" PRIx64 ", hangs",
                      home + 1,
                      (int)seed,
                      (int)i,
                      crowd[i].bits);
    }
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_msg(begun == ended + counters.live,
                  "%d workers, seed %d: %d began, %d ended, %d live",
                  home + 1,
                  (int)seed,
                  (int)begun,
                  (int)ended,
                  (int)counters.live);
}

static void storm(int workers, uint64_t seed, bool is_short)
{
    kit_open_anywhere(workers, seed);
    chance_state = seed;
    crowd_count = 0;
    begun = ended = 0;
    is_calm = false;
    for (int i = 0; i < 4; i++)
        spawn_top();
    for (int i = 0; i < 150; i++) {
        (void)tr_tell(test, anybody(), act, .dice = chance());
        for (uint64_t steps = chance() % 6; steps; steps--)
            tr_kit_step(kit);
        if (is_short && chance() % 4 == 0)
            tr_kit_fail_allocation(kit, 1 + chance() % 20, chance() % 4 == 0);
        else if (is_short && chance() % 2 == 0)
            tr_kit_fail_allocation(kit, 0, false);
        if (chance() % 8 == 0)
            tr_kit_advance(kit, (tr_time)(chance() % 30) * MS);
        if (chance() % 30 == 0)
            (void)tr_kill(test, anybody());
        if (chance() % 30 == 0)
            (void)tr_stop(test, anybody());
    }
    tr_kit_fail_allocation(kit, 0, false);
    calm_down(seed);
    kit_close();
    ck_assert_uint_eq(begun, ended);
}

TEST(after_a_storm_nobody_hangs_and_nothing_is_lost, "L-05", "LC-06", "S-04", "S-07", "S-09",
     "SU-15", "SU-19")
{
    uint64_t rounds = test_scale(TEST_HAS_SANITIZER ? 40 : 200, 4000);
    uint64_t seed = test_seed() % 1000000;
    for (uint64_t i = 0; i < rounds; i++)
        storm(1 + (int)((seed + i) % 4), seed + i, false);
}

TEST(a_storm_without_memory_loses_nothing_either, "L-05", "O-03", "S-04", "S-09")
{
    uint64_t rounds = test_scale(TEST_HAS_SANITIZER ? 40 : 200, 4000);
    uint64_t seed = test_seed() % 1000000;
    for (uint64_t i = 0; i < rounds; i++)
        storm(1 + (int)((seed + i) % 4), seed + i, true);
}

SUITE("supervision storm", after_a_storm_nobody_hangs_and_nothing_is_lost,
      a_storm_without_memory_loses_nothing_either)
