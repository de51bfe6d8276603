/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who gets how many turns: equals get equal shares, who is in a hurry goes first but not alone, and
 * nobody waits for long among many.
 *
 * Turns are counted on a system whose clock each turn moves by hand, where runs have their full
 * length, and on kits, where a run is one turn and actors of several workers take turns by chance.
 */
#include "support/kits.h"

/* ---- Equals. ---- */

TR_MESSAGE(spin, (u32, index));
TR_MESSAGE(spin_later, (u32, index));
TR_ACTOR(spinner, spin, spin_later);

enum { SPINNERS_MAX = 10000, LONG = TEST_HAS_SANITIZER ? 100000 : 1000000 };

static struct {
    uint64_t turns;
    uint64_t last;    /* the turn of all that was its last one */
    uint64_t longest; /* turns of others between two of its own */
} spinners[SPINNERS_MAX];

static struct hand hand;
static bool has_hand;
static tr_time turn_ns;
static uint64_t turns_left;
static uint64_t turns_done;
static uint64_t normal_turns;
static uint64_t high_turns;

static void turns_begin(uint64_t turns, tr_time cost_ns)
{
    memset(spinners, 0, sizeof spinners);
    turns_left = turns;
    turn_ns = cost_ns;
    turns_done = normal_turns = high_turns = 0;
}

static void turn_count(void)
{
    turns_done++;
    turns_left -= turns_left > 0;
    if (has_hand)
        hand.mono_ns += turn_ns;
}

/* Ready again at once, as long as anybody is. */
static tr_next on_spin(tr_self *self, const struct spin *message)
{
    uint32_t index = message->index;
    uint64_t waited = spinners[index].turns ? turns_done - spinners[index].last : turns_done;
    if (waited > spinners[index].longest)
        spinners[index].longest = waited;
    turn_count();
    normal_turns++;
    spinners[index].turns++;
    spinners[index].last = turns_done;
    if (turns_left)
        tr_tell(self, tr_me(self), spin, .index = index);
    return TR_SAME;
}

static tr_next on_spin_later(tr_self *self, const struct spin_later *message)
{
    (void)tr_timer_once(self, NULL, TR_SECOND, spin, .index = message->index);
    return TR_SAME;
}
TR_BEHAVIOR(spinner, void, TR_ON(spin, on_spin), TR_ON(spin_later, on_spin_later));

/* `in_flight` messages for each: one with many is no more ready than one with one. */
static void spinners_start(tr_client *from, uint32_t count, int workers, uint32_t in_flight)
{
    for (uint32_t i = 0; i < count; i++) {
        spinner_ref spinner;
        ck_assert_int_eq(tr_try_spawn_at(from, &spinner, (int)i % workers, spinner, NULL), TR_OK);
        for (uint32_t k = 0; k < 1 + i % in_flight; k++)
            ck_assert_int_eq(tr_tell(from, spinner, spin, .index = i), TR_OK);
    }
}

static void check_equal(uint32_t count)
{
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        least = spinners[i].turns < least ? spinners[i].turns : least;
        most = spinners[i].turns > most ? spinners[i].turns : most;
    }
    ck_assert_msg(least > 0 && most * 10 <= least * 12,
                  "seed %" PRIu64 ": one had %" PRIu64 " turns, another %" PRIu64,
                  kits_seed,
                  least,
                  most);
}

static void hand_play(uint32_t count, uint32_t in_flight, uint64_t turns, tr_time cost_ns)
{
    has_hand = true;
    hand_open(&hand);
    turns_begin(turns, cost_ns);
    spinners_start(hand.client, count, 1, in_flight);
    while (turns_left)
        ck_assert_int_eq(tr_system_run_once(hand.system, 0), TR_OK);
}

static void hand_end(void)
{
    hand_run(&hand);
    hand_close(&hand);
    has_hand = false;
}

TEST(equals_have_equal_shares_over_ten_seconds, "WP-10", "D-02")
{
    tr_time begin_ns = TR_HOUR; /* as hand_open says */
    hand_play(100, 1, LONG, 10 * TR_SECOND / LONG);
    ck_assert_int_ge(hand.mono_ns - begin_ns, 10 * TR_SECOND);
    check_equal(100);
    hand_end();
    hand_play(100, 70, LONG, 10 * TR_SECOND / LONG);
    check_equal(100);
    hand_end();
}

/* Wherever they are, and also while they go to and fro. */
static void kit_play(int workers, uint32_t count, bool moves, uint64_t seed)
{
    kit_open_as(workers, seed, moves);
    turns_begin((uint64_t)count * (moves ? 5000 : 1000), 0); /* moves are by chance */
    spinners_start(test, count, workers, 3);
    while (turns_left)
        ck_assert(tr_kit_step(kit));
    check_equal(count);
    tr_kit_settle(kit);
    kit_close();
}

TEST(equals_have_equal_shares_on_several_workers, "WP-10", "D-07")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(4); seed++) {
        kit_play(1, 16, false, seed);
        kit_play(2, 16, false, seed);
        kit_play(4, 16, false, seed);
        kit_play(2, 16, true, seed);
        kit_play(4, 16, true, seed);
    }
}

/* ---- Nobody waits for long. ---- */

static uint64_t longest_wait(uint32_t count)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < count; i++)
        longest = spinners[i].longest > longest ? spinners[i].longest : longest;
    return longest;
}

TEST(nobody_among_ten_thousand_waits_for_more_than_a_run_of_each, "WP-10", "D-02")
{
    /*
     * All send to themselves, so each run is a full one; a turn takes as long as a small one does.
     */
    hand_play(SPINNERS_MAX, 1, UINT64_C(2) * SPINNERS_MAX * TR_RUN_TURNS_MAX, 100);
    uint64_t longest = longest_wait(SPINNERS_MAX);
    printf("10,000 ready: the longest wait was %" PRIu64 " turns, %.1f ms of turns of 100 ns\n",
           longest,
           (double)longest * 100 / 1e6);
    ck_assert_uint_le(longest, (uint64_t)SPINNERS_MAX * TR_RUN_TURNS_MAX);
    ck_assert_int_le((tr_time)longest * turn_ns, 100 * TR_MILLISECOND);
    check_equal(SPINNERS_MAX);
    hand_end();
}

TR_MESSAGE(pass, (u32, index));
TR_ACTOR(passer, pass);
static passer_ref passers[SPINNERS_MAX];

/* A round dance: each has one message at a time, from the neighbour behind it. */
static tr_next on_pass(tr_self *self, const struct pass *message)
{
    uint32_t index = message->index;
    uint64_t waited = turns_done - spinners[index].last;
    if (spinners[index].turns++ && waited > spinners[index].longest)
        spinners[index].longest = waited;
    turn_count();
    uint32_t next = (index + SPINNERS_MAX - 1) % SPINNERS_MAX;
    spinners[next].last = turns_done; /* it is ready from now on, or was */
    if (turns_left)
        tr_tell(self, passers[next], pass, .index = next);
    return TR_SAME;
}
TR_BEHAVIOR(passer, void, TR_ON(pass, on_pass));

TEST(with_one_message_each_nobody_waits_for_more_than_all_others, "WP-10")
{
    has_hand = true;
    hand_open(&hand);
    turns_begin(UINT64_C(10) * SPINNERS_MAX, 5 * TR_MICROSECOND);
    for (uint32_t i = 0; i < SPINNERS_MAX; i++)
        ck_assert_int_eq(tr_try_spawn(hand.client, &passers[i], passer, NULL), TR_OK);
    for (uint32_t i = 0; i < SPINNERS_MAX; i++)
        ck_assert_int_eq(tr_tell(hand.client, passers[i], pass, .index = i), TR_OK);
    while (turns_left)
        ck_assert_int_eq(tr_system_run_once(hand.system, 0), TR_OK);
    uint64_t longest = longest_wait(SPINNERS_MAX);
    printf("10,000 ready, one message each: the longest wait was %" PRIu64 " turns\n", longest);
    ck_assert_uint_le(longest, SPINNERS_MAX + TR_RUN_TURNS_MAX);
    ck_assert_int_le((tr_time)longest * turn_ns, 100 * TR_MILLISECOND);
    check_equal(SPINNERS_MAX);
    hand_end();
}

/* ---- A flood of high ones. ---- */

TR_MESSAGE(arm);
TR_MESSAGE(tick);
TR_ACTOR(hasty, arm, tick);

enum { HASTY = 4, TICKS = 2000 };

static tr_next on_arm(tr_self *self)
{
    for (int i = 0; i < TICKS; i++)
        (void)tr_timer_once(self, NULL, TR_SECOND, tick);
    return TR_SAME;
}

/*
 * Each is followed by another one, which is due at once. While a cycle of thousands is under way
 * more than four new ones wait, but for the first few turns of it; so it is in a hurry nearly all
 * the time.
 */
static tr_next on_tick(tr_self *self)
{
    high_turns += turns_left > 0; /* then those that are left have the worker for themselves */
    turn_count();
    if (turns_left)
        (void)tr_timer_once(self, NULL, 0, tick);
    return TR_SAME;
}
TR_BEHAVIOR(hasty, void, TR_ON(arm, on_arm), TR_ON(tick, on_tick));

/* In a second a few begin that never rest, and the flood. */
static void flood_start(tr_client *from)
{
    for (uint32_t i = 0; i < 6; i++) {
        spinner_ref spinner;
        ck_assert_int_eq(tr_try_spawn_at(from, &spinner, 0, spinner, NULL), TR_OK);
        ck_assert_int_eq(tr_tell(from, spinner, spin_later, .index = i), TR_OK);
    }
    for (int i = 0; i < HASTY; i++) {
        hasty_ref hasty;
        ck_assert_int_eq(tr_try_spawn_at(from, &hasty, 0, hasty, NULL), TR_OK);
        ck_assert_int_eq(tr_tell(from, hasty, arm), TR_OK);
    }
}

/* At least an eighth; and less than their number would give them, since the others go first. */
static void check_eighth(void)
{
    uint64_t all = normal_turns + high_turns;
    ck_assert_uint_gt(normal_turns, 0);
    printf("of %" PRIu64 " turns under a flood normal ones had %" PRIu64 ", one in %.2f\n",
           all,
           normal_turns,
           (double)all / (double)normal_turns);
    ck_assert_uint_ge(normal_turns * 8, all - all / 100);
    ck_assert_uint_le(normal_turns * 7, all);
    check_equal(6);
}

TEST(normal_ones_have_an_eighth_under_a_flood_of_high_ones, "WP-10", "D-01", "D-02", "WP-08")
{
    for (int workers = 1; workers <= 3; workers++) {
        kit_open(workers, (uint64_t)workers);
        turns_begin(50000, 0);
        flood_start(test);
        tr_kit_settle(kit);
        ck_assert_uint_eq(turns_done, 0);
        tr_kit_advance(kit, TR_SECOND);
        check_eighth();
        kit_close();
    }
}

SUITE("api fairness", equals_have_equal_shares_over_ten_seconds,
      equals_have_equal_shares_on_several_workers,
      nobody_among_ten_thousand_waits_for_more_than_a_run_of_each,
      with_one_message_each_nobody_waits_for_more_than_all_others,
      normal_ones_have_an_eighth_under_a_flood_of_high_ones)
