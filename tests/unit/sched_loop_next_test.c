/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tasks that continue with the next one themselves, without a way back to the loop in between.
 */
#include "support/test.h"

#include "support/loop_jobs.h"

/* What jobs do, and how often the loop looks at what, when tasks continue by themselves or do not. */
static void do_mixed_work(char *text)
{
    begin();
    log_length = 0;
    memset(log_text, 0, sizeof log_text);
    for (int i = 0; i < 4; i++)
        start(i, TASK_NORMAL, 10 * TR_MICROSECOND, 5 + (uint64_t)i);
    jobs[6].rallies = &jobs[7];
    jobs[7].rallies = &jobs[6];
    start(6, TASK_NORMAL, TR_MICROSECOND, 1);
    start(4, TASK_HIGH, 10 * TR_MICROSECOND, 3);
    loop.slice_left = 3000;
    for (int i = 0; i < 300; i++) {
        jobs[5].turns_left = 1;
        jobs[2].readies = i % 7 == 0 && !jobs[8].turns_left ? &jobs[8] : NULL;
        if (jobs[2].readies)
            jobs[8].turns_left = 3;
        if (i % 3 == 0)
            (void)loop_post(&loop, &jobs[5].node);
        for (int job = 0; job < 4; job++) {
            if (!jobs[job].turns_left)
                start(job, job ? TASK_NORMAL : TASK_HIGH, 10 * TR_MICROSECOND, 2);
        }
        loop.slice_left = 1 + (uint32_t)i % 200;
        (void)tr__loop_slice(&loop);
    }
    ck_assert_uint_gt(log_length, 600);
    memcpy(text, log_text, LOG_SIZE);
    end();
}

TEST(tasks_that_go_on_by_themselves_keep_the_order_of_the_loop, "D-01", "D-02", "D-06")
{
    static char by_loop[LOG_SIZE];
    static char by_tasks[LOG_SIZE];
    do_mixed_work(by_loop);
    goes_on = true;
    do_mixed_work(by_tasks);
    ck_assert_str_eq(by_loop, by_tasks);
}

TEST(a_task_that_goes_on_leaves_a_post_no_later_than_the_next_run, "D-06")
{
    begin();
    goes_on = true;
    for (int i = 0; i < 3; i++)
        start(i, TASK_NORMAL, TR_MICROSECOND, 1);
    jobs[0].posts = &jobs[3].node;
    jobs[3].turns_left = 1;
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_str_eq(log_text, "rApBCD");
    end();
}

TEST(high_work_of_a_task_that_goes_on_runs_before_the_next_normal_one, "D-01")
{
    for (int way = 0; way < 2; way++) {
        begin();
        log_length = 0;
        memset(log_text, 0, sizeof log_text);
        goes_on = way;
        for (int i = 0; i < 4; i++)
            start(i, TASK_NORMAL, TR_MICROSECOND, 1);
        jobs[5].turns_left = 1;
        jobs[5].class = TASK_HIGH;
        jobs[1].readies = &jobs[5];
        ck_assert(!tr__loop_slice(&loop));
        ck_assert_str_eq(log_text, "rABFCD");
        ck_assert_uint_eq(atom64_load(&loop.runs, ATOM_RELAXED), 5);
        ck_assert_int_eq(loop.clock_in, LOOP_CLOCK_TURNS - 5);
        end();
    }
}

/*
 * Two that make each other ready again and again, and one that waits: it waits no longer than for one that
 * has as many turns to do by itself.
 */
TEST(two_that_go_on_with_each_other_let_the_others_run, "D-02")
{
    for (int way = 0; way < 2; way++) {
        begin();
        goes_on = way;
        log_length = 0;
        memset(log_text, 0, sizeof log_text);
        for (int i = 0; i < 2; i++)
            jobs[i].rallies = &jobs[1 - i];
        jobs[0].turns_left = 1;
        loop_enqueue(&loop, &jobs[0].task, TASK_NORMAL);
        start(2, TASK_NORMAL, 100, 1000);
        loop.share = loop.share_left = LOOP_CLOCK_TURNS;
        loop.slice_left = 10 * LOOP_CLOCK_TURNS;
        ck_assert(tr__loop_slice(&loop));
        ck_assert_uint_ge(jobs[2].turns, 4 * LOOP_CLOCK_TURNS);
        ck_assert_uint_ge(jobs[0].turns + jobs[1].turns, 4 * LOOP_CLOCK_TURNS);
        ck_assert_uint_eq(strspn(log_text + 1, "AB"), LOOP_CLOCK_TURNS);
        ck_assert_int_eq(log_text[1 + LOOP_CLOCK_TURNS], 'C');
        end();
    }
}

/* How many turns in a row two that make each other ready have, while a third one waits. */
static size_t longest_rally(tr_time cost_ns, bool by_themselves)
{
    begin();
    goes_on = by_themselves;
    log_length = 0;
    memset(log_text, 0, sizeof log_text);
    for (int i = 0; i < 2; i++) {
        jobs[i].rallies = &jobs[1 - i];
        jobs[i].cost_ns = cost_ns;
    }
    start(0, TASK_NORMAL, cost_ns, 1);
    for (int i = 2; i < 12; i++)
        jobs[i].rallies = &jobs[i]; /* ready again after each turn */
    for (int i = 2; i < 12; i++)
        start(i, TASK_NORMAL, cost_ns, 1);
    loop.slice_left = 2000;
    ck_assert(tr__loop_slice(&loop));
    size_t longest = 0;
    for (size_t i = 0; i < log_length; i++) {
        size_t length = strspn(log_text + i, "AB");
        longest = length > longest ? length : longest;
        i += length;
    }
    end();
    return longest;
}

TEST(the_longer_turns_take_the_shorter_is_a_share, "D-02", "WP-10")
{
    for (int way = 0; way < 2; way++) {
        ck_assert_uint_eq(longest_rally(100, way), LOOP_CLOCK_TURNS);
        ck_assert_uint_eq(longest_rally(1000, way), 10);
        ck_assert_uint_eq(longest_rally(2500, way), 4);
        ck_assert_uint_eq(longest_rally(2600, way), 1);
        ck_assert_uint_eq(longest_rally(TR_MILLISECOND, way), 1);
    }
}

TEST(tasks_that_go_on_end_at_a_tick_and_with_the_slice, "D-01", "D-02")
{
    begin();
    goes_on = true;
    ticks = true;
    for (int i = 0; i < 8; i++)
        start(i, TASK_NORMAL, 400 * TR_MICROSECOND, 1000);
    tr_time seen_ns = loop.now_ns;
    loop.slice_left = 1000;
    ck_assert(tr__loop_slice(&loop));
    ck_assert_int_gt(loop.now_ns, seen_ns + 998 * 400 * TR_MICROSECOND); /* it looks at the clock */
    uint64_t turns = 0;
    for (int i = 0; i < 8; i++)
        turns += jobs[i].turns;
    ck_assert_uint_eq(turns, 1000);
    loop_call_back(&loop);
    ck_assert_int_eq(loop.quick_left, 0);
    end();
}

SUITE("sched loop next", tasks_that_go_on_by_themselves_keep_the_order_of_the_loop,
      a_task_that_goes_on_leaves_a_post_no_later_than_the_next_run,
      high_work_of_a_task_that_goes_on_runs_before_the_next_normal_one,
      two_that_go_on_with_each_other_let_the_others_run,
      the_longer_turns_take_the_shorter_is_a_share,
      tasks_that_go_on_end_at_a_tick_and_with_the_slice)
