/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which ends of a child are followed by a new start; children that a behavior declares; significant
 * ones.
 */
#include "support/crew.h"

PARENT(plain_boss, TR_OPTIONS(.is_pinned = true));
KID(permanent, TR_OPTIONS(.restart = TR_PERMANENT));
KID(transient, TR_OPTIONS(.restart = TR_TRANSIENT));
KID(temporary, TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next stop_first(tr_self *self)
{
    ck_assert_int_eq(tr_stop(self, kid[0]), TR_OK);
    return TR_SAME;
}

static tr_next kill_first(tr_self *self)
{
    ck_assert_int_eq(tr_kill(self, kid[0]), TR_OK);
    return TR_SAME;
}

enum end { BY_ITSELF, BY_PILL, BY_KILL, BY_PARENT, BY_PARENT_KILL, BY_FAILURE, ENDS };

static void end_first(enum end end)
{
    switch (end) {
    case BY_ITSELF:
        DO(kid[0], leave);
        break;
    case BY_PILL:
        ck_assert_int_eq(tr_stop(test, kid[0]), TR_OK);
        break;
    case BY_KILL:
        ck_assert_int_eq(tr_kill(test, kid[0]), TR_OK);
        break;
    case BY_PARENT:
        DO(boss, stop_first);
        break;
    case BY_PARENT_KILL:
        DO(boss, kill_first);
        break;
    default:
        DO(kid[0], fall);
        break;
    }
    tr_kit_settle(kit);
}

static tr_ref found(const char *path)
{
    return tr_client_find(test, path);
}

static void play_types(void)
{
    static const tr_behavior *const types[] = {
        &tr_behavior_permanent, &tr_behavior_transient, &tr_behavior_temporary};
    for (int type = 0; type < 3; type++) {
        for (enum end end = 0; end < ENDS; end++) {
            crew_open(&tr_behavior_plain_boss, types[type], 1);
            end_first(end);
            tr_ref now = found("/user/boss/a");
            bool stays = end == BY_FAILURE && type < 2;
            bool returns = type == 0 && end <= BY_KILL;
            if (stays) {
                SAID("a down; a set-up; a start; a up");
                ck_assert(tr_is_same(now, kid[0]));
            } else if (returns) {
                SAID("a stop; a set-up; a start");
                ck_assert(!tr_is_nobody(now));
                ck_assert(!tr_is_same(now, kid[0]));
            } else {
                SAID("a stop");
                ck_assert(tr_is_nobody(now));
            }
            ck_assert(is_up(kid[0]) == stays);
            ck_assert(is_up(now) == (stays || returns));
            TOLD(end != BY_FAILURE ? "" : stays ? "R" : "S");
            tr_stop(test, boss);
            tr_kit_settle(kit);
            ck_assert(tr_is_nobody(found("/user/boss/a")));
        }
    }
}

TEST(each_type_of_child_at_each_end, "S-08", "SU-08")
{
    kits_each(play_types);
}

/* ---- Coming back. ---- */

static char order_text[64];
static tr_next write_order(tr_self *self)
{
    tr_ref children[CREW_MAX];
    size_t count = tr_children(self, children, CREW_MAX);
    order_text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char path[TR_PATH_MAX + 1];
        bool is_known = false;
        for (char name = 'a'; name <= 'd'; name++) {
            snprintf(path, sizeof path, "/user/boss/%c", name);
            if (tr_is_same(found(path), children[i])) {
                strncat(order_text, &path[strlen(path) - 1], 1);
                is_known = true;
            }
        }
        ck_assert(is_known);
    }
    return TR_SAME;
}

static void play_place(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 4);
    for (int i = 0; i < 4; i++) {
        DO(kid[i], leave);
        DO(boss, write_order);
        ck_assert_str_eq(order_text, "abcd");
    }
    /* Two neighbours at once. */
    tr_ref b = found("/user/boss/b");
    tr_ref c = found("/user/boss/c");
    TELL_RUN(test, b, leave);
    TELL_RUN(test, c, leave);
    tr_kit_settle(kit);
    DO(boss, write_order);
    ck_assert_uint_eq(strlen(order_text), 4);
    ck_assert_int_eq(order_text[0], 'a');
}

TEST(who_comes_back_has_its_old_place, "S-08", "S-07")
{
    kits_each(play_place);
}

static void play_return_budget(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 1);
    for (int i = 0; i < 3; i++) {
        tr_ref now = found("/user/boss/a");
        if (i == 1)
            DO(now, fall); /* both kinds of restart are counted together */
        else
            DO(now, leave);
        ck_assert(is_up(found("/user/boss/a")));
    }
    (void)said();
    told_text[0] = '\0';
    DO(found("/user/boss/a"), leave);
    SAID("a stop");
    TOLD("S");
    ck_assert_int_eq(told_cause.status, TR_STOPPED);
    ck_assert(tr_is_nobody(found("/user/boss/a")));
}

TEST(who_ends_too_often_does_not_come_back, "S-03", "S-08", "SU-10")
{
    kits_each(play_return_budget);
}

PARENT(slow_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .backoff = {.initial_ns = 100 * MS}));

static void play_return_delay(void)
{
    crew_open(&tr_behavior_slow_boss, &tr_behavior_permanent, 2);
    DO(kid[0], leave);
    SAID("a stop");
    tr_kit_advance(kit, 100 * MS - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    SAID("a set-up; a start");
    /* Whatever becomes of the parent meanwhile, nobody comes back to what is gone. */
    DO(kid[1], leave);
    (void)said();
    switch (kits_seed % 3) {
    case 0:
        tr_stop(test, boss);
        tr_kit_advance(kit, TR_SECOND);
        SAID("a stop; boss stop");
        break;
    case 1:
        DO(boss, fall);
        tr_kit_advance(kit, TR_SECOND);
        SAID("boss down; a stop; boss start; boss up");
        break;
    default:
        break; /* the system is shut down */
    }
}

TEST(who_comes_back_waits_its_delay, "S-05", "S-08", "SU-14")
{
    kits_each(play_return_delay);
}

/* A failure does not hide that it was ended by somebody else, whatever its supervisor has decided. */
static void play_end_of_failed(void)
{
    crew_open(&tr_behavior_slow_boss, &tr_behavior_permanent, 1);
    DO(kid[0], fall);
    SAID("");
    TOLD("R");
    (void)(kits_seed % 2 ? tr_kill(test, kid[0]) : tr_stop(test, kid[0]));
    tr_kit_settle(kit);
    SAID("a stop");
    tr_kit_advance(kit, TR_SECOND);
    SAID("a set-up; a start");
    TOLD("");
    tr_ref now = found("/user/boss/a");
    ck_assert(is_up(now));
    ck_assert(!tr_is_same(now, kid[0]));
    /* Nobody has decided yet, or just now. */
    tr_kit_advance(kit, TR_MINUTE);
    TELL_RUN(test, now, fall);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        tr_kit_step(kit);
    tr_kill(test, now);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert(is_up(found("/user/boss/a")));
    (void)said();
    told_text[0] = '\0';
}

TEST(who_is_ended_after_a_failure_comes_back_too, "S-08", "SU-08")
{
    kits_each(play_end_of_failed);
}

/* On another worker there is a while in which it is known and has not begun. */
static void play_end_of_returning(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 2);
    tr_kill(test, kid[1]);
    tr_ref now = kid[1];
    while (tr_is_nobody(now) || tr_is_same(now, kid[1])) {
        ck_assert(tr_kit_step(kit));
        now = found("/user/boss/b");
    }
    tr_kill(test, now);
    tr_kit_settle(kit);
    ck_assert(!tr_is_same(found("/user/boss/b"), now));
    ck_assert(is_up(found("/user/boss/b")));
    (void)said();
    TOLD("");
}

TEST(who_is_ended_before_it_has_begun_again_comes_back_too, "S-08", "SU-08")
{
    kits_each(play_end_of_returning);
}

static void play_return_fails(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 1);
    broken_setup.name = "a";
    broken_setup.times = 1;
    DO(kid[0], leave);
    SAID("a stop; a set-up");
    TOLD("S");
    ck_assert(tr_is_nobody(found("/user/boss/a")));
}

TEST(who_cannot_start_again_is_reported, "S-08", "L-04")
{
    kits_each(play_return_fails);
}

static void play_fails_behind_a_pill(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 1);
    TELL_RUN(test, kid[0], fall);
    tr_stop(test, kid[0]);
    tell_notes(boss, 1, 1);
    tr_kit_settle(kit);
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "a stop"));
    ck_assert_ptr_null(strstr(text, "down"));
    told_text[0] = '\0';
}

TEST(one_that_fails_behind_a_poison_pill_stops, "S-08", "Y-01")
{
    kit_open(1, 1);
    play_fails_behind_a_pill();
    kit_close();
}

/* ---- Declared children. ---- */

static tr_next labelled_setup(tr_self *self, const struct label *message)
{
    say("%s is %s", tr_name(self), message->text);
    return is_broken(broken_setup.name, &broken_setup.times, self) ? fall(self) : TR_SAME;
}
TR_BEHAVIOR(labelled, void, TR_SETUP_WITH(label, labelled_setup), CREW_ROWS);

static const tr_supervision never = {.restarts_max = TR_NO_RESTARTS};

TR_BEHAVIOR(declaring, void, TR_SETUP(crew_setup), CREW_ROWS,
            TR_CHILD(labelled, "one", .setup = TR_WITH(label, .text = "first")),
            TR_CHILD(kid_plain, "two", .restart = TR_TEMPORARY),
            TR_CHILD(kid_plain, "three", .supervision = &never),
            TR_CHILD(kid_plain, "four", .restart = TR_PERMANENT));

#define DECLARED                                                                                   \
    "boss set-up; one is first; one start; two set-up; two start; three set-up; three start; "     \
    "four set-up; four start; boss start"

static void play_declared(void)
{
    is_quiet = false;
    broken_setup.name = broken_start.name = NULL;
    told_text[0] = '\0';
    boss = crew_spawn_top(&tr_behavior_declaring, "boss");
    SAID(DECLARED);
    DO(found("/user/boss/one"), fall);
    SAID("one down; one is first; one start; one up");
    DO(found("/user/boss/two"), fall);
    SAID("two stop");
    DO(found("/user/boss/three"), fall);
    SAID("three stop");
    DO(found("/user/boss/four"), leave);
    SAID("four stop; four set-up; four start");
    TOLD("RSS");
    DO(boss, fall);
    const char *text = said();
    ck_assert_int_eq(strncmp(text, "boss down; ", 11), 0);
    const char *again = strstr(text, DECLARED "; boss up");
    ck_assert_msg(again, "%s", text);
}

TEST(declared_children_are_started_before_their_parent_has, "S-01", "S-08", "B-01")
{
    kits_each(play_declared);
}

static void play_declared_fails(void)
{
    is_quiet = false;
    broken_start.name = NULL;
    broken_setup.name = "three";
    broken_setup.times = 1;
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_declaring, .name = "boss", .worker = home};
    uint64_t bits = 0;
    tr_error error;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    ck_assert_int_eq(tr_client_spawn_wait(test, tr_ref_from_bits(bits), TR_SECOND, &error),
                     TR_INIT_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "three"));
    tr_kit_settle(kit);
    const char *text = said();
    ck_assert_ptr_null(strstr(text, "boss start"));
    ck_assert_ptr_null(strstr(text, "boss stop"));
    ck_assert_ptr_nonnull(strstr(text, "one stop"));
    ck_assert_ptr_nonnull(strstr(text, "two stop"));
    ck_assert(tr_is_nobody(found("/user/boss")));
    ck_assert(tr_is_nobody(found("/user/boss/one")));
    /* At a restart that is a failure like any other. */
    boss = crew_spawn_top(&tr_behavior_declaring, "boss");
    broken_setup.times = 1;
    DO(boss, fall);
    text = said();
    ck_assert_ptr_nonnull(strstr(text, "boss start; boss up"));
    ck_assert(is_up(found("/user/boss/three")));
    broken_setup.times = INT32_MAX;
    DO(boss, fall);
    ck_assert(tr_is_nobody(found("/user/boss")));
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 0);
    (void)said();
}

TEST(one_that_does_not_start_lets_its_parent_not_start, "L-04", "S-05", "SU-18", "SU-19")
{
    kits_each(play_declared_fails);
}

/* ---- A set-up that fails elsewhere. ---- */

static int decisions;
static tr_directive count_decisions(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    decisions++;
    return TR_RESTART;
}
PARENT(asked_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = count_decisions));

TEST(a_set_up_that_fails_elsewhere_is_told_and_not_decided, "L-04", "G-03")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(40); seed++) {
        kit_open(3, seed);
        crew_open(&tr_behavior_asked_boss, &tr_behavior_kid_plain, 0);
        decisions = 0;
        broken_setup.name = "a";
        broken_setup.times = 1;
        kid_count = 1;
        DO(boss, crew_spawn); /* on another worker than its parent */
        SAID("a set-up");
        TOLD("S");
        ck_assert_int_eq(told_cause.status, TR_BAD_DATA);
        ck_assert(tr_is_same(told_child, kid[0]));
        ck_assert_int_eq(decisions, 0);
        kit_close();
    }
}

/* ---- Significant children. ---- */

#define SIGNIFICANT                                                                                \
    TR_CHILD(kid_plain, "a", .is_significant = true),                                              \
        TR_CHILD(kid_plain, "b", .is_significant = true, .restart = TR_TEMPORARY),                 \
        TR_CHILD(permanent, "c", .is_significant = true), TR_CHILD(kid_plain, "d")

PARENT(any_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .significance = TR_STOP_AFTER_ANY), SIGNIFICANT);
PARENT(every_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .significance = TR_STOP_AFTER_ALL), SIGNIFICANT);
PARENT(no_boss, TR_SUPERVISE(TR_ONE_FOR_ONE), SIGNIFICANT);

static tr_next stop_named_c(tr_self *self)
{
    tr_ref c = tr_self_child(self, "c");
    ck_assert_int_eq(tr_stop(self, c), TR_OK);
    return TR_SAME;
}

static void significant_open(const tr_behavior *behavior)
{
    is_quiet = true;
    broken_setup.name = broken_start.name = NULL;
    boss = crew_spawn_top(behavior, "boss");
    told_text[0] = '\0';
}

static void play_any(void)
{
    significant_open(&tr_behavior_any_boss);
    DO(found("/user/boss/d"), leave); /* a bystander */
    DO(found("/user/boss/a"), fall);  /* restarted: that is no end */
    DO(found("/user/boss/c"), leave); /* comes back: neither */
    ck_assert(is_up(boss));
    switch (kits_seed % 3) {
    case 0:
        DO(found("/user/boss/a"), leave);
        break;
    case 1:
        DO(found("/user/boss/b"), fall);
        break;
    default:
        DO(boss, stop_named_c);
        break;
    }
    ck_assert_int_eq(tr_tell(test, boss, note), TR_STOPPED);
    told_text[0] = '\0';
}

TEST(one_significant_child_that_ends_stops_its_supervisor, "S-11", "SU-23")
{
    kits_each(play_any);
}

static void play_every(void)
{
    significant_open(&tr_behavior_every_boss);
    DO(found("/user/boss/d"), leave);
    DO(found("/user/boss/c"), leave); /* comes back, and counts once */
    DO(found("/user/boss/c"), leave);
    DO(found("/user/boss/a"), leave);
    DO(found("/user/boss/b"), leave);
    ck_assert(is_up(boss));
    DO(boss, stop_named_c);
    ck_assert_int_eq(tr_tell(test, boss, note), TR_STOPPED);
}

TEST(the_last_significant_child_that_ends_stops_its_supervisor, "S-11", "SU-23")
{
    kits_each(play_every);
}

PARENT(slow_every_boss,
       TR_SUPERVISE(TR_ONE_FOR_ONE, .significance = TR_STOP_AFTER_ALL,
                    .backoff = {.initial_ns = 100 * MS}),
       TR_CHILD(permanent, "c", .is_significant = true));

static void play_every_restarted(void)
{
    significant_open(&tr_behavior_slow_every_boss);
    DO(found("/user/boss/c"), leave);
    DO(boss, fall); /* while that one waits to come back */
    tr_kit_advance(kit, TR_SECOND);
    ck_assert(is_up(boss));
    DO(boss, stop_named_c);
    ck_assert_int_eq(tr_tell(test, boss, note), TR_STOPPED);
}

TEST(significant_children_are_counted_anew_after_a_restart, "S-11", "SU-23")
{
    kits_each(play_every_restarted);
}

static void play_none(void)
{
    significant_open(&tr_behavior_no_boss);
    DO(found("/user/boss/a"), leave);
    DO(found("/user/boss/b"), leave);
    DO(boss, stop_named_c);
    ck_assert(is_up(boss));
    DO(boss, fall); /* and all are there again */
    ck_assert(is_up(found("/user/boss/b")));
    told_text[0] = '\0';
}

TEST(without_the_rule_nothing_follows, "S-11", "SU-23")
{
    kits_each(play_none);
}

/* ---- Many. ---- */

TR_BEHAVIOR(grain, void, TR_ON(run, on_run), TR_OPTIONS(.restart = TR_TEMPORARY));

static uint64_t grains_first;
static uint64_t grains_made;
static tr_next sow(tr_self *self)
{
    const tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_grain, .worker = -1};
    for (int i = 0; i < 1000; i++) {
        uint64_t bits = 0;
        ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
        if (i == 0)
            grains_first = bits;
        TELL_RUN(self, tr_ref_from_bits(bits), i % 2 ? leave : fall);
    }
    grains_made += 1000;
    return TR_SAME;
}

static tr_next sow_and_keep(tr_self *self)
{
    const tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_grain, .worker = -1};
    uint64_t bits = 0;
    for (int i = 0; i < 20000; i++)
        ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    return TR_SAME;
}

TEST(a_million_temporary_children_come_and_go_without_a_trace, "SU-24")
{
    kit_open(1, 1);
    crew_open(&tr_behavior_plain_boss, &tr_behavior_kid_plain, 0);
    is_quiet = true;
    uint64_t rounds = TEST_HAS_SANITIZER ? 50 : 1000;
    for (uint64_t i = 0; i < 20; i++) {
        DO(boss, sow);
        told_text[0] = '\0';
    }
    uint64_t before = tr_kit_allocations(kit);
    for (uint64_t i = 0; i < 20; i++) {
        DO(boss, sow);
        told_text[0] = '\0';
    }
    uint64_t each = (tr_kit_allocations(kit) - before) / 20;
    /* 500 of them fail, each with a record; those that end by themselves cost nothing. */
    ck_assert_uint_le(each, 500 * 3);
    for (uint64_t i = 40; i < rounds; i++) {
        DO(boss, sow);
        told_text[0] = '\0';
    }
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 1);
    before = tr_kit_allocations(kit);
    DO(boss, sow_and_keep);
    /* Nothing is kept of one that will not be started again, but for the cells, in blocks. */
    ck_assert_uint_le(tr_kit_allocations(kit) - before, 2000);
    kit_close();
}

SUITE("child types", each_type_of_child_at_each_end, who_comes_back_has_its_old_place,
      who_ends_too_often_does_not_come_back, who_comes_back_waits_its_delay,
      who_is_ended_after_a_failure_comes_back_too,
      who_is_ended_before_it_has_begun_again_comes_back_too, who_cannot_start_again_is_reported,
      one_that_fails_behind_a_poison_pill_stops,
      declared_children_are_started_before_their_parent_has,
      one_that_does_not_start_lets_its_parent_not_start,
      a_set_up_that_fails_elsewhere_is_told_and_not_decided,
      one_significant_child_that_ends_stops_its_supervisor,
      the_last_significant_child_that_ends_stops_its_supervisor,
      significant_children_are_counted_anew_after_a_restart, without_the_rule_nothing_follows,
      a_million_temporary_children_come_and_go_without_a_trace)
