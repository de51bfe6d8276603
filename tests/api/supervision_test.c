/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What becomes of a child that fails: directives, budgets of restarts, back-off.
 */
#include "support/crew.h"

#define RESTARTED "a down; a set-up; a start; a up"

PARENT(plain_boss, TR_OPTIONS(.is_pinned = true));

/* ---- Budgets. ---- */

static void play_default(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_kid_plain, 3);
    for (int i = 0; i < 3; i++) {
        DO(kid[0], fall);
        SAID(RESTARTED);
        TOLD("R");
        ck_assert(tr_is_same(told_child, kid[0]));
        ck_assert_int_eq(told_cause.status, TR_BAD_DATA);
        ck_assert_str_eq(told_cause.text, "fell");
        ck_assert_str_eq(told_cause.where, "run");
        ck_assert(tr_is_same(told_cause.actor, kid[0]));
    }
    tell_notes(kid[0], 1, 1);
    tr_kit_settle(kit);
    SAID("a 1");
    DO(kid[0], fall);
    SAID("a stop");
    TOLD("S");
    ck_assert_int_eq(tr_tell(test, kid[0], note), TR_STOPPED);
    DO(kid[1], fall); /* each child has a budget of its own */
    SAID("b down; b set-up; b start; b up");
    TOLD("R");
    tr_stop(test, boss);
    tr_kit_settle(kit);
    (void)said();
}

TEST(by_default_a_child_alone_is_restarted_three_times_a_minute, "S-01", "S-02", "S-03", "G-03",
     "SU-01", "SU-05", "SU-10", "SU-12")
{
    kits_each(play_default);
}

static void play_window(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_kid_plain, 1);
    for (int i = 0; i < 3; i++) {
        DO(kid[0], fall); /* at 0, 20, 40 seconds */
        tr_kit_advance(kit, 20 * TR_SECOND);
    }
    TOLD("RRR");
    DO(kid[0], fall); /* at 60: that of 0 is at the edge, and free */
    TOLD("R");
    tr_kit_advance(kit, 20 * TR_SECOND - 1);
    (void)said();
    DO(kid[0], fall); /* one nanosecond before the next would be free */
    SAID("a stop");
    TOLD("S");
}

TEST(the_window_slides_and_its_edge_is_free, "S-03", "SU-10", "SU-11")
{
    kits_each(play_window);
}

static void play_for_ever(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_kid_plain, 1);
    is_quiet = true;
    for (int i = 0; i < 100; i++) {
        DO(kid[0], fall);
        TOLD("R");
        tr_kit_advance(kit, 20 * TR_SECOND);
    }
    ck_assert(is_up(kid[0]));
}

TEST(below_the_rate_restarts_go_on_for_ever, "S-03", "SU-11")
{
    kits_each(play_for_ever);
}

PARENT(strict_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = TR_NO_RESTARTS));
PARENT(single_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1, .window_ns = 2400 * TR_HOUR));
PARENT(generous_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 500, .window_ns = TR_SECOND));

static void play_limits(void)
{
    crew_open(&tr_behavior_strict_boss, &tr_behavior_kid_plain, 1);
    DO(kid[0], fall);
    SAID("a stop");
    TOLD("S");
    tr_stop(test, boss);
    tr_kit_settle(kit);

    crew_open(&tr_behavior_generous_boss, &tr_behavior_kid_plain, 1);
    is_quiet = true;
    for (int i = 0; i < 500; i++)
        DO(kid[0], fall);
    told_text[0] = '\0';
    ck_assert(is_up(kid[0]));
    DO(kid[0], fall);
    TOLD("S");
    ck_assert(!is_up(kid[0]));
    tr_stop(test, boss);
    tr_kit_settle(kit);
}

TEST(no_restart_and_many_are_counted_exactly, "S-03", "SU-10", "SU-13")
{
    kit_open(1, 1);
    play_limits();
    kit_close();
    kit_open(3, 7);
    play_limits();
    kit_close();
}

TEST(a_window_may_be_longer_than_two_to_the_31_milliseconds, "SU-13")
{
    kit_open(1, 1);
    crew_open(&tr_behavior_single_boss, &tr_behavior_kid_plain, 2);
    is_quiet = true;
    DO(kid[0], fall);
    DO(kid[1], fall);
    TOLD("RR");
    tr_kit_advance(kit, 99 * 24 * TR_HOUR);
    DO(kid[0], fall);
    TOLD("S");
    tr_kit_advance(kit, (24 * TR_HOUR));
    DO(kid[1], fall);
    TOLD("R");
    kit_close();
}

/* ---- Directives. ---- */

struct counting {
    uint64_t sum;
};
static tr_next count_note(tr_self *self, struct counting *state, const struct note *message)
{
    state->sum += message->n;
    if (message->n == 100)
        return tr_fail(self, TR_BAD_DATA, "a hundred");
    say("%" PRIu64, state->sum);
    return TR_SAME;
}
TR_BEHAVIOR(counting, struct counting, TR_ON(note, count_note), TR_ON(tr_pre_start, crew_start),
            TR_ON(tr_post_stop, crew_stop), TR_ON(tr_pre_restart, crew_down),
            TR_ON(tr_post_restart, crew_up));

static tr_directive directive;
static uint64_t decisions;
static bool decider_fails;
static tr_directive decide_as_told(tr_self *self, const tr_error *cause)
{
    decisions++;
    ck_assert_str_eq(tr_name(self), "boss");
    ck_assert_int_eq(cause->status, TR_BAD_DATA);
    /* What waits is not for deciders, nor are children. */
    ck_assert_int_eq(tr_sleep(self, TR_SECOND), TR_NOT_IN_A_TURN);
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_kid_plain, .worker = -1};
    uint64_t bits;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_STOPPING);
    if (decider_fails)
        tr_crash(self, TR_BAD_DATA, "undecided");
    return directive;
}
PARENT(deciding_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = decide_as_told));

static void play_resume(void)
{
    directive = TR_RESUME;
    decisions = 0;
    crew_open(&tr_behavior_deciding_boss, &tr_behavior_counting, 1);
    for (int i = 0; i < 10; i++) { /* to resume costs nothing */
        tell_notes(kid[0], 1, 1);
        tell_notes(kid[0], 100, 100);
        tell_notes(kid[0], 2, 3);
        tr_kit_settle(kit);
    }
    TOLD("rrrrrrrrrr");
    ck_assert_uint_eq(decisions, 10);
    const char *text = said();
    ck_assert_int_eq(strncmp(text, "1; 103; 106; 107; 209; 212", 26), 0);
    ck_assert_ptr_null(strstr(text, "down"));
}

TEST(resume_keeps_the_state_and_goes_on_with_the_next_message, "S-02", "SU-02")
{
    kits_each(play_resume);
}

static void play_stop(void)
{
    directive = TR_STOP_CHILD;
    crew_open(&tr_behavior_deciding_boss, &tr_behavior_counting, 1);
    tell_notes(kid[0], 100, 102);
    tr_kit_settle(kit);
    SAID("a stop");
    TOLD("S");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 2);
    ck_assert(is_up(boss));
}

TEST(stop_stops_it, "S-02", "SU-04", "LC-06")
{
    kits_each(play_stop);
}

static void play_escalate(void)
{
    directive = TR_ESCALATE;
    crew_open(&tr_behavior_deciding_boss, &tr_behavior_counting, 2);
    tell_notes(kid[0], 100, 100);
    tr_kit_settle(kit);
    /* The child stops, the parent is restarted by its own, and so its other child ends. */
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "a stop"));
    ck_assert_ptr_nonnull(strstr(text, "b stop"));
    ck_assert_ptr_nonnull(strstr(text, "boss down"));
    ck_assert_ptr_nonnull(strstr(text, "boss start; boss up"));
    ck_assert_ptr_null(strstr(text, "boss stop"));
    TOLD("E");
    ck_assert(is_up(boss));
}

TEST(escalate_stops_it_and_fails_its_parent, "S-02", "S-06", "SU-04")
{
    decider_fails = false;
    kits_each(play_escalate);
}

TEST(a_decider_that_fails_or_decides_nothing_escalates, "S-09", "SU-22")
{
    decider_fails = true;
    kits_each(play_escalate);
    decider_fails = false;
    kit_open(1, 1);
    directive = (tr_directive)77;
    crew_open(&tr_behavior_deciding_boss, &tr_behavior_counting, 1);
    tell_notes(kid[0], 100, 100);
    tr_kit_settle(kit);
    TOLD("E");
    kit_close();
}

/* ---- The root. ---- */

static tr_directive always_escalate(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_ESCALATE;
}
PARENT(alarmed_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = always_escalate));

static tr_next spawn_alarmed(tr_self *self)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_alarmed_boss, .name = "boss", .worker = home};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    boss = tr_ref_from_bits(bits);
    return TR_SAME;
}

static void play_chain(void)
{
    is_quiet = false;
    kid_count = 1;
    kid_behavior = &tr_behavior_kid_plain;
    tr_ref top = crew_spawn_top(&tr_behavior_alarmed_boss, "top");
    DO(top, spawn_alarmed);
    DO(boss, crew_spawn);
    (void)said();
    told_text[0] = '\0';
    DO(kid[0], fall);
    TOLD("E"); /* the one in between has stopped before it could hear of it */
    /* What fails at the top is restarted by /user: all below it is gone. */
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "a stop"));
    ck_assert_ptr_nonnull(strstr(text, "boss stop"));
    ck_assert_ptr_nonnull(strstr(text, "top down; top start; top up"));
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 1);
}

TEST(a_failure_escalates_through_all_who_escalate, "S-06", "SU-04")
{
    kits_each(play_chain);
}

/* ---- Back-off. ---- */

static tr_time up_ns;
static tr_next note_up(void)
{
    up_ns = tr_kit_now(kit);
    return TR_SAME;
}
TR_BEHAVIOR(timed, void, TR_ON(run, on_run), TR_ON(note, crew_note),
            TR_ON(tr_post_restart, note_up), TR_ON(tr_post_stop, crew_stop),
            TR_OPTIONS(.mailbox_max = 4));

PARENT(patient_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 100, .window_ns = TR_MINUTE,
                                  .backoff = {.initial_ns = 100 * MS, .max_ns = 700 * MS}));
PARENT(steep_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 100,
                                .backoff = {.initial_ns = 10 * MS, .multiplier = 3}));
PARENT(random_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 1000, .window_ns = (24 * TR_HOUR),
                                 .backoff = {.initial_ns = 100 * MS,
                                             .multiplier = 1,
                                             .max_ns = TR_SECOND,
                                             .jitter = 0.2}));

/* How long a restart took. */
static tr_time fall_and_wait(void)
{
    tr_time before_ns = tr_kit_now(kit);
    up_ns = -1;
    DO(kid[0], fall);
    for (int i = 0; i < 100 && up_ns < 0; i++)
        tr_kit_advance(kit, 37 * MS);
    ck_assert_int_ge(up_ns, 0);
    return up_ns - before_ns;
}

static void play_backoff(void)
{
    static const tr_time delays[] = {100 * MS, 200 * MS, 400 * MS, 700 * MS, 700 * MS};
    crew_open(&tr_behavior_patient_boss, &tr_behavior_timed, 1);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(fall_and_wait(), delays[i]);
    /* A minute without a failure, less a nanosecond; and then a whole one. */
    tr_time last_ns = up_ns - 700 * MS;
    tr_kit_advance(kit, last_ns + TR_MINUTE - 1 - tr_kit_now(kit));
    ck_assert_int_eq(fall_and_wait(), 700 * MS);
    last_ns = up_ns - 700 * MS;
    tr_kit_advance(kit, last_ns + TR_MINUTE - tr_kit_now(kit));
    ck_assert_int_eq(fall_and_wait(), 100 * MS);
    ck_assert_int_eq(fall_and_wait(), 200 * MS);
    tr_stop(test, boss);
    tr_kit_settle(kit);
    crew_open(&tr_behavior_steep_boss, &tr_behavior_timed, 1);
    for (tr_time ns = 10 * MS; ns < TR_SECOND; ns *= 3)
        ck_assert_int_eq(fall_and_wait(), ns);
}

TEST(delays_grow_to_their_bound_and_begin_anew_after_a_quiet_window, "S-01", "S-05", "SU-14")
{
    kits_each(play_backoff);
}

TEST(jitter_stays_within_its_bounds_and_uses_them, "S-01", "SU-14")
{
    kit_open(1, test_seed());
    crew_open(&tr_behavior_random_boss, &tr_behavior_timed, 1);
    tr_time least = (24 * TR_HOUR);
    tr_time most = 0;
    for (int i = 0; i < 300; i++) {
        tr_time ns = fall_and_wait();
        least = ns < least ? ns : least;
        most = ns > most ? ns : most;
    }
    ck_assert_int_ge(least, 80 * MS);
    ck_assert_int_le(most, 120 * MS);
    ck_assert_int_lt(least, 83 * MS);
    ck_assert_int_gt(most, 117 * MS);
    kit_close();
}

static void play_mail_meanwhile(void)
{
    crew_open(&tr_behavior_patient_boss, &tr_behavior_timed, 1);
    tell_notes(kid[0], 0, 0);
    ck_assert_int_eq(TELL_RUN(test, kid[0], fall), TR_OK);
    tell_notes(kid[0], 1, 1);
    tr_kit_settle(kit);
    SAID("a 0");
    tell_notes(kid[0], 2, 4);
    ck_assert_int_eq(tr_tell(test, kid[0], note, .n = 5), TR_MAILBOX_FULL);
    tr_kit_advance(kit, 100 * MS - 1);
    SAID("");
    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 1);
    tr_kit_advance(kit, 1);
    SAID("a 1; a 2; a 3; a 4");
}

TEST(mail_waits_during_the_delay_up_to_its_bound, "S-05", "SU-16", "Y-03")
{
    kits_each(play_mail_meanwhile);
}

static void play_reasons(void)
{
    crew_open(&tr_behavior_patient_boss, &tr_behavior_timed, 1);
    /* Resume takes away what was asked for, and neither the decision nor the delay. */
    DO(kid[0], fall);
    tell_notes(kid[0], 1, 2);
    tr_resume(test, kid[0]);
    tr_kit_settle(kit);
    SAID("");
    tr_suspend(test, kid[0]);
    tr_kit_advance(kit, 100 * MS);
    SAID(""); /* restarted, and Suspended again: it was asked for meanwhile */
    tr_resume(test, kid[0]);
    tr_kit_settle(kit);
    SAID("a 1; a 2");
    /* A stop in the delay: PostStop to the old behavior, the mail is dead. */
    DO(kid[0], fall);
    tell_notes(kid[0], 3, 5);
    tr_kit_settle(kit);
    if (kits_seed % 2)
        tr_stop(test, kid[0]);
    else
        tr_kill(test, kid[0]);
    tr_kit_settle(kit);
    SAID("a stop");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 3);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("");
}

TEST(each_reason_to_be_suspended_holds_for_itself, "Y-03", "S-05", "LC-13")
{
    kits_each(play_reasons);
}

/* ---- Endless loops. ---- */

PARENT(endless_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = TR_RESTARTS_MAX,
                                  .backoff = {.initial_ns = MS, .max_ns = MS}));

static void play_endless(void)
{
    crew_open(&tr_behavior_endless_boss, &tr_behavior_kid_plain, 2);
    broken_start.name = "a";
    broken_start.times = INT32_MAX;
    is_quiet = true;
    ck_assert_int_eq(TELL_RUN(test, kid[0], fall), TR_OK);
    told_text[0] = '\0';
    for (uint64_t i = 0; i < 5 + kits_seed; i++)
        tr_kit_advance(kit, MS / 3);
    for (uint64_t i = 0; i < kits_seed; i++)
        tr_kit_step(kit);
    tr_ref who = kits_seed % 2 ? boss : kid[0];
    ck_assert_int_eq(kits_seed % 4 < 2 ? tr_stop(test, who) : tr_kill(test, who), TR_OK);
    tr_kit_advance(kit, 2 * MS);
    ck_assert_int_eq(tr_tell(test, who, note), TR_STOPPED);
    tr_counters before;
    tr_counters after;
    tr_system_counters(tr_kit_system(kit), &before);
    tr_kit_advance(kit, TR_SECOND);
    tr_system_counters(tr_kit_system(kit), &after);
    ck_assert_uint_eq(after.turns, before.turns);
    told_text[0] = '\0';
}

TEST(an_endless_loop_of_restarts_can_be_stopped_at_any_moment, "S-09", "SU-15")
{
    kits_each(play_endless);
}

/* ---- Failures of those who are told of failures. ---- */

static int signals_to_fail;
static tr_next fail_in_signal(tr_self *self, const struct tr_child_failed *message)
{
    crew_child_failed(message);
    return signals_to_fail-- > 0 ? fall(self) : TR_SAME;
}
static tr_directive always_resume(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_RESUME;
}
TR_BEHAVIOR(weak_boss, void, TR_ON(run, on_run), TR_ON(tr_child_failed, fail_in_signal),
            TR_ON(tr_pre_restart, crew_down), TR_ON(tr_pre_start, crew_start),
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 100));
PARENT(forgiving_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = always_resume));

static tr_next spawn_weak(tr_self *self)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_weak_boss, .name = "boss", .worker = 0};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    boss = tr_ref_from_bits(bits);
    return TR_SAME;
}

static void play_weak(void)
{
    signals_to_fail = 1;
    crew_open(&tr_behavior_weak_boss, &tr_behavior_kid_plain, 2);
    DO(kid[0], fall);
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "boss down"));
    ck_assert_ptr_nonnull(strstr(text, "boss start"));
    ck_assert_ptr_nonnull(strstr(text, "b stop")); /* its children went with its incarnation */
    tr_stop(test, boss);
    tr_kit_settle(kit);
    told_text[0] = '\0';
    /* One that continues after its failure is told of all others as well. */
    signals_to_fail = 1;
    is_quiet = true;
    tr_ref top = crew_spawn_top(&tr_behavior_forgiving_boss, "top");
    DO(top, spawn_weak);
    DO(boss, crew_spawn);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(TELL_RUN(test, kid[i % 2], fall), TR_OK);
    tr_kit_settle(kit);
    size_t restarts = 0;
    for (const char *letter = told_text; *letter; letter++)
        restarts += *letter == 'R';
    ck_assert_uint_eq(restarts, 6);
    told_text[0] = '\0';
    (void)said();
}

TEST(a_failure_in_child_failed_is_one_and_loses_no_other_signal, "G-03", "G-07", "SG-07")
{
    kits_each(play_weak);
}

static tr_next spawn_and_fail(tr_self *self)
{
    crew_spawn(self);
    for (int i = 0; i < kid_count; i++)
        ck_assert_int_eq(TELL_RUN(self, kid[i], fall), TR_OK);
    return TR_SAME;
}

static void play_at_once(void)
{
    told_text[0] = '\0';
    is_quiet = true;
    kid_count = 4;
    kid_behavior = &tr_behavior_kid_plain;
    boss = crew_spawn_top(&tr_behavior_plain_boss, "boss");
    broken_start.name = "b";
    broken_start.times = 1;
    DO(boss, spawn_and_fail);
    TOLD("RRRRR");
    for (int i = 0; i < kid_count; i++)
        ck_assert(is_up(kid[i]));
}

TEST(a_failure_never_overtakes_the_registration_of_its_child, "SG-06", "G-03")
{
    kits_each(play_at_once);
}

SUITE("supervision", by_default_a_child_alone_is_restarted_three_times_a_minute,
      the_window_slides_and_its_edge_is_free, below_the_rate_restarts_go_on_for_ever,
      no_restart_and_many_are_counted_exactly,
      a_window_may_be_longer_than_two_to_the_31_milliseconds,
      resume_keeps_the_state_and_goes_on_with_the_next_message, stop_stops_it,
      escalate_stops_it_and_fails_its_parent, a_decider_that_fails_or_decides_nothing_escalates,
      a_failure_escalates_through_all_who_escalate,
      delays_grow_to_their_bound_and_begin_anew_after_a_quiet_window,
      jitter_stays_within_its_bounds_and_uses_them, mail_waits_during_the_delay_up_to_its_bound,
      each_reason_to_be_suspended_holds_for_itself,
      an_endless_loop_of_restarts_can_be_stopped_at_any_moment,
      a_failure_in_child_failed_is_one_and_loses_no_other_signal,
      a_failure_never_overtakes_the_registration_of_its_child)
