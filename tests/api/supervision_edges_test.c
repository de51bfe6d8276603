/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Supervision, sentence by sentence: what siblings are told, which signals may fail, and what becomes
 * of failures while the system stops.
 */
#include "support/crew.h"

/* ---- Siblings hear of the cause. ---- */

static tr_next hears_down(tr_self *self, const struct tr_pre_restart *message)
{
    say("%s down by %s", tr_name(self), message->cause.text);
    ck_assert_int_eq(message->cause.status, TR_BAD_DATA);
    ck_assert(tr_is_same(message->cause.actor, kid[1]));
    return TR_SAME;
}

static tr_next hears_up(tr_self *self, const struct tr_post_restart *message)
{
    say("%s up by %s", tr_name(self), message->cause.text);
    ck_assert_int_eq(message->cause.status, TR_BAD_DATA);
    ck_assert(tr_is_same(message->cause.actor, kid[1]));
    return TR_SAME;
}

PARENT(all_boss, TR_SUPERVISE(TR_ALL_FOR_ONE));
TR_BEHAVIOR(hearing, void, TR_ON(run, on_run), TR_ON(tr_pre_restart, hears_down),
            TR_ON(tr_post_restart, hears_up));

static void play_cause(void)
{
    crew_open(&tr_behavior_all_boss, &tr_behavior_hearing, 3);
    DO(kid[1], fall);
    SAID(
        "c down by fell; b down by fell; a down by fell; a up by fell; b up by fell; c up by fell");
    TOLD("R");
}

TEST(siblings_are_restarted_with_the_cause_of_the_one_that_failed, "S-07", "G-02")
{
    kits_each(play_cause);
}

/* ---- Signals that fail. ---- */

static int up_fails;
static int end_fails;

static tr_next failing_up(tr_self *self)
{
    say("%s up", tr_name(self));
    return up_fails-- > 0 ? fall(self) : TR_SAME;
}

static tr_next failing_terminated(tr_self *self)
{
    say("%s hears", tr_name(self));
    return end_fails-- > 0 ? fall(self) : TR_SAME;
}

TR_BEHAVIOR(frail, void, TR_ON(run, on_run), TR_ON(tr_pre_start, crew_start),
            TR_ON(tr_post_stop, crew_stop), TR_ON(tr_pre_restart, crew_down),
            TR_ON(tr_post_restart, failing_up), TR_ON(tr_terminated, failing_terminated));
PARENT(plain_boss);

static void play_post_restart(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_frail, 1);
    up_fails = 1;
    DO(kid[0], fall);
    SAID("a down; a start; a up; a down; a start; a up");
    TOLD("RR");
    up_fails = 10;
    DO(kid[0], fall); /* the third one, and then one too many */
    SAID("a down; a start; a up; a stop");
    TOLD("RS");
}

TEST(a_failure_in_post_restart_is_one_like_any_other, "G-07", "S-03", "L-05")
{
    kits_each(play_post_restart);
}

static tr_next watch_the_first(tr_self *self)
{
    ck_assert_int_eq(tr_watch(self, kid[0]), TR_OK);
    return TR_SAME;
}

static void play_terminated(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_frail, 2);
    end_fails = 1;
    DO(kid[1], watch_the_first);
    DO(kid[0], leave);
    SAID("a stop; b hears; b down; b start; b up"); /* and it is not told again */
    TOLD("R");
}

TEST(a_failure_in_terminated_is_one_like_any_other, "G-07", "G-04")
{
    kits_each(play_terminated);
}

/* ---- While the system stops. ---- */

KID(kid_permanent, TR_OPTIONS(.restart = TR_PERMANENT));

static void play_stopping(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_kid_permanent, 3);
    TELL_RUN(test, kid[0], fall);
    TELL_RUN(test, kid[1], leave);
    tell_notes(kid[2], 1, 1);
    tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
    tr_kit_settle(kit);
    /* Each has had its mail, its end, and nothing after that. */
    const char *text = said();
    static const char *const words[] = {"a stop", "b stop", "c 1", "c stop", "boss stop"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(strstr(text, words[i]), "home %d: \"%s\": %s", home, text, words[i]);
    ck_assert_ptr_null(strstr(text, "up"));
    ck_assert_ptr_null(strstr(text, "down"));
    ck_assert_ptr_null(strstr(text, "start"));
    told_text[0] = '\0';
}

TEST(while_the_system_stops_nobody_is_restarted_or_comes_back, "S-08", "X-02")
{
    kits_each(play_stopping);
}

/* ---- Who is given up. ---- */

static bool has_decided;
static tr_directive give_up(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    has_decided = true;
    return TR_STOP_CHILD;
}
PARENT(strict_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = give_up));

static void play_end_of_given_up(void)
{
    crew_open(&tr_behavior_strict_boss, &tr_behavior_kid_permanent, 1);
    has_decided = false;
    TELL_RUN(test, kid[0], fall);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        tr_kit_step(kit);
    tr_kill(test, kid[0]);
    tr_kit_settle(kit);
    ck_assert(tr_is_nobody(tr_client_find(test, "/user/boss/a")) == has_decided);
    (void)said();
    told_text[0] = '\0';
}

TEST(who_is_given_up_is_not_brought_back_by_a_kill, "S-03", "S-08")
{
    kits_each(play_end_of_given_up);
}

/* ---- Out of memory for one that should come back. ---- */

static void play_no_memory_to_return(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_kid_permanent, 1);
    TELL_RUN(test, kid[0], leave);
    tr_kit_fail_allocation(kit, 1 + kits_seed % 10, false);
    tr_kit_settle(kit);
    tr_kit_fail_allocation(kit, 0, false);
    bool is_there = !tr_is_nobody(tr_client_find(test, "/user/boss/a"));
    ck_assert_msg(is_there || strcmp(told_text, "S") == 0,
                  "home %d, seed %d: told \"%s\"",
                  home,
                  (int)kits_seed,
                  told_text);
    told_text[0] = '\0';
}

TEST(who_cannot_come_back_for_lack_of_memory_is_reported, "S-08", "U-03")
{
    kits_each(play_no_memory_to_return);
}

/* ---- Whatever deciders say, and whoever fails meanwhile. ---- */

static uint64_t dice;
static bool is_frail; /* not before all of them are there */

static uint64_t roll(uint64_t sides)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (dice >> 33) % sides;
}

static tr_directive decide_by_dice(tr_self *self, const tr_error *cause)
{
    static const tr_directive directives[] = {
        TR_RESTART, TR_RESTART, TR_RESTART, TR_RESTART, TR_RESUME, TR_RESUME, TR_RESUME};
    (void)self;
    (void)cause;
    return directives[roll(sizeof directives / sizeof *directives)];
}

static tr_directive escalate_by_dice(tr_self *self, const tr_error *cause)
{
    return roll(3) ? TR_ESCALATE : decide_by_dice(self, cause);
}

static tr_next frail_setup(tr_self *self)
{
    return is_frail && !roll(6) ? fall(self) : TR_SAME;
}

static tr_next frail_start(tr_self *self)
{
    return is_frail && !roll(6) ? fall(self) : TR_SAME;
}

#define DICE_ROWS                                                                                  \
    TR_SETUP(frail_setup), TR_ON(run, on_run), TR_ON(tr_pre_start, frail_start),                   \
        TR_ON(tr_post_restart, frail_start), TR_ON(tr_pre_restart, frail_start)

static const tr_supervision alone = {.decide = decide_by_dice, .restarts_max = 1000};
static const tr_supervision alone_later = {.decide = decide_by_dice,
                                           .restarts_max = 1000,
                                           .backoff = {.initial_ns = MS, .max_ns = 4 * MS}};

TR_BEHAVIOR(dice_leaf, void, DICE_ROWS);
TR_BEHAVIOR(dice_node, void, DICE_ROWS, TR_CHILD(dice_leaf, "x"),
            TR_CHILD(dice_leaf, "y", .restart = TR_PERMANENT),
            TR_SUPERVISE(TR_ALL_FOR_ONE, .decide = escalate_by_dice, .restarts_max = 1000));
#define DICE_BOSS(name, strategy)                                                                  \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_ON(run, on_run),                                                                \
                TR_CHILD(dice_node, "a"),                                                          \
                TR_CHILD(dice_leaf, "b", .supervision = &alone, .restart = TR_PERMANENT),          \
                TR_CHILD(dice_node, "c"),                                                          \
                TR_CHILD(dice_node, "d", .supervision = &alone_later),                             \
                TR_CHILD(dice_node, "e", .restart = TR_PERMANENT),                                 \
                TR_SUPERVISE(strategy,                                                             \
                             .decide = decide_by_dice,                                             \
                             .restarts_max = 1000,                                                 \
                             .backoff = {.initial_ns = MS, .max_ns = 4 * MS}))
DICE_BOSS(dice_all, TR_ALL_FOR_ONE);
DICE_BOSS(dice_rest, TR_REST_FOR_ONE);

/* The same with children on several workers, where orders and failures pass each other. */
#define DICE_FAR(name, strategy)                                                                   \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_ON(run, on_run),                                                                \
                TR_SUPERVISE(strategy, .decide = decide_by_dice, .restarts_max = 1000))
DICE_FAR(dice_far_all, TR_ALL_FOR_ONE);
DICE_FAR(dice_far_rest, TR_REST_FOR_ONE);

static tr_next spawn_far(tr_self *self)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (int i = 0; i < 5; i++) {
        bool is_leaf = i % 3 == 1;
        const tr_spawn_args args = {.size = sizeof args,
                                    .behavior =
                                        is_leaf ? &tr_behavior_dice_leaf : &tr_behavior_dice_node,
                                    .name = names[i],
                                    .worker = i % 3};
        uint64_t bits = 0;
        ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    }
    return TR_SAME;
}

static tr_ref any_child(void)
{
    static const char *const paths[] = {"/user/boss/a",
                                        "/user/boss/b",
                                        "/user/boss/c",
                                        "/user/boss/d",
                                        "/user/boss/e",
                                        "/user/boss/a/x",
                                        "/user/boss/a/y",
                                        "/user/boss/c/x",
                                        "/user/boss/c/y",
                                        "/user/boss/d/x"};
    return tr_client_find(test, paths[roll(sizeof paths / sizeof *paths)]);
}

static void play_dice(uint64_t seed, bool is_poor)
{
    static const char *const paths[] = {
        "/user/boss/a", "/user/boss/b", "/user/boss/c", "/user/boss/d", "/user/boss/e"};
    dice = seed;
    is_frail = false;
    static const tr_behavior *const bosses[] = {&tr_behavior_dice_all,
                                                &tr_behavior_dice_rest,
                                                &tr_behavior_dice_far_all,
                                                &tr_behavior_dice_far_rest};
    bool is_far = seed % 4 >= 2;
    kit_open(is_far ? 3 : 1, seed);
    boss = crew_spawn_top(bosses[seed % 4], "boss");
    if (is_far)
        DO(boss, spawn_far);
    is_frail = true;
    for (int i = 0; i < 20; i++) {
        tr_ref who = any_child();
        if (!roll(10))
            (void)tr_kill(test, who);
        else if (!roll(10))
            (void)tr_stop(test, who);
        else if (!roll(10))
            (void)tr_suspend(test, boss);
        else
            (void)TELL_RUN(test, who, fall);
        if (!roll(4))
            (void)tr_resume(test, boss);
        if (is_poor && !roll(2))
            tr_kit_fail_allocation(kit, 1 + roll(6), roll(2));
        for (uint64_t steps = roll(6); steps; steps--)
            tr_kit_step(kit);
        if (!roll(4))
            tr_kit_advance(kit, (tr_time)roll(3) * MS);
        if (is_poor)
            tr_kit_fail_allocation(kit, 0, false);
    }
    (void)tr_resume(test, boss);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 10 * TR_SECOND);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        tr_ref who = tr_client_find(test, paths[i]);
        if (tr_is_nobody(who))
            continue;
        ck_assert_msg(is_up(who), "seed %" PRIu64 ": %s hangs", seed, paths[i]);
    }
    kit_close();
}

TEST(whatever_is_decided_nobody_hangs, "S-02", "S-07", "SU-17")
{
    for (uint64_t seed = 1; seed <= test_scale(500, 20000); seed++)
        play_dice(seed, false);
}

TEST(nor_does_anybody_when_memory_runs_out, "S-02", "S-07", "U-03")
{
    for (uint64_t seed = 1; seed <= test_scale(500, 20000); seed++)
        play_dice(seed, true);
}

SUITE("supervision edges", siblings_are_restarted_with_the_cause_of_the_one_that_failed,
      a_failure_in_post_restart_is_one_like_any_other,
      a_failure_in_terminated_is_one_like_any_other,
      while_the_system_stops_nobody_is_restarted_or_comes_back,
      who_is_given_up_is_not_brought_back_by_a_kill,
      who_cannot_come_back_for_lack_of_memory_is_reported, whatever_is_decided_nobody_hangs,
      nor_does_anybody_when_memory_runs_out)
