/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The watch's look at loops, with a clock that the test moves: which of them is in one turn for too
 * long, and when that is said; and how often loops get a tick.
 */
#include "support/test.h"

#include "sched/watch.h"

#include <stdio.h>
#include <string.h>

enum { LOOPS = 2 };

static struct loop loops[LOOPS];
static struct loop *table[LOOPS] = {&loops[0], &loops[1]};
static struct watch watch;
static tr_time now_ns;
static bool is_in_turn;
static char told[4096];

static bool on_stall(void *context, struct loop *loop, tr_time duration_ns, bool is_over)
{
    ck_assert_ptr_eq(context, &watch);
    if (!is_over && !is_in_turn)
        return false;
    char line[64];
    snprintf(line,
             sizeof line,
             "%d %lld%s;",
             (int)(loop - loops),
             (long long)(duration_ns / TR_MILLISECOND),
             is_over ? "!" : "");
    ck_assert_uint_lt(strlen(told) + strlen(line), sizeof told);
    strcat(told, line);
    return true;
}

static void begin(tr_time stall_ns)
{
    memset(loops, 0, sizeof loops);
    for (int i = 0; i < LOOPS; i++)
        ready_init(&loops[i].ready);
    watch =
        (struct watch){.loops = table,
                       .loop_count = LOOPS,
                       .report = {.stall_ns = stall_ns, .on_stall = on_stall, .context = &watch}};
    now_ns = TR_HOUR;
    is_in_turn = true;
    told[0] = '\0';
    /* The second one sleeps unless a test wakes it. */
    ck_assert(ready_doze(&loops[1].ready));
}

static void pass(int milliseconds)
{
    for (int i = 0; i < milliseconds; i++) {
        now_ns += TR_MILLISECOND;
        tr__watch_look(&watch, now_ns);
    }
}

#define TOLD(words)                                                                                \
    do {                                                                                           \
        ck_assert_str_eq(told, words);                                                             \
        told[0] = '\0';                                                                            \
    } while (0)

TEST(a_long_turn_is_told_when_noticed_and_when_it_ends, "O-05")
{
    begin(10 * TR_MILLISECOND);
    pass(10);
    TOLD("");
    pass(1);
    TOLD("0 10;");
    pass(20);
    TOLD("");
    atom64_count(&loops[0].runs, 1);
    pass(1);
    TOLD("0 31!;");
    atom64_count(&loops[0].runs, 1);
    pass(1);
    TOLD("");
}

TEST(one_that_does_not_end_is_told_at_growing_intervals, "O-05")
{
    begin(10 * TR_MILLISECOND);
    pass(100000 + 1);
    TOLD("0 10;0 100;0 1000;0 10000;0 100000;");
}

TEST(turns_below_the_budget_are_not_told, "O-05")
{
    begin(10 * TR_MILLISECOND);
    for (int i = 0; i < 1000; i++) {
        atom64_count(&loops[0].runs, 1);
        pass(10);
    }
    TOLD("");
}

TEST(whatever_a_loop_counts_shows_that_it_gets_on, "O-05")
{
    begin(10 * TR_MILLISECOND);
    for (int i = 0; i < 300; i++) {
        atom64 *const counters[] = {&loops[0].runs, &loops[0].parks, &loops[0].steps};
        atom64_count(counters[i % 3], 1);
        pass(7);
    }
    TOLD("");
}

TEST(a_loop_that_sleeps_is_in_no_turn, "O-05")
{
    begin(10 * TR_MILLISECOND);
    pass(5);
    ck_assert(ready_doze(&loops[0].ready));
    pass(1000);
    TOLD("");
    /* Nor does the sleep count for the turn that comes after it, though nothing was counted. */
    ready_rise(&loops[0].ready);
    pass(10);
    TOLD("");
    pass(1);
    TOLD("0 10;");
    ck_assert(ready_doze(&loops[0].ready));
    pass(1);
    TOLD("0 11!;");
}

TEST(a_loop_that_is_in_no_turn_is_not_told, "O-05")
{
    begin(10 * TR_MILLISECOND);
    is_in_turn = false;
    pass(100);
    TOLD("");
    atom64_count(&loops[0].runs, 1);
    pass(1);
    TOLD("");
}

TEST(a_watch_that_was_late_itself_proves_nothing, "O-05")
{
    begin(10 * TR_MILLISECOND);
    pass(1);
    now_ns += 50 * TR_MILLISECOND; /* nothing ran on this machine */
    tr__watch_look(&watch, now_ns);
    TOLD("");
    atom64_count(&loops[0].runs, 1);
    pass(5);
    TOLD("");
}

TEST(loops_are_told_apart, "O-05")
{
    begin(10 * TR_MILLISECOND);
    pass(4);
    ready_rise(&loops[1].ready);
    pass(11);
    TOLD("0 10;1 10;");
    atom64_count(&loops[1].runs, 1);
    pass(1);
    TOLD("1 11!;");
    atom64_count(&loops[0].runs, 1);
    pass(1);
    TOLD("0 16!;");
}

TEST(with_no_budget_nothing_is_told_but_the_age_is_kept, "O-05")
{
    begin(0);
    pass(2000);
    TOLD("");
    ck_assert_int_eq((tr_time)atom64_load(&loops[0].since_ns, ATOM_RELAXED),
                     TR_HOUR + TR_MILLISECOND);
    ck_assert_uint_eq(atom64_load(&loops[1].since_ns, ATOM_RELAXED), 0);
}

/* ---- Ticks. ---- */

static tr_time end_ns;   /* when the watch ends */
static tr_time stops_ns; /* until then the first loop reads the clock by itself */
static bool has_run;     /* the first loop has runs that end at ticks, with turns of TURN_NS */
enum { TURN_NS = 100 * TR_MICROSECOND };

static tr_time fake_now(const tr_platform *platform)
{
    (void)platform;
    return now_ns;
}

static tr_status fake_parker_new(const tr_platform *platform, tr_parker **parker)
{
    (void)platform;
    *parker = (tr_parker *)(void *)&watch;
    return TR_OK;
}

/* The thread of the watch runs at once, until end_ns. */
static tr_status fake_thread(const tr_platform *platform, const char *name, void (*run)(void *),
                             void *context, tr_thread **thread)
{
    (void)platform;
    (void)name;
    *thread = NULL;
    run(context);
    return TR_OK;
}

static tr_time turn_ns;     /* when the first loop begins a long turn; 0: never */
static tr_time turn_end_ns; /* when that turn ends */

/* Time passes only while the watch waits. The first loop gets on meanwhile, but not in its long turn. */
static void fake_park(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    (void)platform;
    (void)parker;
    ck_assert_int_gt(deadline, now_ns);
    tr_time before_ns = now_ns;
    now_ns = deadline;
    if (turn_ns && now_ns > turn_ns && now_ns < turn_end_ns) {
        /* The turns before the long one have ended, and the last read of the clock was before it. */
        if (before_ns <= turn_ns) {
            atom64_count(&loops[0].runs, 1);
            atom64_store(&loops[0].seen_ns, (uint64_t)(turn_ns - LOOP_CLOCK_NS), ATOM_RELAXED);
        }
    } else {
        atom64_count(&loops[0].runs, 1);
        if (now_ns <= stops_ns)
            atom64_store(&loops[0].seen_ns, (uint64_t)(now_ns - LOOP_CLOCK_NS), ATOM_RELAXED);
        else if (has_run)
            atom64_store(&loops[0].seen_ns, (uint64_t)(before_ns + TURN_NS), ATOM_RELAXED);
    }
    if (now_ns >= end_ns)
        atom32_store(&watch.is_over, 1, ATOM_RELEASE);
}

static const tr_platform platform = {.mono_now = fake_now,
                                     .parker_new = fake_parker_new,
                                     .thread_start = fake_thread,
                                     .park = fake_park};

/* Returns the ticks that the first loop gets in a second, if it reads the clock for so long. */
static uint32_t ticks_of_a_second(tr_time reads_ns, tr_time handoff_ns)
{
    begin(0);
    turn_ns = 0;
    struct watch_report report = watch.report;
    report.handoff_ns = handoff_ns;
    stops_ns = now_ns + reads_ns;
    end_ns = now_ns + TR_SECOND;
    ck_assert_int_eq(tr__watch_start(&watch, &platform, table, LOOPS, &report), TR_OK);
    ck_assert_uint_eq(atom32_load(&loops[1].tick, ATOM_RELAXED), 0);
    return atom32_load(&loops[0].tick, ATOM_RELAXED);
}

TEST(a_loop_that_does_not_read_the_clock_gets_a_tick_each_millisecond, "D-02")
{
    ck_assert_uint_eq(ticks_of_a_second(0, 0), 1000);
}

TEST(runs_that_end_at_ticks_need_all_ticks, "D-02")
{
    has_run = true;
    ck_assert_uint_eq(ticks_of_a_second(0, 0), 1000);
    has_run = false;
}

TEST(loops_that_read_the_clock_get_fewer_ticks, "D-02")
{
    uint32_t few = WATCH_CALM_LOOKS + (1000 - WATCH_CALM_LOOKS) / (WATCH_CALM_NS / TR_MILLISECOND);
    ck_assert_uint_eq(ticks_of_a_second(TR_SECOND, 0), few);
}

TEST(a_clock_that_is_not_read_brings_back_all_ticks, "D-02")
{
    /* of the first half second few, then one that finds the clock too old, then all */
    uint32_t few = WATCH_CALM_LOOKS + (500 - WATCH_CALM_LOOKS) / (WATCH_CALM_NS / TR_MILLISECOND);
    uint32_t rest = 1 + 500 - WATCH_CALM_NS / TR_MILLISECOND;
    ck_assert_uint_eq(ticks_of_a_second(TR_SECOND / 2, 0), few + rest);
}

TEST(a_hand_off_needs_all_ticks, "D-02")
{
    ck_assert_uint_eq(ticks_of_a_second(TR_SECOND, 20 * TR_MILLISECOND), 1000);
}

/*
 * Runs a second in which the first loop has a turn of `takes_ns` that begins `after_ns` after a tick. The watch is calm
 * before it, or not.
 */
static void turn_runs(bool is_calm, tr_time after_ns, tr_time takes_ns)
{
    begin(10 * TR_MILLISECOND);
    struct watch_report report = watch.report;
    stops_ns = is_calm ? now_ns + TR_SECOND : 0;
    end_ns = now_ns + TR_SECOND;
    turn_ns = now_ns + WATCH_CALM_LOOKS * WATCH_TICK_NS + 100 * WATCH_CALM_NS + after_ns;
    turn_end_ns = turn_ns + takes_ns;
    ck_assert_int_eq(tr__watch_start(&watch, &platform, table, LOOPS, &report), TR_OK);
}

/* Each turn that is longer than the budget by a tick and LOOP_CLOCK_NS is reported, and no turn below it; each age is right to a tick. */
TEST(rare_ticks_hide_no_long_turn, "O-05")
{
    for (int calm = 0; calm < 2; calm++) {
        for (tr_time after_ns = 1; after_ns < WATCH_CALM_NS; after_ns += TR_MILLISECOND / 10) {
            turn_runs(calm, after_ns, 10 * TR_MILLISECOND);
            TOLD("");
            turn_runs(calm, after_ns, 11 * TR_MILLISECOND + LOOP_CLOCK_NS);
            ck_assert_msg(strncmp(told, "0 10;", 5) == 0,
                          "calm %d, %lld: %s",
                          calm,
                          (long long)after_ns,
                          told);
        }
    }
}

SUITE("sched watch", a_long_turn_is_told_when_noticed_and_when_it_ends,
      one_that_does_not_end_is_told_at_growing_intervals, turns_below_the_budget_are_not_told,
      whatever_a_loop_counts_shows_that_it_gets_on, a_loop_that_sleeps_is_in_no_turn,
      a_loop_that_is_in_no_turn_is_not_told, a_watch_that_was_late_itself_proves_nothing,
      loops_are_told_apart, with_no_budget_nothing_is_told_but_the_age_is_kept,
      a_loop_that_does_not_read_the_clock_gets_a_tick_each_millisecond,
      runs_that_end_at_ticks_need_all_ticks, loops_that_read_the_clock_get_fewer_ticks,
      a_clock_that_is_not_read_brings_back_all_ticks, a_hand_off_needs_all_ticks,
      rare_ticks_hide_no_long_turn)
