/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Children that are restarted together: all for one, and the rest for one.
 */
#include "support/crew.h"

PARENT(all_boss, TR_SUPERVISE(TR_ALL_FOR_ONE));
PARENT(rest_boss, TR_SUPERVISE(TR_REST_FOR_ONE));
PARENT(late_boss,
       TR_SUPERVISE(TR_ALL_FOR_ONE, .restarts_max = 20, .backoff = {.initial_ns = 100 * MS}));

static void play_all(void)
{
    crew_open(&tr_behavior_all_boss, &tr_behavior_kid_plain, 4);
    for (int i = 0; i < 2; i++)
        tell_notes(kid[i], (uint64_t)(10 * i), (uint64_t)(10 * i));
    TELL_RUN(test, kid[1], fall);
    for (int i = 0; i < 4; i++)
        tell_notes(kid[i], (uint64_t)(10 * i + 1), (uint64_t)(10 * i + 1));
    tr_kit_settle(kit);
    /* Mail is handled before, between or after; the rest has one order only. */
    const char *text = said();
    const char *at = text;
    static const char *const order[] = {"d down",
                                        "c down",
                                        "b down",
                                        "a down",
                                        "a set-up",
                                        "a start",
                                        "a up",
                                        "b set-up",
                                        "b start",
                                        "b up",
                                        "c set-up",
                                        "c start",
                                        "c up",
                                        "d set-up",
                                        "d start",
                                        "d up"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = strstr(at, order[i]);
        ck_assert_msg(at, "home %d, seed %d: \"%s\": %s", home, (int)kits_seed, text, order[i]);
    }
    static const char *const mail[] = {"a 0", "a 1", "b 10", "b 11", "c 21", "d 31"};
    for (size_t i = 0; i < sizeof mail / sizeof *mail; i++)
        ck_assert_msg(strstr(text, mail[i]), "\"%s\": %s", text, mail[i]);
    ck_assert_ptr_null(strstr(text, "stop"));
    TOLD("R");
}

TEST(all_go_down_in_reverse_order_and_come_up_in_order, "S-07", "SU-06")
{
    kits_each(play_all);
}

static void play_rest(void)
{
    crew_open(&tr_behavior_rest_boss, &tr_behavior_kid_plain, 4);
    DO(kid[2], fall);
    SAID("d down; c down; c set-up; c start; c up; d set-up; d start; d up");
    DO(kid[3], fall);
    SAID("d down; d set-up; d start; d up");
    DO(kid[0], fall);
    SAID("d down; c down; b down; a down; a set-up; a start; a up; b set-up; b start; b up; "
         "c set-up; c start; c up; d set-up; d start; d up");
    TOLD("RRR");
    for (int i = 0; i < 4; i++) {
        tell_notes(kid[i], 1, 1);
        tr_kit_settle(kit);
    }
    SAID("a 1; b 1; c 1; d 1");
}

TEST(the_rest_are_those_that_were_started_later, "S-07", "SU-07")
{
    kits_each(play_rest);
}

static void play_rest_at_once(void)
{
    crew_open(&tr_behavior_rest_boss, &tr_behavior_kid_plain, 4);
    is_quiet = true;
    for (int i = 1; i < 4; i++)
        TELL_RUN(test, kid[kits_seed % 2 ? i : 4 - i], fall);
    tr_kit_settle(kit);
    TOLD("RRR");
    for (int i = 0; i < 4; i++)
        ck_assert_msg(is_up(kid[i]), "home %d, seed %d: %d hangs", home, (int)kits_seed, i);
}

TEST(a_smaller_group_does_not_leave_a_larger_one_behind, "S-07", "SU-17")
{
    kits_each(play_rest_at_once);
}

/* ---- Temporary ones. ---- */

KID(kid_temporary, TR_OPTIONS(.restart = TR_TEMPORARY));
KID(kid_permanent, TR_OPTIONS(.restart = TR_PERMANENT));

static tr_ref extra_kid;
static const tr_behavior *extra_behavior;
static tr_next spawn_extra(tr_self *self)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = extra_behavior, .name = "x", .worker = home};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    extra_kid = tr_ref_from_bits(bits);
    return TR_SAME;
}

static void play_temporary(void)
{
    crew_open(&tr_behavior_all_boss, &tr_behavior_kid_plain, 2);
    extra_behavior = &tr_behavior_kid_temporary;
    DO(boss, spawn_extra);
    (void)said();
    DO(kid[0], fall);
    SAID("x stop; b down; a down; a set-up; a start; a up; b set-up; b start; b up");
    TOLD("R");
    ck_assert_int_eq(tr_tell(test, extra_kid, note), TR_STOPPED);
    /* One that fails itself stops, and nobody goes along. */
    DO(boss, spawn_extra);
    (void)said();
    DO(extra_kid, fall);
    SAID("x stop");
    TOLD("S");
    DO(kid[0], fall);
    DO(kid[0], fall); /* it has cost no budget of others */
    TOLD("RR");
}

TEST(temporary_siblings_stop_and_cost_nothing, "S-07", "S-08", "SU-09")
{
    kits_each(play_temporary);
}

/* ---- Delays, and failures meanwhile. ---- */

static void play_delay(void)
{
    crew_open(&tr_behavior_late_boss, &tr_behavior_kid_plain, 3);
    DO(kid[1], fall);
    tell_notes(kid[0], 1, 1);
    tr_kit_advance(kit, 100 * MS - 1);
    SAID("a 1"); /* the others continue as long as the delay lasts */
    tr_kit_advance(kit, 1);
    SAID("c down; b down; a down; a set-up; a start; a up; b set-up; b start; b up; c set-up; "
         "c start; c up");
    TOLD("R");
}

TEST(the_others_work_until_the_delay_is_over, "S-05", "S-07", "SU-14")
{
    kits_each(play_delay);
}

static void play_second_failure(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    crew_open(&tr_behavior_all_boss, &tr_behavior_kid_plain, 4);
    const char *name = names[kits_seed % 4];
    bool is_setup = kits_seed / 4 % 2;
    if (is_setup) {
        broken_setup.name = name;
        broken_setup.times = 2;
    } else {
        broken_start.name = name;
        broken_start.times = 2;
    }
    DO(kid[kits_seed / 8 % 4], fall);
    TOLD("RRR");
    const char *text = said();
    /* At last all come up in order, none of them twice. */
    ck_assert_msg(strlen(text) > 60, "%s", text);
    const char *tail = text + strlen(text) - strlen("d set-up; d start; d up");
    ck_assert_msg(strcmp(tail, "d set-up; d start; d up") == 0, "%s", text);
    for (int i = 0; i < 4; i++)
        ck_assert(is_up(kid[i]));
    ck_assert_ptr_null(strstr(text, "stop"));
}

TEST(a_second_failure_restarts_the_group_again, "S-07", "SU-17")
{
    kits_each(play_second_failure);
}

static void play_many_failures(void)
{
    crew_open(&tr_behavior_late_boss, &tr_behavior_kid_plain, 4);
    is_quiet = true;
    for (uint64_t i = 0; i < 6; i++) {
        TELL_RUN(test, kid[(i * kits_seed + i / 3) % 4], fall);
        if (i % 2)
            tr_kit_advance(kit, (tr_time)(kits_seed * i % 7) * 40 * MS);
        for (uint64_t step = kits_seed % 5; step; step--)
            tr_kit_step(kit);
    }
    tr_kit_advance(kit, 100 * TR_SECOND);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(is_up(kid[i]), "home %d, seed %d: %d hangs", home, (int)kits_seed, i);
    told_text[0] = '\0';
}

PARENT(tough_boss, TR_SUPERVISE(TR_ALL_FOR_ONE, .restarts_max = 20));

/* What waits for a member that comes up makes it fail again while others are still told to. */
static void play_queued_failures(void)
{
    crew_open(&tr_behavior_tough_boss, &tr_behavior_kid_plain, 4);
    is_quiet = true;
    for (int i = 0; i < 12; i++)
        TELL_RUN(test, kid[i % 4], fall);
    tr_kit_settle(kit);
    ck_assert_msg(
        strlen(told_text) == 12, "home %d, seed %d: told %s", home, (int)kits_seed, told_text);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(is_up(kid[i]), "home %d, seed %d: %d hangs", home, (int)kits_seed, i);
    told_text[0] = '\0';
}

TEST(however_failures_meet_all_are_up_in_the_end, "S-07", "SU-17")
{
    kits_each(play_many_failures);
    kits_each(play_queued_failures);
    for (uint64_t seed = 100; seed < 100 + test_scale(300, 5000); seed++) {
        kit_open(4, seed);
        play_queued_failures();
        kit_close();
    }
    for (uint64_t seed = 100; seed < 100 + test_scale(300, 5000); seed++) {
        kit_open(4, seed);
        play_many_failures();
        kit_close();
    }
}

/* A supervisor that continues with one that fails while it comes up. */
static tr_directive resume_starts(tr_self *self, const tr_error *cause)
{
    (void)self;
    return strcmp(cause->where, "run") == 0 ? TR_RESTART : TR_RESUME;
}
PARENT(resuming_boss, TR_SUPERVISE(TR_ALL_FOR_ONE, .decide = resume_starts));

static void play_resumed(void)
{
    crew_open(&tr_behavior_resuming_boss, &tr_behavior_kid_plain, 3);
    broken_start.name = "b";
    broken_start.times = 1;
    DO(kid[0], fall);
    TOLD("Rr");
    for (int i = 0; i < 3; i++)
        ck_assert_msg(is_up(kid[i]), "home %d, seed %d: %d hangs", home, (int)kits_seed, i);
}

TEST(one_that_is_resumed_while_it_comes_up_holds_up_nobody, "S-02", "S-07")
{
    kits_each(play_resumed);
}

static tr_next spawn_all_and_fall(tr_self *self)
{
    crew_spawn(self);
    TELL_RUN(self, kid[home], fall); /* beside its parent, and so at once */
    return TR_SAME;
}

static void play_unborn(void)
{
    is_quiet = true;
    kid_count = 4;
    kid_behavior = &tr_behavior_kid_plain;
    broken_start.name = broken_setup.name = NULL;
    boss = crew_spawn_top(&tr_behavior_all_boss, "boss");
    DO(boss, spawn_all_and_fall);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(is_up(kid[i]), "home %d, seed %d: %d hangs", home, (int)kits_seed, i);
    told_text[0] = '\0';
}

TEST(members_that_are_not_set_up_yet_go_along, "S-07", "L-01")
{
    kits_each(play_unborn);
}

/* ---- A member that fails when it has been told to go down. ---- */

static bool is_hit;

/* The first failure makes the child of a member fail, which the member hears of with its order. */
static tr_next hit_grandchild(tr_self *self, const struct tr_child_failed *message)
{
    if (!is_hit)
        TELL_RUN(self, extra_kid, fall);
    is_hit = true;
    return crew_child_failed(message);
}

static tr_directive resume_escalated(tr_self *self, const tr_error *cause)
{
    (void)self;
    return cause->link_count ? TR_RESUME : TR_RESTART;
}

static tr_directive escalate(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_ESCALATE;
}

TR_BEHAVIOR(hitting_boss, void, TR_ON(run, on_run), TR_ON(tr_child_failed, hit_grandchild),
            TR_SUPERVISE(TR_ALL_FOR_ONE, .decide = resume_escalated));
KID(kid_escalating, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = escalate));

static void play_resumed_on_its_way_down(void)
{
    crew_open(&tr_behavior_hitting_boss, &tr_behavior_kid_escalating, 2);
    extra_behavior = &tr_behavior_kid_plain;
    DO(kid[1], spawn_extra);
    is_quiet = true;
    is_hit = false;
    DO(kid[0], fall);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(is_up(kid[i]), "home %d, seed %d: %d hangs", home, (int)kits_seed, i);
    told_text[0] = '\0';
}

TEST(one_that_is_resumed_on_its_way_down_holds_up_nobody, "S-02", "S-06", "S-07")
{
    kits_each(play_resumed_on_its_way_down);
}

/* ---- A member whose own supervision says that it is restarted alone. ---- */

static const tr_supervision on_its_own = {.restarts_max = 5};

PARENT(mixed_boss, TR_SUPERVISE(TR_ALL_FOR_ONE), TR_CHILD(kid_plain, "a"),
       TR_CHILD(kid_plain, "b", .supervision = &on_its_own), TR_CHILD(kid_plain, "c"));

static void play_alone_in_a_group(void)
{
    static const char *const names[] = {"/user/boss/a", "/user/boss/b", "/user/boss/c"};
    crew_open(&tr_behavior_mixed_boss, &tr_behavior_kid_plain, 0);
    for (int i = 0; i < 3; i++)
        kid[i] = tr_client_find(test, names[i]);
    is_quiet = true;
    if (kits_seed % 2) {
        broken_start.name = "b";
        broken_start.times = 1;
    } else {
        broken_setup.name = "b";
        broken_setup.times = 2;
    }
    DO(kid[0], fall);
    TOLD(kits_seed % 2 ? "RR" : "RRR");
    for (int i = 0; i < 3; i++)
        ck_assert_msg(is_up(kid[i]), "home %d, seed %d: %d hangs", home, (int)kits_seed, i);
}

TEST(one_that_is_restarted_alone_holds_up_nobody, "S-01", "S-07")
{
    kits_each(play_alone_in_a_group);
}

/* ---- Ends meanwhile. ---- */

static void play_ends(void)
{
    crew_open(&tr_behavior_all_boss, &tr_behavior_kid_plain, 4);
    is_quiet = true;
    TELL_RUN(test, kid[1], fall);
    for (uint64_t i = kits_seed / 2; i; i--)
        tr_kit_step(kit);
    tr_ref who = kits_seed % 5 == 4 ? boss : kid[kits_seed % 5];
    if (kits_seed % 2)
        tr_stop(test, who);
    else
        tr_kill(test, who);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_tell(test, who, note), TR_STOPPED);
    for (int i = 0; i < 4; i++) {
        bool is_gone = tr_is_same(who, kid[i]) || tr_is_same(who, boss);
        ck_assert_msg(is_up(kid[i]) == !is_gone, "home %d, seed %d: %d", home, (int)kits_seed, i);
    }
    told_text[0] = '\0';
}

TEST(whoever_ends_meanwhile_holds_up_nobody, "S-07", "S-09", "SU-15")
{
    kits_each(play_ends);
    for (uint64_t seed = 100; seed < 100 + test_scale(200, 3000); seed++) {
        kit_open(4, seed);
        kits_seed = seed % 60;
        play_ends();
        kit_close();
    }
}

/* ---- Too often. ---- */

static void play_exhausted(void)
{
    crew_open(&tr_behavior_rest_boss, &tr_behavior_kid_plain, 3);
    for (int i = 0; i < 3; i++)
        DO(kid[1], fall);
    TOLD("RRR");
    (void)said();
    DO(kid[1], fall);
    /* The group stops, and the supervisor fails: restarted by its own, it has no children. */
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "b stop"));
    ck_assert_ptr_nonnull(strstr(text, "c stop"));
    ck_assert_ptr_nonnull(strstr(text, "a stop"));
    ck_assert_ptr_nonnull(strstr(text, "boss down"));
    ck_assert_ptr_nonnull(strstr(text, "boss start; boss up"));
    TOLD("S");
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 1);
}

TEST(one_failure_too_many_stops_the_group_and_fails_the_supervisor, "S-03", "S-07", "SU-10")
{
    kits_each(play_exhausted);
}

/* The supervisor continues; whoever was stopped with the group stays stopped. */
static tr_directive always_resume(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_RESUME;
}
PARENT(forgiving_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = always_resume));

static tr_next spawn_rest_boss(tr_self *self)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_rest_boss, .name = "boss", .worker = home};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    boss = tr_ref_from_bits(bits);
    return TR_SAME;
}

static void play_stays_stopped(void)
{
    broken_start.name = broken_setup.name = NULL;
    is_quiet = true;
    tr_ref top = crew_spawn_top(&tr_behavior_forgiving_boss, "top");
    DO(top, spawn_rest_boss);
    kid_count = 2;
    kid_behavior = &tr_behavior_kid_plain;
    DO(boss, crew_spawn);
    extra_behavior = &tr_behavior_kid_permanent;
    DO(boss, spawn_extra);
    for (int i = 0; i < 4; i++)
        DO(kid[1], fall);
    (void)said();
    told_text[0] = '\0';
    ck_assert(is_up(boss));
    ck_assert(is_up(kid[0])); /* started before: it does not go along */
    ck_assert(!is_up(kid[1]));
    ck_assert(!is_up(extra_kid));
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 3);
}

TEST(a_group_that_was_stopped_does_not_come_back, "S-03", "S-07", "S-08")
{
    kits_each(play_stays_stopped);
}

SUITE("group", all_go_down_in_reverse_order_and_come_up_in_order,
      the_rest_are_those_that_were_started_later,
      a_smaller_group_does_not_leave_a_larger_one_behind, temporary_siblings_stop_and_cost_nothing,
      the_others_work_until_the_delay_is_over, a_second_failure_restarts_the_group_again,
      however_failures_meet_all_are_up_in_the_end,
      one_that_is_resumed_while_it_comes_up_holds_up_nobody,
      one_that_is_resumed_on_its_way_down_holds_up_nobody,
      one_that_is_restarted_alone_holds_up_nobody, members_that_are_not_set_up_yet_go_along,
      whoever_ends_meanwhile_holds_up_nobody,
      one_failure_too_many_stops_the_group_and_fails_the_supervisor,
      a_group_that_was_stopped_does_not_come_back)
