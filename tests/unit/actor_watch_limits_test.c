/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Death watch when memory is short, and very often: a watch that was taken gives its signal without
 * any memory; millions of them leave nothing behind, and many watchers of one cost no more each.
 */
#include "support/kits.h"

#include "actor/cell/system.h"
#include "os/virtual.h"

TR_ACTOR(target, run);
TR_ACTOR(witness, run);
TR_BEHAVIOR(target, void, TR_ON(run, on_run));

enum { TARGETS = 40 };
static target_ref targets[TARGETS];
static int expected[TARGETS];
static int heard[TARGETS];
static int refused;

static tr_next on_terminated(const struct tr_terminated *message)
{
    for (int i = 0; i < TARGETS; i++)
        heard[i] += tr_is_same(targets[i], message->who);
    return TR_SAME;
}
TR_BEHAVIOR(witness, void, TR_ON(run, on_run), TR_ON(tr_terminated, on_terminated),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next watch_them(tr_self *self)
{
    for (int i = 0; i < TARGETS; i++) {
        tr_status status = tr_try_watch(self, targets[i]);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        expected[i] += status == TR_OK;
        refused += status != TR_OK;
        if (i % 4 == 0 && tr_unwatch(self, targets[i]) == TR_OK)
            expected[i] = 0;
    }
    return TR_SAME;
}

static tr_next stop_them(tr_self *self)
{
    for (int i = 0; i < TARGETS; i++)
        (void)tr_kill(self, targets[i]);
    return TR_SAME;
}

static tr_next watch_surely(tr_self *self)
{
    for (int i = 0; i < TARGETS; i++)
        tr_watch(self, targets[i]);
    return TR_SAME;
}

static witness_ref begin(void)
{
    witness_ref witness;
    kit_open(3, 3);
    ck_assert_int_eq(tr_try_spawn_at(test, &witness, 1, witness, NULL), TR_OK);
    for (int i = 0; i < TARGETS; i++) {
        ck_assert_int_eq(tr_try_spawn_at(test, &targets[i], i % 3, target, NULL), TR_OK);
        expected[i] = heard[i] = 0;
    }
    refused = 0;
    tr_kit_settle(kit);
    return witness;
}

/* Gives how many allocations there were; the nth fails. */
static uint64_t play_short(uint64_t nth, bool and_all_after, bool is_sure)
{
    witness_ref witness = begin();
    uint64_t before = tr_kit_allocations(kit);
    TELL_RUN(test, witness, is_sure ? watch_surely : watch_them);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    TELL_RUN(test, witness, stop_them);
    tr_kit_settle(kit);
    uint64_t used = tr_kit_allocations(kit) - before;
    tr_kit_fail_allocation(kit, 0, false);
    for (int i = 0; i < TARGETS; i++)
        (void)tr_kill(test, targets[i]);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    bool has_failed = tr_stop(test, witness) == TR_STOPPED;
    ck_assert(!has_failed || is_sure);
    for (int i = 0; i < TARGETS && !is_sure; i++)
        ck_assert_int_eq(heard[i], expected[i]);
    for (int i = 0; i < TARGETS && is_sure; i++)
        ck_assert_int_le(heard[i], 1);
    kit_close();
    return used;
}

static void sweep(bool is_sure)
{
    int all_refused = 0;
    for (int and_all_after = 0; and_all_after <= 1; and_all_after++) {
        uint64_t count = play_short(0, false, is_sure);
        for (uint64_t nth = 1; nth <= count + 1; nth++) {
            (void)play_short(nth, and_all_after, is_sure);
            all_refused += refused;
        }
    }
    ck_assert(is_sure || all_refused > 0);
}
TEST(out_of_memory_at_every_allocation, "WA-01", "A-06")
{
    sweep(false);
}
TEST(a_watch_that_cannot_be_ends_the_turn, "A-06")
{
    sweep(true);
}

TEST(a_client_without_memory, "WA-01")
{
    for (uint64_t nth = 1; nth <= 6; nth++) {
        (void)begin();
        tr_kit_fail_allocation(kit, nth, true);
        int taken = 0;
        for (int i = 0; i < TARGETS; i++) {
            tr_status status = tr_watch(test, targets[i]);
            ck_assert(status == TR_OK || status == TR_NO_MEMORY);
            taken += status == TR_OK;
        }
        tr_kit_fail_allocation(kit, 0, false);
        for (int i = 0; i < TARGETS; i++)
            (void)tr_kill(test, targets[i]);
        while (tr_receive(test, tr_terminated, MS))
            taken--;
        ck_assert_int_eq(taken, 0);
        kit_close();
    }
}

/* ---- Very often. ---- */

static uint64_t often;

static tr_next watch_often(tr_self *self)
{
    for (int i = 0; i < 500; i++) {
        target_ref target = targets[(often + (uint64_t)i) % 3];
        tr_watch(self, target);
        tr_unwatch(self, target);
        if (i % 50 == 0)
            tr_watch(self, targets[5]); /* it is dead, and the signal is handled */
    }
    often += 500;
    return TR_SAME;
}

static tr_next mortal_main(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

static tr_next watch_mortals(tr_self *self)
{
    for (int i = 0; i < 100; i++) {
        target_ref mortal = tr_spawn_at(self, i % 3, target, NULL);
        tr_watch(self, mortal);
        TELL_RUN(self, mortal, mortal_main);
    }
    often += 100;
    return TR_SAME;
}

static size_t live_bytes(void)
{
    const tr_platform *platform = tr_kit_system(kit)->platform;
    return tr__virtual_live_bytes((const struct virtual_platform *)(const void *)platform);
}

static void repeat(witness_ref witness, turn *what, uint64_t count)
{
    often = 0;
    while (often < count) {
        TELL_RUN(test, witness, what);
        tr_kit_settle(kit);
    }
}

TEST(millions_leave_nothing_behind, "WA-11")
{
    uint64_t count = test_scale(1000000, 10000000);
    witness_ref witness = begin();
    tr_kill(test, targets[5]);
    tr_kit_settle(kit);
    repeat(witness, watch_often, 2000);
    repeat(witness, watch_mortals, 2000);
    size_t bytes = live_bytes();
    repeat(witness, watch_often, count);
    repeat(witness, watch_mortals, count / 10);
    /* Pools may have grown by a slab here or there, not with the number. */
    ck_assert_uint_le(live_bytes(), bytes + (1 << 16));
    tr_kit_check(kit);
    kit_close();
}

/* ---- Very many. ---- */

enum { CROWD = 100000 };

static uint64_t crowd_heard;
TR_ACTOR(onlooker, run);
static tr_next onlooker_heard(void)
{
    crowd_heard++;
    return TR_SAME;
}
static tr_next onlooker_start(tr_self *self)
{
    tr_watch(self, targets[0]);
    return TR_SAME;
}
static tr_next onlooker_leave(tr_self *self)
{
    tr_unwatch(self, targets[0]);
    return TR_SAME;
}
TR_BEHAVIOR(onlooker, void, TR_ON(tr_pre_start, onlooker_start), TR_ON(run, on_run),
            TR_ON(tr_terminated, onlooker_heard));

/* A list that is searched would take minutes. */
TEST(a_crowd_around_one, "WA-11", "WA-13")
{
    static onlooker_ref crowd[CROWD];
    (void)begin();
    crowd_heard = 0;
    for (uint32_t i = 0; i < CROWD; i++)
        ck_assert(tr_try_spawn_at(test, &crowd[i], (int)(i % 3), onlooker, NULL) == TR_OK);
    tr_kit_settle(kit);
    for (uint32_t i = 0; i < CROWD; i += 2) {
        if (i % 4)
            TELL_RUN(test, crowd[i], onlooker_leave);
        else
            tr_stop(test, crowd[i]);
    }
    tr_kit_settle(kit);
    tr_kill(test, targets[0]);
    tr_kit_settle(kit);
    ck_assert_uint_eq(crowd_heard, CROWD / 2);
    kit_close();
}

SUITE("watch limits", out_of_memory_at_every_allocation, a_watch_that_cannot_be_ends_the_turn,
      a_client_without_memory, millions_leave_nothing_behind, a_crowd_around_one)
