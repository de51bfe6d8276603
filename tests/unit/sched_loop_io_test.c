/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loop of a worker and IO: when it looks at watched descriptors, and how often.
 */
#include "support/test.h"

#include "support/loop_jobs.h"

#include <setjmp.h>

static uint64_t count_of(char what)
{
    uint64_t count = 0;
    for (size_t i = 0; i < log_length; i++)
        count += log_text[i] == what;
    return count;
}

/* A clock that moves by itself, and an event that comes at some moment. */
static tr_time event_at_ns = TR_NEVER;

static tr_time passing_now(const tr_platform *platform)
{
    (void)platform;
    virtual->mono += TR_MICROSECOND;
    if (virtual->mono >= event_at_ns) {
        event_at_ns = TR_NEVER;
        io_happens(JOBS, TR_IO_IN);
    }
    return virtual->mono;
}

static void begin_passing(tr_time spin_ns)
{
    begin();
    virtual->table.mono_now = passing_now;
    tr__loop_init(&loop, &hooks, &virtual->table, loop.parker, spin_ns);
}

TEST(a_loop_without_watched_descriptors_never_asks_for_io, "D-06", "P-04")
{
    begin_passing(0);
    start(0, TASK_NORMAL, TR_MICROSECOND, 100000);
    start(1, TASK_NORMAL, TR_MICROSECOND, 100000);
    ck_assert(!tr__loop_slice(&loop));
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_uint_eq(io_polls, 0);
    watch(JOBS);
    ck_assert_uint_eq(loop.io_watched, 1);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_uint_eq(io_polls, 1);
    tr__loop_unwatch(&loop, 5);
    ck_assert_uint_eq(loop.io_watched, 0);
    ck_assert_uint_eq(io_watches, 0);
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_uint_eq(io_polls, 1);
    end();
}

TEST(what_cannot_be_watched_is_not_counted, "D-06")
{
    begin();
    ck_assert_int_eq(tr__loop_watch(&loop, -1, 0), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(loop.io_watched, 0);
    end();
}

TEST(a_wake_up_asks_for_io_once, "D-06")
{
    begin();
    watch(0);
    ck_assert(!tr__loop_slice(&loop));
    for (uint64_t i = 1; i <= 100; i++) {
        uint64_t polls = io_polls;
        jobs[0].turns_left = 1;
        io_happens(0, TR_IO_IN);
        start(1, TASK_NORMAL, TR_NANOSECOND, 1);
        tr__loop_rest(&loop, TR_NEVER);
        ck_assert(!tr__loop_slice(&loop));
        ck_assert_uint_eq(io_polls, polls + 1);
        ck_assert_uint_eq(jobs[0].runs, i);
        ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), i);
    }
    end();
}

TEST(a_busy_worker_looks_at_io_each_200_us, "D-06")
{
    begin();
    start(0, TASK_NORMAL, TR_MICROSECOND, UINT64_MAX);
    loop.slice_left = 1000;
    ck_assert(tr__loop_slice(&loop)); /* within a round of 500 us */
    watch(JOBS);
    tr_time begin_ns = virtual->mono;
    loop.slice_left = 100000;
    ck_assert(tr__loop_slice(&loop));
    /* 64 turns of 1 us are a run: a round has 4 of them, and is 256 us long. */
    tr_time look_ns = (virtual->mono - begin_ns) / (tr_time)io_polls;
    ck_assert_int_ge(look_ns, 190 * TR_MICROSECOND);
    ck_assert_int_le(look_ns, 264 * TR_MICROSECOND);
    /* The first look is at once: something may be possible already. */
    tr__loop_unwatch(&loop, 5);
    uint64_t polls = io_polls;
    watch(JOBS);
    loop.slice_left = 1;
    ck_assert(tr__loop_slice(&loop));
    ck_assert_uint_eq(io_polls, polls + 1);
    end();
}

TEST(an_event_ends_a_spin_and_is_asked_for_once, "D-06", "P-04")
{
    begin_passing(0);
    watch(JOBS);
    ck_assert(!tr__loop_slice(&loop));
    event_at_ns = virtual->mono + 10 * TR_MICROSECOND;
    tr__loop_rest(&loop, TR_NEVER);
    ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), 0);
    ck_assert_uint_eq(io_ready_count, 0); /* the spin has it */
    ck_assert(tr__loop_has_work(&loop));
    uint64_t polls = io_polls;
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_uint_eq(io_polls, polls);
    ck_assert_uint_eq(count_of('i'), 1);
    ck_assert(!tr__loop_has_work(&loop));
    end();
}

TEST(spins_for_io_become_rare_while_nothing_comes, "P-04")
{
    begin_passing(0);
    watch(JOBS);
    ck_assert(!tr__loop_slice(&loop));
    uint64_t spins = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t polls = io_polls;
        tr__loop_rest(&loop, TR_NEVER);
        spins += io_polls > polls;
        ck_assert(!tr__loop_slice(&loop));
    }
    ck_assert_uint_ge(spins, 1000 / (LOOP_VAIN_MAX + 1));
    ck_assert_uint_le(spins, 1000 / (LOOP_VAIN_MAX + 1) + 7);
    while (loop.io_skip)
        tr__loop_rest(&loop, TR_NEVER);
    for (int i = 0; i < 10; i++) { /* one came: that pays */
        uint64_t parks = atom64_load(&loop.parks, ATOM_RELAXED);
        event_at_ns = virtual->mono + 10 * TR_MICROSECOND;
        tr__loop_rest(&loop, TR_NEVER);
        ck_assert_uint_eq(atom64_load(&loop.parks, ATOM_RELAXED), parks);
        ck_assert(!tr__loop_slice(&loop));
    }
    end();
}

static tr_time sleep_ns;

static void passing_park(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    (void)platform;
    (void)parker;
    (void)deadline;
    virtual->mono += sleep_ns;
}

/* Sleeps once for so long, skips the rests that do not spin, and says whether the next one waits for what comes then. */
static bool spins_until(tr_time slept_ns, tr_time after_ns)
{
    do {
        sleep_ns = slept_ns;
        tr__loop_rest(&loop, TR_NEVER);
        ck_assert(!tr__loop_slice(&loop));
    } while (loop.io_skip);
    uint64_t parks = atom64_load(&loop.parks, ATOM_RELAXED);
    event_at_ns = virtual->mono + after_ns;
    tr__loop_rest(&loop, TR_NEVER);
    event_at_ns = TR_NEVER;
    ck_assert(!tr__loop_slice(&loop));
    return atom64_load(&loop.parks, ATOM_RELAXED) == parks;
}

TEST(a_spin_for_io_is_longer_while_io_comes_soon, "P-04")
{
    begin_passing(0);
    virtual->table.park = passing_park;
    watch(JOBS);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert(spins_until(TR_SPIN_IO_NS, TR_SPIN_IO_NS - 10 * TR_MICROSECOND));
    ck_assert(!spins_until(TR_SPIN_IO_NS, TR_SPIN_IO_NS + 10 * TR_MICROSECOND));
    ck_assert(!spins_until(2 * TR_SPIN_IO_NS, TR_SPIN_NS + 10 * TR_MICROSECOND));
    ck_assert(spins_until(2 * TR_SPIN_IO_NS, TR_SPIN_NS - 10 * TR_MICROSECOND));
    ck_assert(spins_until(TR_SPIN_IO_NS, TR_SPIN_NS + 10 * TR_MICROSECOND));
    end();
    begin_passing(TR_SPIN_NS); /* as the options say, and not longer */
    virtual->table.park = passing_park;
    watch(JOBS);
    ck_assert(!tr__loop_slice(&loop));
    ck_assert(!spins_until(TR_SPIN_IO_NS, TR_SPIN_NS + 10 * TR_MICROSECOND));
    ck_assert(spins_until(TR_SPIN_IO_NS, TR_SPIN_NS - 10 * TR_MICROSECOND));
    end();
}

static jmp_buf left;

static void leave_on_io(struct loop *self, uint64_t token, uint32_t what)
{
    on_io(self, token, what);
    if (token == JOBS)
        longjmp(left, 1); /* as a turn does that ends in a hook */
}

TEST(a_hook_that_does_not_return_loses_no_event, "D-06")
{
    begin();
    struct loop_hooks leaving = hooks;
    leaving.on_io = leave_on_io;
    tr__loop_init(&loop, &leaving, &virtual->table, loop.parker, -1);
    watch(0);
    jobs[0].turns_left = jobs[1].turns_left = 1;
    io_happens(0, TR_IO_IN);
    io_happens(JOBS, TR_IO_OUT);
    io_happens(1, TR_IO_IN);
    if (!setjmp(left)) {
        (void)tr__loop_slice(&loop);
        ck_abort_msg("it returned");
    }
    ck_assert(tr__loop_has_work(&loop));
    ck_assert(!tr__loop_slice(&loop));
    ck_assert_uint_eq(io_polls, 1);
    ck_assert_str_eq(log_text, "rioriAB");
    end();
}

SUITE("sched loop io", a_loop_without_watched_descriptors_never_asks_for_io,
      what_cannot_be_watched_is_not_counted, a_wake_up_asks_for_io_once,
      a_busy_worker_looks_at_io_each_200_us, an_event_ends_a_spin_and_is_asked_for_once,
      spins_for_io_become_rare_while_nothing_comes, a_spin_for_io_is_longer_while_io_comes_soon,
      a_hook_that_does_not_return_loses_no_event)
