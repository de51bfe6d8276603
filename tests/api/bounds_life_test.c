/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bounded mailboxes in the life of an actor: other bounds by become, stash, orders and timers that
 * pass a full mailbox, clients, and what is told of the messages that were dropped.
 */
#include "support/boxes.h"

enum { SEEDS = 10, BOUND = 10, WIDE = 4096 };

BOX(fail, .mailbox_max = BOUND);
BOX(newest, .mailbox_max = BOUND, .overflow = TR_DROP_NEWEST);
BOX(oldest, .mailbox_max = BOUND, .overflow = TR_DROP_OLDEST);
BOX(tiny, .mailbox_max = 3);
BOX(tiny_oldest, .mailbox_max = 3, .overflow = TR_DROP_OLDEST);
BOX(wide, .mailbox_max = WIDE);
BOX(open, .is_pinned = true);

static const tr_behavior *next_behavior;
static tr_next change(tr_self *self)
{
    return tr_self_become(self, next_behavior, NULL, NULL);
}

/* Lets a box that holds its mail change its behavior before it handles any of that. */
static void box_become(tr_ref box, const tr_behavior *behavior)
{
    next_behavior = behavior;
    ck_assert_int_eq(TELL_RUN(test, box, change), TR_OK);
    tr_kit_settle(kit);
    tr_kit_check(kit);
}

/* ---- Become. ---- */

TEST(become_makes_the_mailbox_larger_and_smaller, "M-02", "MB-01")
{
    static const struct {
        const tr_behavior *behavior;
        uint32_t bound;
    } rows[] = {{&tr_behavior_fail, BOUND},
                {&tr_behavior_wide, WIDE},
                {&tr_behavior_tiny, 3},
                {&tr_behavior_fail, BOUND},
                {&tr_behavior_tiny, 3}};
    for (enum from from = FROM_NEAR; from < FROM_COUNT; from++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
            tr_ref box = box_open(seed, &tr_behavior_wide);
            burst(FROM_NEAR, box, 0, 30, NULL); /* something is reserved */
            BOXED(0, 30);
            for (size_t row = 0; row < 5; row++) {
                box_become(box, rows[row].behavior);
                burst(from, box, 0, 5000, NULL);
                ck_assert_uint_eq(burst_taken, rows[row].bound);
                BOXED(0, rows[row].bound);
            }
            kit_close();
        }
    }
}

TEST(become_changes_the_policy_also_for_senders_elsewhere, "M-02", "MB-01")
{
    static const struct {
        const tr_behavior *behavior;
        uint32_t taken;
        uint32_t first;
    } rows[] = {{&tr_behavior_newest, 100, 0},
                {&tr_behavior_fail, BOUND, 0},
                {&tr_behavior_oldest, 100, 100 - BOUND},
                {&tr_behavior_newest, 100, 0},
                {&tr_behavior_oldest, 100, 100 - BOUND},
                {&tr_behavior_fail, BOUND, 0}};
    for (enum from from = FROM_NEAR; from < FROM_COUNT; from++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
            tr_ref box = box_open(seed, &tr_behavior_open);
            for (size_t row = 0; row < 6; row++) {
                box_become(box, rows[row].behavior);
                burst(from, box, 0, 100, NULL);
                ck_assert_uint_eq(burst_taken, rows[row].taken);
                BOXED(rows[row].first, BOUND);
            }
            kit_close();
        }
    }
}

static uint32_t seen;     /* how many items the box below has handled */
static uint32_t refilled; /* what it could send itself in all these turns */
static tr_next on_refill(tr_self *self)
{
    seen++;
    while (tr_tell(self, tr_me(self), item, .n = 0) == TR_OK)
        refilled++;
    return TR_SAME;
}
TR_BEHAVIOR(refill_small, void, TR_ON(item, on_refill), TR_ON(run, on_run),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = 2 * WIDE));
TR_BEHAVIOR(refill_large, void, TR_ON(run, on_run), TR_ON(item, on_refill),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* What waits above a bound that has become smaller is handled, and nothing is taken meanwhile. */
TEST(what_is_above_a_smaller_bound_goes_before_more_is_taken, "M-02", "MB-01")
{
    enum { WAITING = 10 * WIDE };
    for (uint64_t seed = 1; seed <= 3; seed++) {
        tr_ref box = box_open(seed, &tr_behavior_refill_large);
        next_behavior = &tr_behavior_refill_small;
        ck_assert_int_eq(TELL_RUN(test, box, change), TR_OK);
        for (int i = 0; i < WAITING; i++)
            ck_assert_int_eq(tr_tell(test, box, item, .n = 0), TR_OK);
        seen = 0;
        refilled = 0;
        while (seen < WAITING - 2 * WIDE)
            ck_assert(tr_kit_step(kit));
        tr_kit_check(kit);
        /* As many wait as there may, and so many turns have each made capacity for one at most. */
        ck_assert_uint_le(refilled, 1);
        ck_assert_int_eq(tr_kill(test, box), TR_OK);
        tr_kit_settle(kit);
        kit_close();
    }
}

TEST(a_smaller_bound_that_drops_the_oldest_drops_them_at_once, "M-02", "MB-01")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        tr_ref box = box_open(seed, &tr_behavior_fail);
        next_behavior = &tr_behavior_tiny_oldest;
        ck_assert_int_eq(TELL_RUN(test, box, change), TR_OK);
        burst(FROM_CLIENT, box, 0, BOUND, NULL);
        ck_assert_uint_eq(burst_taken, BOUND - 1);
        BOXED(BOUND - 1 - 3, 3);
        ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), BOUND - 1 - 3 + 1);
        kit_close();
    }
}

BOX(fail_once, .mailbox_max = BOUND, .restart = TR_TEMPORARY);
BOX(too_many, .mailbox_max = UINT32_MAX);
BOX(too_much, .mailbox_bytes_max = SIZE_MAX);
TR_BEHAVIOR_DECLARE(detour);
static tr_next set_up_detour(tr_self *self)
{
    return tr_become(self, too_many);
}
TR_BEHAVIOR(detour, void, TR_SETUP(set_up_detour), TR_OPTIONS(.restart = TR_TEMPORARY));

TEST(become_with_too_large_bounds_fails_the_turn, "M-02")
{
    static const tr_behavior *const rows[] = {
        &tr_behavior_too_many, &tr_behavior_too_much, &tr_behavior_detour};
    for (size_t row = 0; row < 3; row++) {
        tr_ref box = box_open(1, &tr_behavior_fail_once);
        next_behavior = rows[row];
        ck_assert_int_eq(TELL_RUN(test, box, change), TR_OK);
        tr_kit_settle(kit);
        ck_assert_int_eq(tr_tell(test, box, item, .n = 1), TR_STOPPED);
        kit_close();
    }
    kit_open(1, 1);
    tr_error error;
    tr_ref box = box_new(&tr_behavior_detour);
    ck_assert_int_eq(tr_spawn_wait(test, box, TR_SECOND, &error), TR_INIT_FAILED);
    ck_assert_int_eq(error.status, TR_LIMIT);
    kit_close();
}

/* ---- Stash. ---- */

static bool is_ready; /* boxes that stash do so until this is set */
static tr_next on_stashed(tr_self *self, const struct item *message)
{
    if (!is_ready)
        return tr_stash(self);
    return boxes_add(message->n);
}
static tr_next bring_back(tr_self *self)
{
    is_ready = true;
    tr_unstash(self, SIZE_MAX);
    return TR_SAME;
}
TR_BEHAVIOR(stasher, void, TR_ON(item, on_stashed), TR_ON(run, on_run),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = BOUND));
TR_BEHAVIOR(stasher_oldest, void, TR_ON(item, on_stashed), TR_ON(run, on_run),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = BOUND, .overflow = TR_DROP_OLDEST));

TEST(what_is_stashed_takes_no_room_until_it_comes_back, "M-02", "MB-01")
{
    for (enum from from = FROM_NEAR; from < FROM_COUNT; from++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
            tr_ref box = box_open(seed, &tr_behavior_stasher);
            is_ready = false;
            for (uint32_t round = 0; round < 3; round++) {
                burst(from, box, round * BOUND, 2 * BOUND, NULL);
                ck_assert_uint_eq(burst_taken, BOUND);
                tr_kit_settle(kit);
                tr_kit_check(kit);
            }
            ck_assert_uint_eq(boxed_count, 0);
            ck_assert_int_eq(TELL_RUN(test, box, bring_back), TR_OK);
            while (!is_ready)
                ck_assert(tr_kit_step(kit));
            /* Thirty came back, which is more than the bound: nobody else gets in. */
            box_hold(box);
            uint32_t waiting = 3 * BOUND - (uint32_t)boxed_count;
            tr_kit_check(kit);
            burst(from, box, 100, 2 * BOUND, NULL);
            ck_assert_uint_eq(burst_taken, waiting > BOUND ? 0 : BOUND - waiting);
            box_let_go(box);
            ck_assert_uint_eq(boxed_count, 3 * BOUND + burst_taken);
            for (uint32_t i = 0; i < 3 * BOUND; i++)
                ck_assert_uint_eq(boxed[i], i);
            boxed_count = 0;
            burst(from, box, 200, 2 * BOUND, NULL);
            BOXED(200, BOUND);
            kit_close();
        }
    }
}

TEST(what_comes_back_is_dropped_first_by_who_drops_the_oldest, "M-02", "MB-01")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        tr_ref box = box_open(seed, &tr_behavior_stasher_oldest);
        is_ready = false;
        for (uint32_t round = 0; round < 3; round++) {
            burst(FROM_NEAR, box, round * BOUND, BOUND, NULL);
            tr_kit_settle(kit);
        }
        ck_assert_int_eq(TELL_RUN(test, box, bring_back), TR_OK);
        while (!is_ready)
            ck_assert(tr_kit_step(kit));
        box_hold(box);
        uint32_t first = (uint32_t)boxed_count;
        ck_assert_uint_lt(first, 2 * BOUND);
        boxed_count = 0;
        burst(FROM_NEAR, box, 3 * BOUND, 5, NULL);
        ck_assert_uint_eq(burst_taken, 5);
        box_let_go(box);
        BOXED(3 * BOUND + 5 - BOUND, BOUND);
        ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 2 * BOUND - first + 5);
        kit_close();
    }
}

/* A wide box that stashes and brings back, over and over, while it fills its mailbox each time. */
static uint32_t waiting;
static tr_next fill_up(tr_self *self)
{
    while (tr_tell(self, tr_me(self), item, .n = 0) == TR_OK)
        waiting++;
    return TR_SAME;
}
static tr_next on_hoard(tr_self *self)
{
    waiting--;
    (void)fill_up(self);
    if (tr_stash_count(self) < TR_STASH_MAX - 1)
        return tr_stash(self);
    waiting += (uint32_t)tr_unstash(self, SIZE_MAX);
    return TR_SAME;
}
TR_BEHAVIOR(hoarder, void, TR_ON(item, on_hoard), TR_ON(run, on_run),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = WIDE));

TEST(stashing_round_and_round_does_not_grow_the_mailbox, "M-02", "MB-01")
{
    tr_ref box = box_open(1, &tr_behavior_hoarder);
    waiting = 0;
    ck_assert_int_eq(TELL_RUN(test, box, fill_up), TR_OK);
    for (int i = 0; i < 20 * TR_STASH_MAX; i++) {
        ck_assert(tr_kit_step(kit));
        ck_assert_uint_le(waiting, WIDE + TR_STASH_MAX);
    }
    tr_kit_check(kit);
    ck_assert_uint_ge(waiting, WIDE);
    ck_assert_int_eq(tr_kill(test, box), TR_OK);
    tr_kit_settle(kit);
    kit_close();
}

/* The same of one whose senders wait: they get no capacity while more waits than there may. */
static tr_next on_hoard_parked(tr_self *self)
{
    waiting--;
    if (tr_stash_count(self) < 50)
        return tr_stash(self);
    waiting += (uint32_t)tr_unstash(self, SIZE_MAX);
    return TR_SAME;
}
TR_BEHAVIOR(hoarder_parks, void, TR_ON(item, on_hoard_parked),
            TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = BOUND, .overflow = TR_PARK));

static tr_ref hoarder;
static tr_next send_many(tr_self *self)
{
    for (int i = 0; i < 2000; i++) {
        waiting += tr_tell(self, hoarder, item, .n = 0) == TR_OK;
        ck_assert_uint_le(waiting, BOUND + 50);
    }
    return TR_SAME;
}

TEST(who_waits_for_room_gets_none_of_what_came_back, "M-02", "MB-01")
{
    for (int worker = 0; worker < 3; worker += 2) {
        hoarder = box_open(1, &tr_behavior_hoarder_parks);
        waiting = 0;
        ck_assert_int_eq(TELL_RUN(test, pusher_at(worker), send_many), TR_OK);
        for (int i = 0; i < 5000; i++)
            (void)tr_kit_step(kit);
        ck_assert_uint_ge(waiting, BOUND);
        ck_assert_int_eq(tr_kill(test, hoarder), TR_OK);
        tr_kit_settle(kit);
        kit_close();
    }
}

/* ---- The memory of a stash. ---- */

static uint32_t hoarded;
static tr_next on_hoard_blob(tr_self *self)
{
    hoarded++;
    return tr_stash(self);
}
TR_BEHAVIOR(blob_hoarder, void, TR_ON(blob, on_hoard_blob), TR_ON(item, on_item),
            TR_OPTIONS(.restart = TR_TEMPORARY));

TEST(a_stash_is_bounded_by_memory_too, "M-02", "MB-02")
{
    static char data[8 * 1024 * 1024 - 64];
    tr_ref box = box_open(1, &tr_behavior_blob_hoarder);
    /* Each has 8 MiB less some bytes, and an envelope: 64 MiB hold seven, as does a mailbox. */
    hoarded = 0;
    for (uint32_t i = 0; i < 7; i++) {
        ck_assert_int_eq(tr_tell(test, box, blob, .n = i, .data = {data, sizeof data}), TR_OK);
        tr_kit_settle(kit);
    }
    ck_assert_int_eq(tr_tell(test, box, item, .n = 1), TR_OK);
    BOXED(1, 1);
    ck_assert_int_eq(tr_tell(test, box, blob, .n = 8, .data = {data, sizeof data}), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(hoarded, 8);
    ck_assert_int_eq(tr_tell(test, box, item, .n = 1), TR_STOPPED);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 7 + 1);
    kit_close();
}

/* ---- What passes a full mailbox. ---- */

TR_MESSAGE(tick, (u32, n));
static tr_next on_tick(void)
{
    say("tick");
    return TR_SAME;
}
static tr_next on_idle(void)
{
    say("idle");
    return TR_SAME;
}
static tr_next on_stop(void)
{
    say("stop after %zu", boxed_count);
    return TR_SAME;
}
static tr_next set_up_clock(tr_self *self)
{
    tr_timer_fixed_rate(self, "tick", TR_SECOND, tick);
    return TR_SAME;
}
#define CLOCK(name, policy)                                                                        \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_SETUP(set_up_clock),                                                            \
                TR_ON(item, on_item),                                                              \
                TR_ON(tick, on_tick),                                                              \
                TR_ON(run, on_run),                                                                \
                TR_ON(tr_receive_timeout, on_idle),                                                \
                TR_ON(tr_post_stop, on_stop),                                                      \
                TR_OPTIONS(.restart = TR_TEMPORARY, .mailbox_max = BOUND, .overflow = policy))
CLOCK(clock_fail, TR_OVERFLOW_FAIL);
CLOCK(clock_newest, TR_DROP_NEWEST);
CLOCK(clock_oldest, TR_DROP_OLDEST);
static const tr_behavior *const clocks[] = {
    &tr_behavior_clock_fail, &tr_behavior_clock_newest, &tr_behavior_clock_oldest};

/* A box of each policy with as much as it may hold, and more that was sent. */
#define EACH_FULL_BOX(box, from)                                                                   \
    for (size_t clock_ = 0; clock_ < 3; clock_++)                                                  \
        for (uint64_t seed_ = 1; seed_ <= TEST_SEEDS(SEEDS); seed_++)                              \
            for (enum from from = FROM_NEAR; from < FROM_COUNT; from++)                            \
                for (tr_ref box = box_open(seed_, clocks[clock_]);                                 \
                     !tr_is_nobody(box) && (burst(from, box, 0, 100, NULL), true);                 \
                     box = TR_NOBODY, kit_close())

TEST(a_kill_passes_a_full_mailbox, "M-02", "MB-03")
{
    EACH_FULL_BOX(box, from)
    {
        ck_assert_int_eq(tr_kill(test, box), TR_OK);
        tr_kit_settle(kit);
        SAID("stop after 0");
    }
}

TEST(a_stop_comes_behind_what_a_full_mailbox_holds, "M-02", "MB-03")
{
    EACH_FULL_BOX(box, from)
    {
        ck_assert_int_eq(tr_stop(test, box), TR_OK);
        tr_kit_settle(kit);
        SAID("stop after 10");
    }
}

TEST(what_comes_behind_a_stop_leaves_its_room, "M-02", "MB-03", "MB-04")
{
    for (size_t i = 0; i < 3; i++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
            tr_ref box = box_open(seed, clocks[i]);
            burst(FROM_CLIENT, box, 0, BOUND - 2, NULL);
            ck_assert_int_eq(tr_stop(test, box), TR_OK);
            burst(FROM_CLIENT, box, BOUND, 2, NULL);
            ck_assert_uint_eq(burst_taken, 2);
            while (tr_kit_step(kit))
                tr_kit_check(kit);
            SAID("stop after 8");
            ck_assert_uint_eq(dead_letters(TR_STOPPED), 2);
            kit_close();
        }
    }
}

TEST(suspend_and_resume_pass_a_full_mailbox, "M-02", "MB-03")
{
    EACH_FULL_BOX(box, from)
    {
        for (int i = 0; i < 3; i++) {
            box_hold(box);
            ck_assert_uint_eq(boxed_count, 0);
        }
        /* Timers tick into a full mailbox, which holds one tick of each. */
        tr_kit_advance(kit, 5 * TR_SECOND);
        burst(from, box, 0, 100, NULL);
        tr_kit_check(kit);
        SAID("");
        box_let_go(box);
        ck_assert_uint_eq(boxed_count, BOUND);
        SAID("tick");
        tr_kit_advance(kit, TR_SECOND);
        SAID("tick");
    }
}

static tr_next wait_a_while(tr_self *self)
{
    tr_set_receive_timeout(self, TR_SECOND / 2);
    return TR_SAME;
}

TEST(a_receive_timeout_takes_no_room, "M-02", "MB-03")
{
    for (size_t i = 0; i < 3; i++) {
        tr_ref box = box_open(1, clocks[i]);
        ck_assert_int_eq(TELL_RUN(test, box, wait_a_while), TR_OK);
        for (int round = 0; round < 3; round++) {
            burst(FROM_NEAR, box, 0, 100, NULL);
            tr_kit_settle(kit);
            ck_assert_uint_eq(boxed_count, BOUND);
            boxed_count = 0;
            tr_kit_advance(kit, TR_SECOND * 6 / 10);
            ck_assert_ptr_nonnull(strstr(said(), "idle"));
        }
        kit_close();
    }
}

/* ---- Clients. ---- */

static char large[4 << 20];
static uint32_t sent;
static tr_next fill_client(tr_self *self)
{
    for (sent = 0;
         tr_tell(self, burst_to, blob, .n = sent, .data = {large, sizeof large}) == TR_OK;)
        sent++;
    return TR_SAME;
}
static tr_next refuse_set_up(tr_self *self)
{
    return tr_fail(self, TR_REFUSED, "not today");
}
TR_BEHAVIOR(never, void, TR_SETUP(refuse_set_up), TR_OPTIONS(.restart = TR_TEMPORARY));

TEST(a_full_client_still_hears_of_its_spawns, "M-02", "MB-02", "MB-03")
{
    kit_open(3, 1);
    burst_to = tr_client_ref(test);
    turn_at(home, fill_client);
    /* 64 MiB hold fifteen of 4 MiB, since each is a little more than that. */
    ck_assert_uint_eq(sent, 15);
    tr_kit_check(kit);
    tr_error error;
    tr_ref box = box_new(&tr_behavior_never);
    ck_assert_int_eq(tr_spawn_wait(test, box, TR_SECOND, &error), TR_INIT_FAILED);
    ck_assert_str_eq(error.text, "not today");
    ck_assert_int_eq(tr_spawn_wait(test, box_new(&tr_behavior_fail), TR_SECOND, &error), TR_OK);
    tr_kit_check(kit);
    for (uint32_t i = 0; i < 15; i++) {
        const struct blob *message = tr_receive(test, blob, 0);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(message->n, i);
        tr_kit_check(kit);
    }
    ck_assert_ptr_null(tr_receive(test, blob, 0));
    turn_at(home, fill_client);
    ck_assert_uint_eq(sent, 15);
    kit_close();
}

SUITE("bounds in life", become_makes_the_mailbox_larger_and_smaller,
      become_changes_the_policy_also_for_senders_elsewhere,
      what_is_above_a_smaller_bound_goes_before_more_is_taken,
      a_smaller_bound_that_drops_the_oldest_drops_them_at_once,
      become_with_too_large_bounds_fails_the_turn,
      what_is_stashed_takes_no_room_until_it_comes_back,
      what_comes_back_is_dropped_first_by_who_drops_the_oldest,
      stashing_round_and_round_does_not_grow_the_mailbox,
      who_waits_for_room_gets_none_of_what_came_back, a_stash_is_bounded_by_memory_too,
      a_kill_passes_a_full_mailbox, a_stop_comes_behind_what_a_full_mailbox_holds,
      what_comes_behind_a_stop_leaves_its_room, suspend_and_resume_pass_a_full_mailbox,
      a_receive_timeout_takes_no_room, a_full_client_still_hears_of_its_spawns)
