/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups and their supervisors: members are supervised as the children of who spawned the group, who
 * knows the group by its ref alone.
 */
#include "support/crowd.h"

/* What the decider of /user/top saw, and what the chief heard. */
static tr_error seen;
static int falls;
static int chief_starts;
static struct tr_child_failed heard;
static int heard_count;
static tr_ref chief_ref;

static tr_directive look_and_restart(tr_self *self, const tr_error *cause)
{
    (void)self;
    seen = *cause;
    falls++;
    return TR_RESTART;
}

static tr_directive always_escalate(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_ESCALATE;
}

static tr_next on_heard(const struct tr_child_failed *message)
{
    heard = *message;
    heard_count++;
    return TR_SAME;
}

static bool spawns_again; /* a chief that is restarted */
static tr_next chief_set_up(tr_self *self)
{
    chief_ref = tr_me(self);
    chief_starts++;
    if (spawns_again && chief_starts > 1)
        group = tr_spawn_group(self, member, "mills", 3);
    return TR_SAME;
}

TR_ACTOR(top, run);
TR_BEHAVIOR(top, void, TR_ON(run, on_run),
            TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = look_and_restart));

#define CHIEF(name, ...)                                                                           \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_SETUP(chief_set_up),                                                            \
                TR_ON(run, on_run),                                                                \
                TR_ON(tr_child_failed, on_heard),                                                  \
                TR_SUPERVISE(__VA_ARGS__))

TR_BEHAVIOR_DECLARE(alarmed);
TR_BEHAVIOR_DECLARE(together);
TR_BEHAVIOR_DECLARE(in_a_row);
TR_BEHAVIOR_DECLARE(apart);
CHIEF(alarmed, TR_ONE_FOR_ONE, .decide = always_escalate);
CHIEF(together, TR_ALL_FOR_ONE, .restarts_max = 1);
CHIEF(in_a_row, TR_REST_FOR_ONE, .restarts_max = 1);
CHIEF(apart, TR_ONE_FOR_ONE, .restarts_max = 1);

/* A chief of this behavior, below one who looks, and its group. */
static const tr_behavior *chief_behavior;
static tr_next spawn_chief(tr_self *self)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = chief_behavior, .name = "chief", .worker = 0};
    uint64_t bits;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    return TR_SAME;
}
static tr_next spawn_group(tr_self *self)
{
    group = tr_spawn_group(self, member, "mills", 3);
    return TR_SAME;
}
static void chief_open(const tr_behavior *behavior)
{
    top_ref top;
    crowd_clear();
    falls = 0;
    chief_starts = 0;
    spawns_again = false;
    heard_count = 0;
    chief_behavior = behavior;
    ck_assert_int_eq(tr_try_spawn_at(test, &top, home, top, "top"), TR_OK);
    TELL_RUN(test, top, spawn_chief);
    tr_kit_settle(kit);
    TELL_RUN(test, chief_ref, spawn_group);
    tr_kit_settle(kit);
}

static tr_ref breaks(size_t number)
{
    tr_ref members[3];
    ck_assert_uint_eq(tr_group_members(test, group, members, 3), 3);
    ck_assert_int_eq(tr_tell(test, members[number], break_), TR_OK);
    tr_kit_settle(kit);
    return members[number];
}

/* The chief has failed by this member, and was restarted; the group is gone. */
static void chief_fell(tr_ref member, tr_error_reason reason, tr_directive directive)
{
    ck_assert_int_eq(falls, 1);
    ck_assert_int_eq(chief_starts, 2);
    ck_assert_int_eq(seen.status, TR_BAD_DATA);
    ck_assert_str_eq(seen.text, "broken");
    ck_assert(tr_is_same(seen.actor, member));
    ck_assert_uint_eq(seen.link_count, 2);
    ck_assert(tr_is_same(seen.links[0].actor, group));
    ck_assert(tr_is_same(seen.links[1].actor, chief_ref));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(seen.links[i].reason, reason);
        ck_assert_uint_eq(seen.links[i].incarnation, 1);
    }
    ck_assert_int_eq(heard_count, 1);
    ck_assert(tr_is_same(heard.child, group));
    ck_assert_int_eq(heard.directive, directive);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_STOPPED);
    TELL_RUN(test, chief_ref, spawn_group); /* its name is free */
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_group_count(test, group), 3);
}

static void escalation_play(void)
{
    chief_open(&tr_behavior_alarmed);
    tr_ref member = breaks(kits_seed % 3);
    chief_fell(member, TR_BY_ESCALATION, TR_ESCALATE);
}
TEST(a_member_that_is_escalated_fails_who_spawned_the_group, "S-06", "S-10")
{
    kits_each_anywhere(escalation_play);
}

static void again_play(void)
{
    chief_open(&tr_behavior_alarmed);
    spawns_again = true;
    for (int i = 1; i <= 3; i++) {
        tr_ref old = tr_any(group);
        (void)breaks(kits_seed % 3);
        ck_assert_int_eq(falls, i);
        ck_assert_int_eq(chief_starts, 1 + i);
        ck_assert(!tr_is_same(group, old));
        ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_OK);
    }
    tr_kit_settle(kit);
    ck_assert_uint_eq(notes_total(), 3);
}
TEST(a_set_up_that_spawns_the_group_has_it_back, "S-06")
{
    kits_each_anywhere(again_play);
}

static void exhaustion_play(void)
{
    chief_open(kits_seed % 2 ? &tr_behavior_together : &tr_behavior_in_a_row);
    (void)breaks(1);
    ck_assert_int_eq(set_ups[1], kits_seed % 2 ? 2 : 1);
    ck_assert_int_eq(set_ups[2], 2);
    ck_assert_int_eq(set_ups[3], 2);
    ck_assert_int_eq(falls, 0);
    ck_assert_int_eq(heard_count, 0); /* the group has seen to it */
    tr_ref member = breaks(1);
    chief_fell(member, TR_BY_EXHAUSTION, TR_STOP_CHILD);
}
TEST(restarts_of_all_that_are_used_up_fail_who_spawned_the_group, "S-03", "S-06")
{
    kits_each_anywhere(exhaustion_play);
}

static void alone_play(void)
{
    chief_open(&tr_behavior_apart);
    (void)breaks(1);
    (void)breaks(1);
    ck_assert_uint_eq(tr_group_count(test, group), 2);
    ck_assert_int_eq(falls, 0);
    ck_assert_int_eq(chief_starts, 1);
}
TEST(a_member_whose_restarts_are_used_up_leaves_alone, "S-03")
{
    kits_each(alone_play);
}

/* From outside the group is a child of /user. */
static void outside_play(void)
{
    group_open("mills", 3);
    for (int i = 0; i < 4; i++)
        (void)breaks(1);
    ck_assert_uint_eq(tr_group_count(test, group), 2);
    ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(notes_total(), 1);
}
TEST(a_member_of_a_clients_group_leaves_alone, "S-03")
{
    kits_each(outside_play);
}

/* ---- What a parent sees. ---- */

static tr_ref spawned[3];
static tr_next spawn_three(tr_self *self)
{
    spawned[0] = tr_any(tr_spawn_group(self, member, "mills", 2));
    spawned[1] = tr_any(tr_spawn(self, boss, NULL));
    spawned[2] = tr_any(tr_spawn_group(self, member, NULL, 1));
    return TR_SAME;
}
static tr_next look_at_children(tr_self *self)
{
    tr_ref children[3];
    ck_assert_uint_eq(tr_children(self, children, 3), 3);
    for (int i = 0; i < 3; i++)
        ck_assert(tr_is_same(children[i], spawned[i]));
    say("3");
    return TR_SAME;
}
static void children_play(void)
{
    boss_ref boss;
    crowd_clear();
    ck_assert_int_eq(tr_try_spawn_at(test, &boss, home, boss, NULL), TR_OK);
    TELL_RUN(test, boss, spawn_three);
    for (int i = 0; i < 10; i++) { /* it may move away from them */
        TELL_RUN(test, boss, look_at_children);
        tr_kit_settle(kit);
        SAID("3");
    }
}
TEST(a_group_is_a_child_by_its_own_ref, "")
{
    kits_each(children_play);
    kits_each_moving(40, children_play);
}

/* Set-ups within set-ups, so deep that the group of the last is set up later: nobody waits for it. */
TR_MESSAGE(dig, (u32, deeper));
TR_ACTOR(digger, run);
static tr_next digger_set_up(tr_self *self, void *state, const struct dig *message)
{
    (void)state;
    if (message->deeper) {
        tr_spawn(self, digger, NULL, dig, .deeper = message->deeper - 1);
        return TR_SAME;
    }
    group = tr_spawn_group(self, member, "mills", 2);
    tr_ref child;
    ck_assert_uint_eq(tr_children(self, &child, 1), 1);
    ck_assert(tr_is_same(child, group));
    ck_assert_int_eq(set_ups[1], 0);
    return TR_SAME;
}
TR_BEHAVIOR(digger, void, TR_SETUP_WITH(dig, digger_set_up), TR_ON(run, on_run),
            TR_ON(tr_child_failed, on_heard));
static tr_next go_deep(tr_self *self)
{
    tr_spawn(self, digger, NULL, dig, .deeper = TR_SETUPS_NESTED_MAX - 1);
    return TR_SAME;
}
static void late_play(void)
{
    crowd_clear();
    heard_count = 0;
    failing = 1;
    boss_runs(0, go_deep);
    ck_assert_int_eq(heard_count, 1);
    ck_assert(tr_is_same(heard.child, group));
    ck_assert(tr_is_same(heard.cause.actor, group));
    ck_assert_int_eq(heard.directive, TR_STOP_CHILD);
    ck_assert_ptr_nonnull(strstr(heard.cause.text, "does not like it"));
    ck_assert_int_eq(tr_tell(test, group, told, .n = 1), TR_STOPPED);
}
TEST(a_group_that_is_not_set_up_later_is_told_by_its_own_ref, "")
{
    kits_each(late_play);
}

SUITE("crowd supervision", a_member_that_is_escalated_fails_who_spawned_the_group,
      a_set_up_that_spawns_the_group_has_it_back,
      restarts_of_all_that_are_used_up_fail_who_spawned_the_group,
      a_member_whose_restarts_are_used_up_leaves_alone, a_member_of_a_clients_group_leaves_alone,
      a_group_is_a_child_by_its_own_ref, a_group_that_is_not_set_up_later_is_told_by_its_own_ref)
