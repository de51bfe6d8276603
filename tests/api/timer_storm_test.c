/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many timers without a key: whose handle stops which, what becomes of those that fall due while
 * there is no memory, and that a storm of them leaves no memory behind.
 */
#include "support/kits.h"

#include <stdlib.h>

enum { MANY = 3000, STORM_MAX = 1000000 };

TR_MESSAGE(tick, (u32, n));
TR_MESSAGE(wide, (u64, a), (u64, n));
TR_ACTOR(subject, run, tick, wide);

static subject_ref one;
static subject_ref other;
static tr_timer handles[MANY];
static uint32_t counts[MANY]; /* how often each came */
static uint32_t came;

static tr_next on_tick(tr_self *self, const struct tick *message)
{
    (void)self;
    counts[message->n]++;
    came++;
    return TR_SAME;
}

static tr_next on_wide(tr_self *self, const struct wide *message)
{
    ck_assert_uint_eq(message->a, ~message->n);
    return on_tick(self, &(struct tick){(uint32_t)message->n});
}

TR_BEHAVIOR(subject, void, TR_ON(run, on_run), TR_ON(tick, on_tick), TR_ON(wide, on_wide));

static void begin(void)
{
    memset(counts, 0, sizeof counts);
    came = 0;
    ck_assert_int_eq(tr_try_spawn_at(test, &one, home, subject, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &other, home, subject, NULL), TR_OK);
    tr_kit_settle(kit);
}

static void run_in(subject_ref who, turn *what)
{
    TELL_RUN(test, who, what);
    tr_kit_settle(kit);
}

/* Every third is too large for a timer to hold it, and has its envelope from the start. */
static tr_next arm_all(tr_self *self)
{
    for (uint32_t i = 0; i < MANY; i++) {
        tr_time delay_ns = 10 * MS + i % 7 * MS;
        handles[i] = i % 3 ? tr_timer_once(self, NULL, delay_ns, tick, .n = i)
                           : tr_timer_once(self, NULL, delay_ns, wide, .n = i, .a = ~(uint64_t)i);
    }
    return TR_SAME;
}

static tr_next stop_all(tr_self *self)
{
    for (uint32_t i = 0; i < MANY; i++)
        came += tr_timer_stop(self, handles[i]) != TR_TIMER_NONE;
    return TR_SAME;
}

static void play_other_hands(void)
{
    begin();
    run_in(one, arm_all);
    run_in(other, stop_all); /* they are not its own */
    ck_assert_uint_eq(came, 0);
    run_in(one, stop_all);
    ck_assert_uint_eq(came, MANY);
    /* Others where they were: the old handles are of nobody. */
    tr_timer old[MANY];
    memcpy(old, handles, sizeof old);
    run_in(one, arm_all);
    for (uint32_t i = 0; i < MANY; i++) {
        tr_timer fresh = handles[i];
        handles[i] = old[i];
        ck_assert_uint_ne(fresh.number, old[i].number);
    }
    came = 0;
    run_in(one, stop_all);
    run_in(other, stop_all);
    ck_assert_uint_eq(came, 0);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(came, MANY);
    run_in(one, stop_all); /* they have come */
    ck_assert_uint_eq(came, MANY);
}

TEST(a_handle_is_of_one_timer_of_one_actor_for_ever, "T-01", "TM-03")
{
    kits_each_anywhere(play_other_hands);
}

/* The actor goes, others use its place and that of its timers. */
static void play_after_the_end(void)
{
    begin();
    run_in(one, arm_all);
    tr_stop(test, one);
    tr_kit_settle(kit);
    for (int i = 0; i < 5; i++) {
        subject_ref next;
        ck_assert_int_eq(tr_try_spawn_at(test, &next, home, subject, NULL), TR_OK);
        run_in(next, stop_all);
        ck_assert_uint_eq(came, 0);
        tr_stop(test, next);
        tr_kit_settle(kit);
    }
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(came, 0);
}

TEST(timers_without_a_key_end_with_their_actor, "T-01", "TM-05")
{
    kits_each_anywhere(play_after_the_end);
}

/* Without memory a timer waits for it; none is lost, and none comes twice. */
TEST(timers_that_fall_due_without_memory_come_later, "T-01", "U-03")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        kit_open(1, seed);
        begin();
        run_in(one, arm_all);
        tr_kit_fail_allocation(kit, 1, true);
        tr_kit_advance(kit, 12 * MS);
        uint32_t early = came;
        tr_kit_check(kit);
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_advance(kit, 20 * MS);
        ck_assert_uint_lt(early, MANY);
        ck_assert_uint_eq(came, MANY);
        for (uint32_t i = 0; i < MANY; i++)
            ck_assert_uint_eq(counts[i], 1);
        kit_close();
    }
}

/* Also those that wait for memory are taken back, and end with their actor. */
TEST(timers_that_wait_for_memory_are_taken_back, "T-01", "TM-02", "U-03")
{
    kit_open(1, 1);
    begin();
    run_in(one, arm_all);
    tr_kit_fail_allocation(kit, 1, true);
    tr_kit_advance(kit, 10 * MS); /* some are due, and find no envelope */
    tr_kit_fail_allocation(kit, 0, false);
    uint32_t early = came;
    ck_assert_uint_lt(early, MANY / 7);
    TELL_RUN(test, one, stop_all);
    tr_kit_settle(kit);
    ck_assert_uint_eq(came, MANY); /* stop_all has counted the others */
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(came, MANY);
    kit_close();
}

/* ---- The memory of a storm. ---- */

static struct hand hand;
static size_t bytes_out;
static uint32_t storm_count;

static void *count_resize(void *context, void *memory, size_t size)
{
    (void)context;
    size_t *block = memory ? (size_t *)memory - 2 : NULL;
    bytes_out -= block ? *block : 0;
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t *made = realloc(block, size + 2 * sizeof *made);
    ck_assert_ptr_nonnull(made);
    *made = size;
    bytes_out += size;
    return made + 2;
}

static tr_next storm(tr_self *self)
{
    static tr_timer all[STORM_MAX];
    for (uint32_t i = 0; i < storm_count; i++) {
        tr_time delay_ns = (tr_time)(3000 + i * UINT64_C(7919) % 2000) * MS;
        all[i] = tr_timer_once(self, NULL, delay_ns, tick, .n = i % MANY);
    }
    for (uint32_t i = 0; i < storm_count; i++) {
        if (i % 10)
            ck_assert_int_eq(tr_timer_stop(self, all[i]), TR_TIMER_CANCELLED);
    }
    return TR_SAME;
}

TEST(a_storm_leaves_no_memory_behind, "T-01", "TM-11")
{
    storm_count = (uint32_t)test_scale(300000, STORM_MAX);
    hand = (struct hand){.table = *tr_platform_real(), .mono_ns = TR_HOUR, .wall_ns = TR_HOUR};
    hand.table.mono_now = hand_mono;
    hand.table.wall_now = hand_wall;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .spin_ns = -1,
                                       .platform = &hand.table,
                                       .resize = count_resize};
    ck_assert_int_eq(tr_system_new(&options, &hand.system), TR_OK);
    ck_assert_int_eq(tr_client_new(hand.system, &hand.client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(hand.client, &one, subject, NULL), TR_OK);
    size_t before = bytes_out;
    for (int round = 0; round < 3; round++) {
        came = 0;
        TELL_RUN(hand.client, one, storm);
        hand_run(&hand);
        ck_assert_uint_ge(bytes_out, (size_t)storm_count * 40);
        for (int i = 0; i < 60; i++)
            hand_leap(&hand, 100 * MS);
        ck_assert_uint_eq(came, storm_count / 10);
        /* But for a few envelopes that the pool keeps for the next burst, at most 1 MiB. */
        ck_assert_uint_le(bytes_out, before + 1100 * 1024);
    }
    hand_close(&hand);
    ck_assert_uint_eq(bytes_out, 0);
}

SUITE("many timers", a_handle_is_of_one_timer_of_one_actor_for_ever,
      timers_without_a_key_end_with_their_actor, timers_that_fall_due_without_memory_come_later,
      timers_that_wait_for_memory_are_taken_back, a_storm_leaves_no_memory_behind)
