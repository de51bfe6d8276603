/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is said of a worker that was relieved, or could not be: logs, stalls, why, asks without an answer,
 * shutdowns; and the options for it.
 */
#include "support/sitters.h"

TEST(without_a_thread_left_a_worker_waits_and_the_log_says_so, "O-05")
{
    struct play play = play_open(1);
    tr_client *client = play.theatre.client;
    sit_ask first = sit_down(&play, 0, JUST_REPLY);
    others_go_on(&play, 1);
    sit_ask second = sit_down(&play, 1, JUST_REPLY);
    while (!atomic_load(&heard.limits))
        (void)tr_receive(client, said, TR_MILLISECOND);
    ck_assert_uint_eq(handoffs(&play), 1);
    gate_open(0);
    /* Its thread is back, but there is nobody who could hand it the worker. */
    gate_open(1);
    ck_assert_int_eq(sat_of(&play, second).status, TR_OK);
    ck_assert_int_eq(sat_of(&play, first).status, TR_OK);
    theatre_close(&play.theatre);
}

TEST(reports_say_that_it_was_relieved, "O-05", "O-03")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    while (!atomic_load(&heard.stalls))
        others_go_on(&play, 1);
    ck_assert_int_eq(atomic_load(&heard.handoffs), 1);
    ck_assert_int_eq(atomic_load(&heard.ends), 0);
    tr_why_report report;
    ck_assert_int_eq(tr_actor_why(client, play.sitters[0], &report), TR_OK);
    char text[4096];
    tr_why_print(&report, text, sizeof text);
    ck_assert_msg(
        strstr(text, "on_sit has not returned; another thread runs worker 0"), "%s", text);
    /* Its end, back on its worker, may be slow again on a busy machine: that is another report. */
    ck_assert_int_le(atomic_load(&heard.early), 1);
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    while (!atomic_load(&heard.ends))
        others_go_on(&play, 1);
    tr_counters counters;
    tr_system_counters(play.theatre.system, &counters);
    ck_assert_uint_ge(counters.stalls, 1);
    ck_assert_int_eq(atomic_load(&heard.ends), 1);
    theatre_close(&play.theatre);
}

TEST(an_ask_that_gets_no_answer_in_time_knows_why, "O-05", "A-03")
{
    struct play play = play_open(0);
    tr_client *client = play.theatre.client;
    const struct sat *sat;
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    others_go_on(&play, 1);
    bool is_told = false;
    while (!is_told) { /* on a busy machine the story may come too late */
        get_sum_ask late = tr_ask_within(client, TR_MILLISECOND, play.sitters[0], get_sum);
        ck_assert_int_eq(tr_try_await(client, late, &sat), TR_TIMEOUT);
        is_told = strstr(tr_ask_error(client, late)->text, "on_sit has not returned");
    }
    gate_open(0);
    ck_assert_int_eq(sat_of(&play, asked).status, TR_OK);
    theatre_close(&play.theatre);
}

TEST(a_shutdown_waits_for_one_that_returns_in_time, "O-05", "X-01")
{
    struct play play = play_open(0);
    sit_ask asked = sit_down(&play, 0, JUST_REPLY);
    others_go_on(&play, 1);
    tr_system_shutdown(play.theatre.system, STAGE_PATIENCE);
    (void)asked;
    gate_open(0);
    theatre_close(&play.theatre);
    ck_assert_int_eq(atomic_load(&stopped), PIPES);
}

TEST(a_shutdown_does_not_wait_for_one_that_never_returns, "O-05", "X-01")
{
    struct play play = play_open(0);
    (void)sit_down(&play, 0, AWAIT);
    others_go_on(&play, 1);
    /* Long enough for the others on a busy machine; all of it is waited for. */
    tr_system_shutdown(play.theatre.system, 500 * TR_MILLISECOND);
    ck_assert_int_eq(tr_system_wait(play.theatre.system), TR_SHUTDOWN_INCOMPLETE);
    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_report(play.theatre.system, &report), TR_OK);
    ck_assert_uint_eq(report.busy_count, 1);
    ck_assert_str_eq(report.busy[0].where, "on_sit");
    ck_assert_str_eq(report.busy[0].type, "sit");
    ck_assert_int_eq(report.busy[0].worker, 0);
    ck_assert_uint_eq(report.left, 1);
    /* The others have stopped in order, and so does it when it returns, though nobody waits. */
    ck_assert_int_eq(atomic_load(&stopped), PIPES - 1);
    if (!TEST_HAS_SANITIZER) { /* which would miss the join of threads that end */
        gate_open(0);
        while (atomic_load(&stopped) < PIPES)
            ;
    }
    tr_client_free(play.theatre.client);
    tr_system_free(play.theatre.system);
}

static tr_status status_of(tr_system_options options)
{
    tr_system *system = NULL;
    options.size = sizeof options;
    tr_status status = tr_system_new(&options, &system);
    tr_system_free(system);
    return status;
}

TEST(options_that_make_no_sense_are_refused, "O-05", "U-03")
{
    ck_assert_int_eq(status_of((tr_system_options){.handoff_after_ns = -1}), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(status_of((tr_system_options){.handoff_after_ns = TR_OPTION_NS_MAX + 1}),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(
        status_of((tr_system_options){.handoff_after_ns = 1,
                                      .handoff_threads_max = TR_HANDOFF_THREADS_LARGEST + 1}),
        TR_LIMIT);
    ck_assert_int_eq(status_of((tr_system_options){.handoff_after_ns = 1, .traps_faults = true}),
                     TR_NOT_SUPPORTED);
    ck_assert_int_eq(status_of((tr_system_options){.handoff_after_ns = 1}), TR_OK);
}

SUITE("api thread handoff report", without_a_thread_left_a_worker_waits_and_the_log_says_so,
      reports_say_that_it_was_relieved, an_ask_that_gets_no_answer_in_time_knows_why,
      a_shutdown_waits_for_one_that_returns_in_time,
      a_shutdown_does_not_wait_for_one_that_never_returns, options_that_make_no_sense_are_refused)
