/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Items in the queue of a run handler wake their actor: pushed in its grace, left by a failure, or by another process.
 * No actor wakes for items that its run handler does not take, and none of this spins.
 */
#include <stdlib.h>
#include <troupe/queue.h>

#include "support/things.h"

TR_MESSAGE(job, (i64, number));
TR_MESSAGE(other_job, (i64, number));

enum { KEYS = 300 };

static int done;      /* by run handlers */
static int runs;      /* how often one began */
static int busy;      /* how many have begun and not ended */
static int busy_most; /* at a time */
static char directory[64];

static tr_next push(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_queue_push(self, "jobs", job, .number = n);
    return tr_reply(self, acted, .value = ++state->other);
}

static tr_next push_aside(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_queue_push(self, "aside", job, .number = n);
    return tr_reply(self, acted, .value = ++state->other);
}

/* As in the guide. */
static tr_next run(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)n;
    runs++;
    busy++;
    busy_most = busy > busy_most ? busy : busy_most;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        done++;
        state->value++;
        ck_assert(tr_queue_done(self, item));
    }
    busy--;
    return TR_SAME;
}

/* A receive that fails was none: nothing is counted. */
static tr_next run_and_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    (void)state;
    (void)n;
    runs++;
    if (tr_queue_receive(self, "jobs", job, TR_HOUR, &job) != TR_OK)
        return TR_SAME;
    return tr_fail(self, TR_BAD_DATA, "poison");
}

/* What it finds is not what it wants. */
static tr_next run_and_refuse(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct other_job *job;
    tr_queued item;
    (void)state;
    (void)n;
    runs++;
    (void)!tr_queue_take(self, "jobs", other_job, TR_HOUR, &job, &item);
    return TR_SAME;
}

/* It never gets so far. */
static tr_next run_and_sleep(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    runs++;
    (void)!tr_go_to_sleep(self);
    (void)!tr_sleep(self, TR_MILLISECOND);
    while (!tr_is_aborted(self))
        (void)!tr_sleep(self, TR_MILLISECOND);
    return TR_SAME;
}

static tr_next hold_up(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_reply(self, acted, .value = state->value);
    TR_WAIT_UNTIL(self, "flush")
    {
        (void)!tr_sleep(self, n);
    }
    return TR_SAME;
}

static void begin_with(tr_kit_options options, thing_call *on_run)
{
    done = runs = busy = busy_most = 0;
    things_on_run = on_run;
    things_begin_with(options);
}

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-waker-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

/* ---- In one process. ---- */

/* docs/mends.md, 10. */
TEST(what_is_pushed_in_a_grace_is_done_by_the_next_life, "K-05", "Z-04")
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const struct acted *acted;
        begin_with((tr_kit_options){.seed = seed}, run);
        ck_assert_int_eq(things_do("a", push, 1), 1);
        tr_kit_settle(kit);
        ck_assert_int_eq(done, 1);
        thing_ref ref = things_of("a");
        act_aside_ask flush = things_ask_aside(ref, hold_up, 13 * TR_SECOND);
        ck_assert_int_eq(tr_try_await(test, flush, &acted), TR_OK);
        tr_kit_advance(kit, 11 * TR_SECOND);
        ck_assert_int_eq(things_do("a", push, 2), 2); /* in its grace */
        ck_assert_int_eq(done, 1);
        tr_kit_advance(kit, 3 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(done, 2);
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_int_eq(runs, 2);
        things_end();
    }
}

TEST(what_a_kill_leaves_is_done_by_the_next_life, "K-05")
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        begin_with((tr_kit_options){.seed = seed}, run_and_refuse);
        ck_assert_int_eq(things_do("a", push, 1), 1);
        things_on_run = run;
        tr_kill(test, things_of("a"));
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_eq(done, 1);
        things_end();
    }
}

TEST(a_job_that_fails_each_time_is_tried_less_and_less_often, "K-05")
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        begin_with((tr_kit_options){.seed = seed}, run_and_fail);
        ck_assert_int_eq(things_do("a", push, 1), 1);
        tr_kit_advance(kit, TR_HOUR);
        int first = runs;
        tr_kit_advance(kit, TR_HOUR);
        int second = runs - first;
        printf("# %d and %d tries in an hour each\n", first, second);
        /* Some 30 s come after as many tries as a kind may be restarted in a row. */
        ck_assert_int_ge(second, 60);
        ck_assert_int_le(second, 120 * 4);
        /* A request does not wait for that. */
        tr_time begin_ns = tr_kit_now(kit);
        if (seed % 2) {
            things_on_run = run;
            (void)things_do("a", thing_add, 0);
            ck_assert_int_lt(tr_kit_now(kit) - begin_ns, TR_SECOND);
            tr_kit_settle(kit);
        } else {
            things_on_run = run;
            tr_kit_advance(kit, TR_MINUTE);
        }
        ck_assert_int_eq(done, 1);
        things_end();
    }
}

TEST(a_run_handler_that_returns_without_its_item_is_not_called_again_for_it, "K-05")
{
    begin_with((tr_kit_options){.seed = 1}, run_and_refuse);
    ck_assert_int_eq(things_do("a", push, 1), 1);
    tr_kit_advance(kit, 24 * TR_HOUR);
    ck_assert_int_le(runs, 2); /* once more after the life in which it was pushed */
    things_on_run = run;
    (void)things_of("a");
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(done, 1);
    things_end();
}

TEST(a_run_handler_that_is_cut_off_each_time_does_not_spin, "K-05")
{
    begin_with((tr_kit_options){.seed = 1}, run_and_sleep);
    ck_assert_int_eq(things_do("a", push, 1), 1);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_le(runs, 200);
    ck_assert_int_ge(runs, 60);
    things_end();
}

TEST(items_that_others_take_wake_nobody, "K-05", "Z-04")
{
    begin_with((tr_kit_options){.seed = 1}, run);
    ck_assert_int_eq(things_do("a", push_aside, 1), 1);
    tr_kit_advance(kit, 24 * TR_HOUR);
    ck_assert_int_eq(runs, 1);
    things_end();
}

/* ---- After a restart of the process. ---- */

static void leave_items(void)
{
    char key[16];
    begin_with((tr_kit_options){.seed = 1, .store = directory}, NULL);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        ck_assert_int_eq(things_do(key, push, i), 1);
    }
    things_end();
}

TEST(after_a_restart_of_the_process_all_items_are_done, "K-05")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        directory_make();
        leave_items();
        bool is_limited = seed % 2;
        tr_kit_options options = {.seed = seed, .store = directory};
        if (is_limited)
            options.awake_max = 5;
        begin_with(options, run);
        tr_kit_advance(kit, 10 * TR_MILLISECOND);
        ck_assert_int_le(runs, 64); /* not all in the same moment */
        tr_kit_advance(kit, 30 * TR_SECOND);
        ck_assert_int_eq(done, KEYS);
        ck_assert_int_eq(runs, KEYS);
        if (is_limited)
            ck_assert_int_le(busy_most, 40);
        things_end();
        /* There is nothing left, and so nobody wakes. */
        begin_with((tr_kit_options){.seed = seed, .store = directory}, run);
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_int_eq(runs, 0);
        things_end();
        directory_drop();
    }
}

SUITE("durable queue wake", what_is_pushed_in_a_grace_is_done_by_the_next_life,
      what_a_kill_leaves_is_done_by_the_next_life,
      a_job_that_fails_each_time_is_tried_less_and_less_often,
      a_run_handler_that_returns_without_its_item_is_not_called_again_for_it,
      a_run_handler_that_is_cut_off_each_time_does_not_spin, items_that_others_take_wake_nobody,
      after_a_restart_of_the_process_all_items_are_done)
