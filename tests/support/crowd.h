/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of groups and routers: members that note what they get, and one who does as it is told.
 */
#ifndef TROUPE_TESTS_SUPPORT_CROWD_H
#define TROUPE_TESTS_SUPPORT_CROWD_H

#include "support/kits.h"

#include <stdlib.h>

enum { MEMBERS_MAX = 64, NOTES_MAX = 4096 };

TR_MESSAGE(told, (u64, n), (u64, from));
TR_MESSAGE(who_said, (u64, number), (i32, worker), (ref, member));
TR_REQUEST(who, who_said, (u64, n));
TR_MESSAGE(fall);   /* stop by yourself */
TR_MESSAGE(break_); /* fail */
TR_ACTOR(member, told, who, fall, break_, run);
TR_ACTOR(boss, run);

/* What members got, by their number, which is their name. */
static uint64_t notes[MEMBERS_MAX][NOTES_MAX];
static size_t note_count[MEMBERS_MAX];
static int set_ups[MEMBERS_MAX];
static int failing; /* number of the member whose set-up fails, 0: none */

KITS_UNUSED static void crowd_clear(void)
{
    memset(note_count, 0, sizeof note_count);
    memset(set_ups, 0, sizeof set_ups);
    failing = 0;
}

static unsigned number_of(tr_self *self)
{
    unsigned number = (unsigned)atoi(tr_name(self));
    ck_assert_uint_lt(number, MEMBERS_MAX);
    return number;
}

static tr_next member_set_up(tr_self *self)
{
    unsigned number = number_of(self);
    set_ups[number]++;
    if (failing && number == (unsigned)failing)
        return tr_fail(self, TR_BAD_DATA, "member %u does not like it", number);
    return TR_SAME;
}

static tr_next on_told(tr_self *self, const struct told *message)
{
    unsigned number = number_of(self);
    ck_assert_uint_lt(note_count[number], NOTES_MAX);
    notes[number][note_count[number]++] = message->n;
    return TR_SAME;
}

static tr_next on_who(tr_self *self, const struct who *message)
{
    unsigned number = number_of(self);
    notes[number][note_count[number]++] = message->n;
    return tr_reply(
        self, who_said, .number = number, .worker = tr_worker(self), .member = tr_me(self));
}

static tr_next on_fall(void)
{
    return TR_STOP;
}

static tr_next on_break(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "broken");
}

#define MEMBER(name, ...)                                                                          \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_SETUP(member_set_up),                                                           \
                TR_ON(told, on_told),                                                              \
                TR_ON(who, on_who),                                                                \
                TR_ON(fall, on_fall),                                                              \
                TR_ON(break_, on_break),                                                           \
                TR_ON(run, on_run),                                                                \
                __VA_ARGS__)

MEMBER(member, TR_OPTIONS(.is_pinned = true));

static tr_next on_boss_end(const struct tr_terminated *message);
TR_BEHAVIOR(boss, void, TR_ON(run, on_run), TR_ON(tr_terminated, on_boss_end),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* The group of the play, and whose ends the boss has heard of. */
static member_ref group;
static int ends;

static tr_next on_boss_end(const struct tr_terminated *message)
{
    ck_assert(tr_is_same(message->who, group));
    ends++;
    return TR_SAME;
}

KITS_UNUSED static size_t notes_total(void)
{
    size_t total = 0;
    for (int i = 0; i < MEMBERS_MAX; i++)
        total += note_count[i];
    return total;
}

/* A group of these members, spawned by the test and set up. */
KITS_UNUSED static void group_open(const char *name, int members)
{
    crowd_clear();
    ends = 0;
    ck_assert_int_eq(tr_try_spawn_group(test, &group, member, name, members), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, group, TR_SECOND, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_group_count(test, group), (size_t)members);
}

/* Runs a turn of a boss on a worker. */
KITS_UNUSED static void boss_runs(int worker, turn *turn_)
{
    boss_ref boss;
    ck_assert_int_eq(tr_try_spawn_at(test, &boss, worker, boss, NULL), TR_OK);
    TELL_RUN(test, boss, turn_);
    tr_kit_settle(kit);
}

/* What each member has is in the order sent. */
KITS_UNUSED static void notes_are_in_order(void)
{
    for (int i = 0; i < MEMBERS_MAX; i++) {
        for (size_t n = 1; n < note_count[i]; n++)
            ck_assert_uint_lt(notes[i][n - 1], notes[i][n]);
    }
}

#endif
