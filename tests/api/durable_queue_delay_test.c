/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Items of queues with a delay: they do not keep their actor awake, and wake it at their time, also in another process.
 */
#include <stdlib.h>
#include <troupe/queue.h>

#include "support/things.h"

TR_MESSAGE(job, (i64, number));

enum { TRIES_MAX = 100 };

static int runs;
static int done;
static tr_time done_ns[TRIES_MAX];
static int64_t order[TRIES_MAX];
static char directory[64];

static tr_next push(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    return tr_reply(
        self, acted, .value = (int64_t)tr_queue_push(self, "jobs", job, .number = n).id);
}

static tr_next push_later(tr_self *self, struct thing_state *state, int64_t seconds)
{
    (void)state;
    tr_queued item = tr_queue_push_after(self, "jobs", seconds * TR_SECOND, job, .number = seconds);
    return tr_reply(self, acted, .value = (int64_t)item.id);
}

static tr_next cancel(tr_self *self, struct thing_state *state, int64_t id)
{
    (void)state;
    return tr_reply(self, acted, .value = tr_queue_cancel(self, (tr_queued){(uint64_t)id}));
}

static tr_next count(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count(self, "jobs"));
}

static tr_next run(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    runs++;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        ck_assert_int_lt(done, TRIES_MAX);
        order[done] = job->number;
        done_ns[done++] = tr_now(self);
        ck_assert(tr_queue_done(self, item));
    }
    return TR_SAME;
}

static void begin_with(tr_kit_options options, thing_call *on_run)
{
    runs = done = 0;
    things_on_run = on_run;
    things_begin_with(options);
}

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-retry-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static void put_to_sleep(void)
{
    thing_ref ref = things_of("a");
    things_do("a", thing_go_to_sleep, 0);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert(!things_is_awake(ref));
}

TEST(an_item_with_a_delay_wakes_its_sleeper_at_its_time, "K-21")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        begin_with((tr_kit_options){.seed = seed}, run);
        tr_time begin_ns = tr_kit_now(kit);
        thing_ref ref = things_of("a");
        things_do("a", push_later, 3600);
        things_do("a", push_later, 60);
        ck_assert_int_eq(things_do("a", count, 0), 2);
        tr_kit_advance(kit, 30 * TR_SECOND); /* it does not keep the actor awake */
        ck_assert(!things_is_awake(ref));
        ck_assert_int_eq(runs, 1);
        tr_kit_advance(kit, 29 * TR_SECOND);
        ck_assert_int_eq(done, 0);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_int_eq(done, 1);
        ck_assert_int_eq(order[0], 60);
        tr_kit_advance(kit, 2 * TR_HOUR);
        ck_assert_int_eq(done, 2);
        ck_assert_int_eq(runs, 3); /* and not once more */
        ck_assert_int_ge(done_ns[0] - begin_ns, 60 * TR_SECOND);
        ck_assert_int_le(done_ns[0] - begin_ns, 61 * TR_SECOND);
        ck_assert_int_le(done_ns[1] - begin_ns, 3601 * TR_SECOND);
        tr_kit_advance(kit, 24 * TR_HOUR);
        ck_assert_int_eq(runs, 3);
        things_end();
    }
}

TEST(an_item_with_a_delay_comes_while_its_actor_is_awake_too, "K-21")
{
    begin_with((tr_kit_options){.seed = 1}, run);
    things_do("a", push_later, 5);
    things_do("a", push_later, 2);
    things_do("a", push, 1);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(done, 1); /* later ones pass those that wait */
    tr_kit_advance(kit, 5 * TR_SECOND);
    ck_assert_int_eq(done, 3);
    ck_assert_int_eq(order[0], 1);
    ck_assert_int_eq(order[1], 2);
    ck_assert_int_eq(order[2], 5);
    ck_assert_int_eq(runs, 1);
    things_end();
}

/* An ordinary handler waits for an item with a delay; a kind without a run handler has no other way. */
static tr_next take_soon(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    tr_status status = tr_queue_take(self, "jobs", job, n * TR_SECOND, &job, &item);
    return tr_reply(self, acted, .value = status == TR_OK ? job->number : status);
}

TEST(a_turn_that_waits_gets_an_item_when_its_time_comes, "K-21")
{
    begin_with((tr_kit_options){.seed = 1}, NULL);
    things_do("a", push_later, 20);
    tr_time begin_ns = tr_kit_now(kit);
    ck_assert_int_eq(things_do("a", take_soon, 5), TR_TIMEOUT);
    ck_assert_int_eq(things_do("a", take_soon, 50), 20);
    ck_assert_int_ge(tr_kit_now(kit) - begin_ns, 20 * TR_SECOND);
    ck_assert_int_lt(tr_kit_now(kit) - begin_ns, 21 * TR_SECOND);
    things_end();
}

TEST(a_delay_survives_a_restart_of_the_process, "K-21")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        directory_make();
        begin_with((tr_kit_options){.seed = seed, .store = directory}, run);
        things_do("a", push_later, 100);
        things_do("b", push_later, 7200);
        if (seed % 2)
            put_to_sleep();
        things_end();
        begin_with((tr_kit_options){.seed = seed, .store = directory}, run);
        tr_kit_advance(kit, 90 * TR_SECOND);
        ck_assert_int_eq(runs, 0); /* nobody wakes for an item that still waits */
        tr_kit_advance(kit, 20 * TR_SECOND);
        ck_assert_int_eq(done, 1);
        ck_assert_int_eq(order[0], 100);
        things_end();
        begin_with((tr_kit_options){.seed = seed, .store = directory}, run);
        tr_kit_advance(kit, 3 * TR_HOUR);
        ck_assert_int_eq(done, 1);
        ck_assert_int_eq(runs, 1);
        things_end();
        directory_drop();
    }
}

/* Takes an item and does not come to its end. */
static tr_next run_and_hang(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    runs++;
    if (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK)
        (void)!tr_sleep(self, 24 * TR_HOUR);
    return TR_SAME;
}

TEST(what_was_due_and_not_done_is_done_by_the_next_process, "K-21")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        directory_make();
        begin_with((tr_kit_options){.seed = seed, .store = directory}, run_and_hang);
        things_do("a", push_later, 20);
        tr_kit_advance(kit, (tr_time)seed * TR_MINUTE);
        ck_assert_int_le(runs, 2);
        things_end();
        begin_with((tr_kit_options){.seed = seed, .store = directory}, run);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(done, 1);
        things_end();
        directory_drop();
    }
}

TEST(if_the_clock_was_set_back_an_item_waits_no_longer_than_its_delay, "K-21")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        directory_make();
        begin_with((tr_kit_options){.seed = seed, .store = directory}, run);
        tr_time start_ns = tr_kit_wall_now(kit);
        tr_kit_advance(kit, 5 * TR_HOUR);
        things_do("a", push_later, 20);
        put_to_sleep();
        things_end();
        tr_kit_options back = {.seed = seed, .store = directory, .wall_ns = start_ns};
        begin_with(back, run);
        tr_kit_advance(kit, 19 * TR_SECOND);
        ck_assert_int_eq(done, 0);
        tr_kit_advance(kit, 3 * TR_SECOND);
        ck_assert_int_eq(done, 1);
        things_end();
        directory_drop();
    }
}

TEST(a_cancelled_item_never_comes, "K-21")
{
    begin_with((tr_kit_options){.seed = 1}, run);
    int64_t first = things_do("a", push_later, 60);
    int64_t second = things_do("a", push_later, 70);
    ck_assert_int_eq(things_do("a", cancel, first), true);
    ck_assert_int_eq(things_do("a", cancel, first), false);
    ck_assert_int_eq(things_do("a", cancel, 12345), false);
    ck_assert_int_eq(things_do("a", count, 0), 1);
    put_to_sleep();
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(done, 1);
    ck_assert_int_eq(order[0], 70);
    ck_assert_int_eq(things_do("a", cancel, second), false); /* it is done */
    tr_kit_advance(kit, TR_HOUR);
    int before = runs;
    int64_t third = things_do("a", push_later, 60);
    ck_assert_int_eq(things_do("a", cancel, third), true);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(runs, before + 1); /* nobody wakes for what is cancelled */
    things_end();
}

SUITE("durable queue delays", an_item_with_a_delay_wakes_its_sleeper_at_its_time,
      an_item_with_a_delay_comes_while_its_actor_is_awake_too,
      a_turn_that_waits_gets_an_item_when_its_time_comes, a_delay_survives_a_restart_of_the_process,
      what_was_due_and_not_done_is_done_by_the_next_process,
      if_the_clock_was_set_back_an_item_waits_no_longer_than_its_delay,
      a_cancelled_item_never_comes)
