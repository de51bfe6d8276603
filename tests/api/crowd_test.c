/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups: who gets what, and what becomes of a group.
 */
#include "support/crowd.h"

/* ---- Who gets what. ---- */

static tr_next tell_forty(tr_self *self)
{
    for (uint64_t i = 0; i < 40; i++)
        ck_assert_int_eq(tr_tell(self, group, told, .n = i), TR_OK);
    return TR_SAME;
}

static void notices_play(void)
{
    group_open("mills", 4);
    boss_runs(home, tell_forty);
    for (int i = 1; i <= 4; i++)
        ck_assert_uint_eq(note_count[i], 10);
    notes_are_in_order();
    for (uint64_t i = 0; i < 40; i++)
        ck_assert_int_eq(tr_tell(test, group, told, .n = 100 + i), TR_OK);
    tr_kit_settle(kit);
    for (int i = 1; i <= 4; i++)
        ck_assert_uint_eq(note_count[i], 20);
    notes_are_in_order();
}
TEST(notices_go_to_each_member_in_turn, "M-01")
{
    kits_each(notices_play);
}

static member_ref other;
static tr_next tell_both(tr_self *self)
{
    for (uint64_t i = 0; i < 20; i++) {
        tr_tell(self, group, told, .n = i);
        tr_tell(self, other, told, .n = i);
    }
    return TR_SAME;
}
static void both_play(void)
{
    ck_assert_int_eq(tr_try_spawn_group(test, &other, member, "others", 2), TR_OK);
    group_open("mills", 2);
    boss_runs(home, tell_both);
    ck_assert_uint_eq(note_count[1], 20);
    ck_assert_uint_eq(note_count[2], 20);
}
TEST(two_groups_that_alternate_are_both_fair, "")
{
    kits_each(both_play);
}

static int asked_on;
static tr_next ask_ten(tr_self *self)
{
    for (uint64_t i = 0; i < 10; i++) {
        const struct who_said *said_ = tr_await(self, tr_ask(self, group, who, .n = i));
        ck_assert_int_eq(said_->worker, asked_on);
    }
    return TR_SAME;
}
static void asks_play(void)
{
    int workers = home + 1;
    group_open("mills", 2 * workers);
    for (asked_on = 0; asked_on < workers; asked_on++) {
        memset(note_count, 0, sizeof note_count);
        boss_runs(asked_on, ask_ten);
        ck_assert_uint_eq(notes_total(), 10);
        for (int i = 1; i <= 2 * workers; i++)
            ck_assert_uint_eq(note_count[i], (i - 1) % workers == asked_on ? 5 : 0);
    }
}
TEST(asks_go_to_members_of_the_same_worker_in_turn, "A-01")
{
    kits_each(asks_play);
}

static tr_next ask_where_nobody_is(tr_self *self)
{
    for (uint64_t i = 0; i < 10; i++)
        tr_await(self, tr_ask(self, group, who, .n = i));
    return TR_SAME;
}
static void asks_far_play(void)
{
    int workers = home + 1;
    if (workers == 1)
        return;
    group_open("mills", 2); /* on workers 0 and 1 */
    boss_runs(2, ask_where_nobody_is);
    ck_assert_uint_eq(note_count[1], 5);
    ck_assert_uint_eq(note_count[2], 5);
}
TEST(asks_without_a_member_near_go_in_turn, "A-01")
{
    kits_each(asks_far_play);
}

static tr_next ask_and_tell(tr_self *self)
{
    for (uint64_t i = 0; i < 10; i++) {
        tr_await(self, tr_ask(self, group, who, .n = 2 * i));
        tr_tell(self, group, told, .n = 2 * i + 1);
    }
    return TR_SAME;
}
static void ask_and_tell_play(void)
{
    group_open("mills", 2);
    boss_runs(0, ask_and_tell);
    uint64_t told_count[3] = {0};
    for (int i = 1; i <= 2; i++) {
        for (size_t n = 0; n < note_count[i]; n++)
            told_count[i] += notes[i][n] % 2;
    }
    ck_assert_uint_eq(told_count[1], 5);
    ck_assert_uint_eq(told_count[2], 5);
}
TEST(asks_take_no_turn_of_notices, "")
{
    kits_each(ask_and_tell_play);
}

static void client_asks_play(void)
{
    group_open("mills", 3);
    for (uint64_t i = 0; i < 9; i++) {
        const struct who_said *said_;
        who_ask ask = tr_ask(test, group, who, .n = i);
        ck_assert_int_eq(tr_try_await(test, ask, &said_), TR_OK);
    }
    for (int i = 1; i <= 3; i++)
        ck_assert_uint_eq(note_count[i], 3);
}
TEST(asks_of_clients_go_in_turn, "A-01")
{
    kits_each(client_asks_play);
}

/* What is told to a group that is not set up yet arrives, before what is told later. */
static void early_play(void)
{
    crowd_clear();
    uint64_t sent = 0;
    ck_assert_int_eq(tr_try_spawn_group(test, &group, member, "mills", 3), TR_OK);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(tr_tell(test, group, told, .n = sent++), TR_OK);
    for (int step = 0; step < 40; step++) {
        for (uint64_t i = 0; i < kits_seed % 4; i++)
            (void)tr_kit_step(kit);
        ck_assert_int_eq(tr_tell(test, group, told, .n = sent++), TR_OK);
        tr_kit_check(kit);
    }
    const struct who_said *said_;
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, group, who, .n = sent++), &said_), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(notes_total(), sent);
    notes_are_in_order();
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
}
TEST(what_comes_before_the_set_up_is_kept_in_order, "L-03", "M-01")
{
    kits_each(early_play);
}

/* ---- It is one actor to those who use it. ---- */

static tr_next spawn_here(tr_self *self)
{
    group = tr_spawn_group(self, member, "mills", 3);
    ck_assert(tr_is_same(tr_child(self, member, "mills"), group));
    ck_assert_uint_eq(tr_group_count(self, group), 3);
    ck_assert_int_eq(tr_tell(self, group, told, .n = 1), TR_OK);
    member_ref again;
    ck_assert_int_eq(tr_try_spawn_group(self, &again, member, "mills", 3), TR_NAME_EXISTS);
    tr_ref members[2];
    ck_assert_uint_eq(tr_group_members(self, group, members, 2), 3);
    member_ref first = tr_find(self, member, tr_format(self, "%s/mills/1", tr_path(self)));
    ck_assert(tr_is_same(members[0], first));
    tr_watch(self, group);
    return TR_SAME;
}
static void named_play(void)
{
    crowd_clear();
    ends = 0;
    boss_ref boss;
    ck_assert_int_eq(tr_try_spawn_at(test, &boss, home, boss, "boss"), TR_OK);
    TELL_RUN(test, boss, spawn_here);
    tr_kit_settle(kit);
    ck_assert(tr_is_same(tr_find(test, member, "/user/boss/mills"), group));
    ck_assert_uint_eq(notes_total(), 1);
    ck_assert_int_eq(tr_stop(test, boss), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_STOPPED);
    ck_assert(tr_is_nobody(tr_find(test, member, "/user/boss/mills")));
    ck_assert_uint_eq(tr_group_count(test, group), 0);
}
TEST(a_group_has_a_name_and_ends_with_its_parent, "L-06", "L-07")
{
    kits_each(named_play);
}

static tr_next watch_it(tr_self *self)
{
    tr_watch(self, group);
    tr_watch(self, group);
    return TR_SAME;
}
static tr_next watch_and_not(tr_self *self)
{
    tr_watch(self, group);
    tr_unwatch(self, group);
    return TR_SAME;
}
static void watch_play(void)
{
    group_open("mills", 3);
    boss_runs(home, watch_it);
    boss_runs(0, watch_it);
    boss_runs(home, watch_and_not);
    ck_assert_int_eq(tr_watch(test, group), TR_OK);
    ck_assert_int_eq(ends, 0);
    ck_assert_int_eq(kits_seed % 2 ? tr_stop(test, group) : tr_kill(test, group), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(ends, 2);
    const struct tr_terminated *end = tr_receive(test, tr_terminated, TR_SECOND);
    ck_assert_ptr_nonnull(end);
    ck_assert(tr_is_same(end->who, group));
    boss_runs(home, watch_it); /* at once: it has stopped */
    ck_assert_int_eq(ends, 3);
}
TEST(a_watch_tells_of_the_end_of_the_group, "G-04", "Y-04")
{
    kits_each(watch_play);
}

/* A watch that comes while the group is made, killed or not. */
static void watch_early_play(void)
{
    crowd_clear();
    ck_assert_int_eq(tr_try_spawn_group(test, &group, member, "mills", 3), TR_OK);
    ck_assert_int_eq(tr_watch(test, group), TR_OK);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        (void)tr_kit_step(kit);
    ck_assert_int_eq(tr_kill(test, group), TR_OK);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_STOPPED);
    const struct tr_terminated *end = tr_receive(test, tr_terminated, TR_SECOND);
    ck_assert_ptr_nonnull(end);
    ck_assert(tr_is_same(end->who, group));
    ck_assert_ptr_null(tr_receive(test, tr_terminated, 0));
    ck_assert_int_eq(tr_spawn_wait(test, group, 0, NULL), TR_STOPPED);
}
TEST(a_group_may_end_before_it_began, "G-04", "Y-02")
{
    kits_each(watch_early_play);
}

static void stop_play(void)
{
    group_open("mills", 3);
    for (uint64_t i = 0; i < 30; i++)
        ck_assert_int_eq(tr_tell(test, group, told, .n = i), TR_OK);
    ck_assert_int_eq(tr_stop(test, group), TR_OK);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 99), TR_STOPPED);
    who_ask ask = tr_ask(test, group, who, .n = 99);
    const struct who_said *said_;
    ck_assert_int_eq(tr_try_await(test, ask, &said_), TR_STOPPED);
    tr_kit_settle(kit);
    ck_assert_uint_eq(notes_total(), 30);
    ck_assert_int_eq(tr_stop(test, group), TR_STOPPED);
    ck_assert_int_eq(tr_kill(test, group), TR_STOPPED);
    ck_assert_int_eq(tr_suspend(test, group), TR_STOPPED);
    tr_dead_letter_record last;
    size_t count;
    tr_system_dead_letters(tr_kit_system(kit), &last, 1, &count);
    ck_assert(tr_is_same(last.to, group));
    group_open("mills", 2); /* its name is free */
}
TEST(a_group_that_stops_handles_what_it_has, "Y-01", "L-07")
{
    kits_each(stop_play);
}

static tr_next stop_it(tr_self *self)
{
    ck_assert_int_eq(tr_tell(self, group, told, .n = 1), TR_OK);
    ck_assert_int_eq(tr_stop_child(self, group), TR_NOT_FOUND);
    ck_assert_int_eq(tr_suspend(self, group), TR_OK);
    ck_assert_int_eq(tr_resume(self, group), TR_OK);
    ck_assert_int_eq(tr_stop(self, group), TR_OK);
    ck_assert_int_eq(tr_tell(self, group, told, .n = 1), TR_STOPPED);
    const struct who_said *said_;
    ck_assert_int_eq(tr_try_await(self, tr_ask(self, group, who, .n = 1), &said_), TR_STOPPED);
    member_ref own = tr_spawn_group(self, member, NULL, 2);
    ck_assert_int_eq(tr_stop_child(self, own), TR_OK);
    ck_assert_int_eq(tr_tell(self, own, told, .n = 1), TR_STOPPED);
    own = tr_spawn_group(self, member, NULL, TR_ONE_PER_WORKER);
    ck_assert_uint_eq(tr_group_count(self, own), (size_t)tr_system_workers(tr_system_of(self)));
    ck_assert_int_eq(tr_kill(self, own), TR_OK);
    return TR_SAME;
}
static void stop_by_an_actor_play(void)
{
    group_open("mills", 3);
    boss_runs(home, stop_it);
    ck_assert_uint_eq(notes_total(), 1);
}
TEST(an_actor_stops_groups, "Y-01", "Y-02")
{
    kits_each(stop_by_an_actor_play);
}

static void suspend_play(void)
{
    group_open("mills", 3);
    ck_assert_int_eq(tr_suspend(test, group), TR_OK);
    tr_kit_settle(kit);
    for (uint64_t i = 0; i < 9; i++)
        ck_assert_int_eq(tr_tell(test, group, told, .n = i), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(notes_total(), 0);
    ck_assert_int_eq(tr_resume(test, group), TR_OK);
    tr_kit_settle(kit);
    for (int i = 1; i <= 3; i++)
        ck_assert_uint_eq(note_count[i], 3);
    notes_are_in_order();
}
TEST(suspended_members_keep_their_turn, "Y-03")
{
    kits_each(suspend_play);
}

/* ---- Members that come and go. ---- */

static member_ref member_of(unsigned number)
{
    tr_ref members[MEMBERS_MAX];
    ck_assert_uint_gt(tr_group_members(test, group, members, MEMBERS_MAX), number);
    return member_ref_of(members[number]);
}

static void leave_play(void)
{
    group_open("mills", 4);
    ck_assert_int_eq(tr_watch(test, group), TR_OK);
    tr_tell(test, member_of(1), fall);
    for (uint64_t i = 0; i < kits_seed % 6; i++)
        (void)tr_kit_step(kit);
    for (uint64_t i = 0; i < 60; i++)
        ck_assert_int_eq(tr_tell(test, group, told, .n = i), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_group_count(test, group), 3);
    memset(note_count, 0, sizeof note_count);
    for (uint64_t i = 0; i < 30; i++)
        ck_assert_int_eq(tr_tell(test, group, told, .n = i), TR_OK);
    tr_kit_settle(kit);
    for (int i = 1; i <= 4; i++)
        ck_assert_uint_eq(note_count[i], i == 2 ? 0 : 10);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(tr_receive(test, tr_terminated, 0));
        ck_assert_int_eq(tr_kill(test, member_of(0)), TR_OK);
        tr_kit_settle(kit);
        ck_assert_uint_eq(tr_group_count(test, group), 2u - (unsigned)i);
    }
    ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_STOPPED);
    ck_assert_ptr_nonnull(tr_receive(test, tr_terminated, 0));
    ck_assert(tr_is_nobody(tr_find(test, member, "/user/mills")));
}
TEST(who_stops_leaves_and_the_last_ends_the_group, "S-08")
{
    kits_each(leave_play);
}

static void restart_play(void)
{
    group_open("mills", 2);
    member_ref first = member_of(0);
    tr_tell(test, first, break_);
    for (uint64_t i = 0; i < 20; i++)
        ck_assert_int_eq(tr_tell(test, group, told, .n = i), TR_OK);
    tr_kit_settle(kit);
    ck_assert(tr_is_same(member_of(0), first));
    ck_assert_int_eq(set_ups[1], 2);
    ck_assert_uint_eq(note_count[1], 10);
    ck_assert_uint_eq(note_count[2], 10);
    notes_are_in_order();
    for (int i = 0; i < 3; i++)
        tr_tell(test, first, break_); /* once too often */
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_group_count(test, group), 1);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 100), TR_OK);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 101), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(note_count[2], 12);
}
TEST(a_member_that_fails_is_restarted_in_its_place, "S-01", "S-03")
{
    kits_each(restart_play);
}

static tr_next spawn_strictly(tr_self *self)
{
    group = tr_spawn_group(self, member, "mills", 3);
    return TR_SAME;
}
TR_ACTOR(strict, run);
TR_BEHAVIOR(strict, void, TR_ON(run, on_run), TR_SUPERVISE(TR_ALL_FOR_ONE, .restarts_max = 1));
static void strategy_play(void)
{
    crowd_clear();
    strict_ref strict;
    ck_assert_int_eq(tr_try_spawn_at(test, &strict, home, strict, "strict"), TR_OK);
    TELL_RUN(test, strict, spawn_strictly);
    tr_kit_settle(kit);
    tr_tell(test, member_of(2), break_);
    tr_kit_settle(kit);
    for (int i = 1; i <= 3; i++)
        ck_assert_int_eq(set_ups[i], 2);
    ck_assert_uint_eq(tr_group_count(test, group), 3);
    tr_tell(test, member_of(2), break_); /* once too often: all fail */
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_group_count(test, group), 0);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_STOPPED);
    ck_assert(tr_is_same(tr_find(test, strict, "/user/strict"), strict)); /* restarted */
}
TEST(members_are_supervised_as_the_spawners_children_are, "S-01", "S-07")
{
    kits_each(strategy_play);
}

SUITE("crowd", asks_take_no_turn_of_notices, notices_go_to_each_member_in_turn,
      two_groups_that_alternate_are_both_fair, asks_go_to_members_of_the_same_worker_in_turn,
      asks_without_a_member_near_go_in_turn, asks_of_clients_go_in_turn,
      what_comes_before_the_set_up_is_kept_in_order, a_group_has_a_name_and_ends_with_its_parent,
      a_watch_tells_of_the_end_of_the_group, a_group_may_end_before_it_began,
      a_group_that_stops_handles_what_it_has, an_actor_stops_groups,
      suspended_members_keep_their_turn, who_stops_leaves_and_the_last_ends_the_group,
      a_member_that_fails_is_restarted_in_its_place,
      members_are_supervised_as_the_spawners_children_are)
