/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loop of a worker on a virtual clock: phases, shares of time, budgets, sleep.
 */
#include "support/test.h"

#include "support/loop_jobs.h"

#include <troupe/limits.h>

TEST(a_round_is_io_posts_tasks, "D-06")
{
    begin();
    jobs[0].turns_left = 1;
    watch(0);
    io_happens(0, TR_IO_IN);
    jobs[1].turns_left = 1;
    (void)loop_post(&loop, &jobs[1].node);
    start(2, TASK_NORMAL, TR_MICROSECOND, 1);
    start(4, TASK_HIGH, TR_MICROSECOND, 1);
    loop.alarm_ns = virtual->mono;
    ck_assert(!tr__loop_slice(&loop));
    /* Round, alarm, the event, the post, high E, normal C, A of the event, then posted B. */
    ck_assert_str_eq(log_text, "raipECAB");
    ck_assert(!tr__loop_has_work(&loop));
    end();
}

TEST(posts_are_taken_oldest_first_and_between_any_two_runs, "D-06")
{
    begin();
    for (int i = 0; i < 4; i++) {
        jobs[i].turns_left = 1;
        (void)loop_post(&loop, &jobs[i].node);
    }
    ck_assert(tr__loop_has_work(&loop));
    loop.slice_left = 2;
    ck_assert(tr__loop_slice(&loop));
    jobs[4].turns_left = 1;
    (void)loop_post(&loop, &jobs[4].node);
    loop.slice_left = LOOP_NO_LIMIT;
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_str_eq(log_text, "rppppABpCDE");
    end();
}

TEST(a_slice_does_no_more_turns_than_it_may, "D-02")
{
    begin();
    struct job *job = start(0, TASK_NORMAL, TR_MICROSECOND, 1000);
    for (uint64_t i = 1; i <= 10; i++) {
        loop.slice_left = 7;
        ck_assert(tr__loop_slice(&loop));
        ck_assert_uint_eq(job->turns, 7 * i);
    }
    loop.slice_left = 1;
    ck_assert(tr__loop_slice(&loop));
    ck_assert_uint_eq(job->turns, 71);
    end();
}

TEST(a_run_has_64_turns_and_neighbours_come_between, "D-02", "WP-17")
{
    begin();
    struct job *busy = start(0, TASK_NORMAL, TR_NANOSECOND, 1000000);
    struct job *other = start(1, TASK_NORMAL, TR_NANOSECOND, 1000000);
    loop.slice_left = 64 * 100;
    ck_assert(tr__loop_slice(&loop));
    ck_assert_uint_eq(busy->longest, TR_RUN_TURNS_MAX);
    ck_assert_uint_eq(other->longest, TR_RUN_TURNS_MAX);
    ck_assert_uint_eq(busy->turns, 64 * 50);
    ck_assert_uint_eq(other->turns, 64 * 50);
    ck_assert_uint_eq(atom64_load(&loop.runs, ATOM_RELAXED), 100);
    end();
}

TEST(a_run_of_slow_turns_ends_at_a_tick, "D-02", "WP-17")
{
    begin();
    ticks = true;
    struct job *slow = start(0, TASK_NORMAL, 300 * TR_MICROSECOND, 1000000);
    struct job *quick = start(1, TASK_NORMAL, TR_MICROSECOND, 1000000);
    tr_time begin_ns = virtual->mono;
    loop.slice_left = 5000;
    ck_assert(tr__loop_slice(&loop));
    /* A millisecond is at most four of its turns, so a neighbour never waits for 64 of them. */
    ck_assert_uint_le(slow->longest, 4);
    ck_assert_uint_ge(quick->runs, slow->runs - 1);
    /* The tick ends runs of others too, but not before they had a turn. */
    ck_assert_uint_ge(quick->longest, 32);
    /* The clock is known to a millisecond and a turn. */
    ck_assert_int_gt(virtual->mono - begin_ns, 10 * TR_MILLISECOND);
    ck_assert_int_le(virtual->mono - loop.now_ns, TR_MILLISECOND + 300 * TR_MICROSECOND);
    end();
}

TEST(high_work_leaves_normal_tasks_an_eighth, "D-02", "WP-08")
{
    begin();
    for (int i = 0; i < 4; i++)
        start(i, TASK_HIGH, TR_MICROSECOND, UINT64_MAX);
    struct job *one = start(4, TASK_NORMAL, TR_MICROSECOND, UINT64_MAX);
    struct job *two = start(5, TASK_NORMAL, TR_MICROSECOND, UINT64_MAX);
    loop.slice_left = 100000;
    ck_assert(tr__loop_slice(&loop));
    ck_assert_uint_ge(one->turns + two->turns, 100000 / 8 - 64);
    ck_assert_uint_le(one->turns + two->turns, 100000 / 8 + 2 * 64);
    ck_assert_uint_ge(one->turns + 64, two->turns);
    ck_assert_uint_ge(two->turns + 64, one->turns);
    end();
}

TEST(rounds_of_a_loop_without_io_are_500_us_long, "D-06")
{
    begin();
    start(1, TASK_NORMAL, TR_MICROSECOND, UINT64_MAX);
    loop.slice_left = 100000;
    ck_assert(tr__loop_slice(&loop));
    uint64_t rounds = 0;
    for (const char *c = log_text; *c; c++)
        rounds += *c == 'r';
    ck_assert_uint_ge(rounds, 50);
    /* 64 turns of 1 us are a run: a round has 8 of them, and is 512 us long. */
    tr_time round_ns = jobs[1].spent_ns / (tr_time)rounds;
    ck_assert_int_ge(round_ns, 490 * TR_MICROSECOND);
    ck_assert_int_le(round_ns, 640 * TR_MICROSECOND);
    end();
}

TEST(io_waits_for_no_round_when_there_is_nothing_else, "D-06")
{
    begin();
    jobs[0].turns_left = 1;
    watch(0);
    /* A round has just begun, and a task has just ended. */
    start(1, TASK_NORMAL, TR_MICROSECOND, 1);
    ck_assert(!tr__loop_slice(&loop));
    io_happens(0, TR_IO_IN);
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_uint_eq(jobs[0].runs, 1);
    end();
}

TEST(a_tick_makes_the_loop_read_the_clock, "D-02", "D-06")
{
    begin();
    start(0, TASK_NORMAL, TR_MILLISECOND, 2);
    loop.slice_left = 1;
    ck_assert(tr__loop_slice(&loop));
    tr_time known_ns = loop.now_ns;
    /* Without a tick it may be up to 64 turns old; with one it is of now. */
    ck_assert_int_lt(known_ns, virtual->mono);
    atom32_fetch_add(&loop.tick, 1, ATOM_RELAXED);
    loop.slice_left = 1;
    (void)tr__loop_slice(&loop);
    ck_assert_int_eq(loop.now_ns, virtual->mono);
    ck_assert(!loop_is_time_up(&loop));
    end();
}

TEST(turns_as_long_as_the_last_ones_need_no_tick, "D-02", "D-06")
{
    enum { TURN_NS = 20 * TR_MICROSECOND };
    begin();
    start(0, TASK_NORMAL, TURN_NS, 1000000);
    for (int i = 0; i < 1000; i++) {
        loop.slice_left = 1;
        ck_assert(tr__loop_slice(&loop));
        if (i >= LOOP_CLOCK_TURNS) /* until then the loop does not know how long turns take */
            ck_assert_int_le(virtual->mono - loop.now_ns, LOOP_CLOCK_NS);
    }
    end();
}

/* ---- Sleep. ---- */

static bool refuse_to_step(void *context, tr_time deadline)
{
    *(tr_time *)context = deadline;
    return false;
}

TEST(a_loop_without_work_parks_until_something_falls_due, "WP-03", "P-04")
{
    begin();
    tr_time asked = 0;
    virtual->on_park = refuse_to_step;
    virtual->on_park_context = &asked;
    ck_assert(!tr__loop_slice(&loop));
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert_int_eq(asked, TR_NEVER);
    ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), 1);
    loop.alarm_ns = virtual->mono + 3 * TR_SECOND;
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert_int_eq(asked, loop.alarm_ns);
    idle_until = virtual->mono + 2 * TR_SECOND;
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert_int_eq(asked, idle_until);
    tr__loop_rest(&loop, virtual->mono + TR_SECOND);
    ck_assert_int_eq(asked, virtual->mono + TR_SECOND);
    ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), 4);
    end();
}

TEST(a_post_keeps_the_loop_from_sleeping, "WP-01", "P-04")
{
    begin();
    ck_assert(!loop_post(&loop, &jobs[0].node)); /* it is awake: nobody need wake it */
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), 0);
    ck_assert_uint_eq(virtual->wakes, 0);
    end();
}

static bool post_while_asleep(void *context, tr_time deadline)
{
    struct job *job = context;
    (void)deadline;
    ck_assert(loop_post(&loop, &job[0].node));  /* the first wakes it, */
    ck_assert(!loop_post(&loop, &job[1].node)); /* the second need not */
    return true;
}

TEST(the_first_of_several_posts_wakes_a_sleeper, "P-04", "WP-01")
{
    begin();
    virtual->on_park = post_while_asleep;
    virtual->on_park_context = jobs;
    jobs[0].turns_left = 1;
    jobs[1].turns_left = 1;
    ck_assert(!tr__loop_slice(&loop));
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert_uint_eq(virtual->wakes, 1);
    ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), 1);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_uint_eq(jobs[0].runs + jobs[1].runs, 2);
    end();
}

TEST(a_wake_without_a_post_is_harmless, "WP-02")
{
    begin();
    for (int i = 0; i < 100; i++) {
        virtual->table.wake(&virtual->table, loop.parker);
        tr__loop_rest(&loop, TR_NEVER);
        ck_assert(!tr__loop_slice(&loop));
    }
    for (size_t i = 0; i < log_length; i++)
        ck_assert(log_text[i] == 'r' || log_text[i] == 'd');
    start(0, TASK_NORMAL, TR_MICROSECOND, 1);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_uint_eq(jobs[0].runs, 1);
    end();
}

/* A clock that goes on by itself, and a post that comes at some moment. */
static tr_time post_at_ns = TR_NEVER;

static tr_time passing_now(const tr_platform *platform)
{
    (void)platform;
    virtual->mono += TR_MICROSECOND;
    if (virtual->mono >= post_at_ns) {
        post_at_ns = TR_NEVER;
        (void)loop_post(&loop, &jobs[0].node);
    }
    return virtual->mono;
}

/* How long it spins, to the microsecond; negative when it did not sleep after that. */
static tr_time rest_us(bool has_woken)
{
    uint64_t parks = atom64_load(&loop.parks, ATOM_RELAXED);
    tr_time begin_ns = virtual->mono;
    loop.has_woken = has_woken;
    tr__loop_rest(&loop, TR_NEVER);
    tr_time took_us = (virtual->mono - begin_ns) / TR_MICROSECOND - 1; /* its first look is none */
    return atom64_load(&loop.parks, ATOM_RELAXED) == parks ? -took_us : took_us;
}

TEST(who_has_woken_another_spins_longer_while_answers_come, "P-04")
{
    tr_time asked;
    begin();
    virtual->table.mono_now = passing_now;
    virtual->on_park = refuse_to_step;
    virtual->on_park_context = &asked;
    tr__loop_init(&loop, &hooks, &virtual->table, loop.parker, 0);
    ck_assert_int_eq(rest_us(false), 20);
    ck_assert_int_eq(rest_us(true), 100);
    ck_assert_int_eq(rest_us(true), 20); /* it was in vain: not each time, */
    ck_assert_int_eq(rest_us(true), 100);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(rest_us(true), 20); /* and ever more seldom */
    post_at_ns = virtual->mono + 50 * TR_MICROSECOND;
    ck_assert_int_le(rest_us(true), -48);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_int_eq(rest_us(true), 100); /* one came: that pays */
    /* It never becomes so rare that it is not tried again. */
    for (int i = 0; i < 10 * LOOP_VAIN_MAX; i++)
        (void)rest_us(true);
    ck_assert_uint_eq(loop.answer_vain, LOOP_VAIN_MAX);
    int others = 0;
    while (rest_us(true) == 20)
        others++;
    ck_assert_int_le(others, LOOP_VAIN_MAX);
    end();
}

TEST(who_waits_for_another_thread_spins_for_so_long_once, "P-04")
{
    tr_time asked;
    begin();
    virtual->table.mono_now = passing_now;
    virtual->on_park = refuse_to_step;
    virtual->on_park_context = &asked;
    tr__loop_init(&loop, &hooks, &virtual->table, loop.parker, 0);
    loop.await_ns = 250 * TR_MICROSECOND;
    post_at_ns = virtual->mono + 200 * TR_MICROSECOND;
    ck_assert_int_le(rest_us(false), -198);
    ck_assert_uint_gt(virtual->yields, 10); /* to who does it, if that is on this CPU */
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_int_eq(loop.await_ns,
                     250 * TR_MICROSECOND); /* what came may have been another thing */
    loop.await_ns = 0;
    ck_assert_int_eq(rest_us(false), 20); /* nothing is waited for any more */
    for (int i = 0; i < 2; i++) {         /* one that was in vain changes nothing */
        loop.await_ns = 250 * TR_MICROSECOND;
        ck_assert_int_eq(rest_us(false), 250);
        ck_assert_int_eq(loop.await_ns, 0); /* once for each */
    }
    loop.await_ns = 250 * TR_MICROSECOND;
    ck_assert_int_eq(rest_us(false), 20); /* two in a row were in vain: not each time */
    loop.await_ns = 250 * TR_MICROSECOND;
    ck_assert_int_eq(rest_us(true), 250);
    loop.await_ns = 50 * TR_MICROSECOND;
    ck_assert_int_eq(rest_us(true), 100); /* the longer of the two, which were counted apart */
    tr__loop_init(&loop, &hooks, &virtual->table, loop.parker, -1);
    loop.await_ns = 250 * TR_MICROSECOND;
    ck_assert_int_eq(rest_us(false), 0); /* it is not to spin */
    end();
}

TEST(a_spin_that_was_asked_for_is_as_long_as_that, "P-04")
{
    tr_time asked;
    begin();
    virtual->table.mono_now = passing_now;
    virtual->on_park = refuse_to_step;
    virtual->on_park_context = &asked;
    tr__loop_init(&loop, &hooks, &virtual->table, loop.parker, 30 * TR_MICROSECOND);
    ck_assert_int_eq(rest_us(true), 30);
    tr__loop_init(&loop, &hooks, &virtual->table, loop.parker, -1);
    ck_assert_int_eq(rest_us(true), 0);
    end();
}

TEST(a_nudge_makes_the_loop_look_around_once_more, "WP-02")
{
    begin();
    loop_nudge(&loop); /* it is awake */
    ck_assert_uint_eq(virtual->wakes, 0);
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), 0);
    log_length = 0;
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_int_eq(log_text[0], 'r');
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), 1);
    end();
}

SUITE("sched loop", a_round_is_io_posts_tasks,
      posts_are_taken_oldest_first_and_between_any_two_runs, a_slice_does_no_more_turns_than_it_may,
      a_run_has_64_turns_and_neighbours_come_between, a_run_of_slow_turns_ends_at_a_tick,
      high_work_leaves_normal_tasks_an_eighth, rounds_of_a_loop_without_io_are_500_us_long,
      io_waits_for_no_round_when_there_is_nothing_else, a_tick_makes_the_loop_read_the_clock,
      turns_as_long_as_the_last_ones_need_no_tick,
      a_loop_without_work_parks_until_something_falls_due, a_post_keeps_the_loop_from_sleeping,
      the_first_of_several_posts_wakes_a_sleeper, a_wake_without_a_post_is_harmless,
      who_has_woken_another_spins_longer_while_answers_come,
      who_waits_for_another_thread_spins_for_so_long_once,
      a_spin_that_was_asked_for_is_as_long_as_that, a_nudge_makes_the_loop_look_around_once_more)
