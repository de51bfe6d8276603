/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Items of queues that fail: attempts with back-off, dead letters, and what can be seen and changed of them. All of it
 * survives sleep and a restart of the process.
 */
#include <stdlib.h>
#include <troupe/queue.h>

#define THINGS_OPTIONS                                                                             \
    .idle_ns = 10 * TR_SECOND, .grace_ns = 5 * TR_SECOND,                                          \
    .queues =                                                                                      \
        TR_QUEUES({.name = "jobs",                                                                 \
                   .retry = {.attempts = 4, .first_ns = TR_MINUTE, .longest_ns = 2 * TR_MINUTE}},  \
                  {.name = "once", .retry = {.attempts = 1}})

static tr_next on_given_up(tr_self *self, const struct tr_queue_given_up *message);
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(tr_queue_given_up, on_given_up)
#include "support/things.h"

TR_MESSAGE(job, (i64, number));
TR_MESSAGE(other_job, (i64, number));

enum { TRIES_MAX = 100 };

static int runs;
static int done;
static int fails; /* the run handler fails so often; -1: always */
static int tries;
static tr_time tried_ns[TRIES_MAX];
static int64_t order[TRIES_MAX];
static char directory[64];

/* ---- What the actors do. ---- */

static tr_next on_given_up(tr_self *self, const struct tr_queue_given_up *message)
{
    (void)self;
    things_tell("[%s %u %s]", message->queue, message->attempts, message->cause);
    return TR_SAME;
}

static tr_next push(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_queued item = tr_queue_push(self, "jobs", job, .number = n);
    state->other++;
    return tr_reply(self, acted, .value = (int64_t)item.id);
}

static tr_next push_later(tr_self *self, struct thing_state *state, int64_t seconds)
{
    (void)state;
    tr_queued item = tr_queue_push_after(self, "jobs", seconds * TR_SECOND, job, .number = seconds);
    return tr_reply(self, acted, .value = (int64_t)item.id);
}

static tr_next push_once(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    return tr_reply(
        self, acted, .value = (int64_t)tr_queue_push(self, "once", job, .number = n).id);
}

static tr_next cancel(tr_self *self, struct thing_state *state, int64_t id)
{
    (void)state;
    return tr_reply(self, acted, .value = tr_queue_cancel(self, (tr_queued){(uint64_t)id}));
}

static tr_next put_back(tr_self *self, struct thing_state *state, int64_t id)
{
    (void)state;
    return tr_reply(self, acted, .value = tr_queue_put_back(self, (tr_queued){(uint64_t)id}));
}

static tr_next count(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count(self, "jobs"));
}

static tr_next count_dead(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count_dead(self, "jobs"));
}

static void note_try(tr_self *self, const struct job *job)
{
    ck_assert_int_lt(tries, TRIES_MAX);
    order[tries] = job->number;
    tried_ns[tries++] = tr_now(self);
}

/* Fails in the stretch in which it took the item, or in a later one. */
static tr_next run(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)n;
    runs++;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        note_try(self, job);
        if (tries % 2)
            (void)!tr_sleep(self, TR_MILLISECOND);
        if (fails) {
            fails -= fails > 0;
            if (tries % 3)
                ck_assert(tr_queue_done(self, item)); /* it was not, because this stretch fails */
            return tr_fail(self, TR_BAD_DATA, "the printer is on fire, try %d", tries);
        }
        done++;
        state->value++;
        ck_assert(tr_queue_done(self, item));
    }
    return TR_SAME;
}

/* Does not fail itself: it says that the item has. */
static tr_next run_and_retry(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)n;
    runs++;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        note_try(self, job);
        if (fails) {
            fails -= fails > 0;
            ck_assert(job->number == 13 ? tr_queue_give_up(self, item, "unlucky")
                                        : tr_queue_retry(self, item, "no answer"));
            ck_assert(!tr_queue_retry(self, item, "twice"));
            ck_assert(!tr_queue_give_up(self, item, "twice"));
            continue;
        }
        done++;
        state->value++;
        ck_assert(tr_queue_done(self, item));
    }
    return TR_SAME;
}

static void begin_with(tr_kit_options options, thing_call *on_run, int fail_count)
{
    runs = done = tries = 0;
    things_story[0] = 0;
    fails = fail_count;
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

/* ---- Attempts. ---- */

static void check_delays(int count)
{
    static const tr_time delays[] = {TR_MINUTE, 2 * TR_MINUTE, 2 * TR_MINUTE};
    for (int i = 1; i < count; i++) {
        tr_time delay = tried_ns[i] - tried_ns[i - 1];
        ck_assert_int_ge(delay, delays[i - 1]);
        ck_assert_int_le(delay, delays[i - 1] + delays[i - 1] / 4 + TR_SECOND);
    }
}

TEST(an_item_whose_turn_fails_comes_again_after_a_delay_that_grows, "K-21")
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        begin_with((tr_kit_options){.seed = seed}, seed % 2 ? run : run_and_retry, 3);
        things_do("a", push, 1);
        tr_kit_advance(kit, 20 * TR_MINUTE);
        ck_assert_int_eq(tries, 4);
        ck_assert_int_eq(done, 1);
        check_delays(4);
        ck_assert_int_eq(things_do("a", count, 0), 0);
        ck_assert_int_eq(things_do("a", count_dead, 0), 0);
        ck_assert_int_eq(things_do("a", thing_add, 0), 1); /* what failed was not stored */
        things_end();
    }
}

TEST(the_attempts_of_an_item_survive_restarts_of_the_process, "K-21")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        thing_call *on_run = seed % 2 ? run : run_and_retry;
        directory_make();
        begin_with((tr_kit_options){.seed = seed, .store = directory}, on_run, -1);
        things_do("a", push, 1);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_eq(tries, 1);
        things_end();
        int all = 1;
        for (int i = 0; i < 3; i++) { /* one attempt in each process */
            begin_with((tr_kit_options){.seed = seed, .store = directory}, on_run, -1);
            tr_kit_advance(kit, 50 * TR_SECOND);
            ck_assert_int_eq(tries, 0);
            while (!tries)
                tr_kit_advance(kit, TR_SECOND);
            ck_assert_int_eq(tries, 1);
            all++;
            things_end();
        }
        ck_assert_int_eq(all, 4);
        begin_with((tr_kit_options){.seed = seed, .store = directory}, on_run, -1);
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_int_eq(runs, 0); /* a dead letter wakes nobody */
        ck_assert_int_eq(things_do("a", count_dead, 0), 1);
        things_end();
        directory_drop();
    }
}

TEST(later_items_pass_one_that_waits_for_its_next_attempt, "K-21")
{
    begin_with((tr_kit_options){.seed = 1}, run_and_retry, 1);
    things_do("a", push, 1);
    things_do("a", push, 2);
    things_do("a", push, 3);
    tr_kit_advance(kit, 10 * TR_MINUTE);
    ck_assert_int_eq(tries, 4);
    ck_assert_int_eq(order[0], 1);
    ck_assert_int_eq(order[1], 2);
    ck_assert_int_eq(order[2], 3);
    ck_assert_int_eq(order[3], 1);
    ck_assert_int_eq(done, 3);
    things_end();
}

static tr_next take_once(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    if (tr_queue_take(self, "once", job, 0, &job, &item) != TR_OK)
        return tr_reply(self, acted, .value = -1);
    if (n)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count_dead(self, "once"));
}

static tr_next dead_once(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count_dead(self, "once"));
}

TEST(each_queue_has_its_own_policy_and_a_kill_is_no_attempt, "K-21")
{
    begin_with((tr_kit_options){.seed = 1}, NULL, 0);
    things_do("a", push_once, 1);
    things_do("a", push_once, 2);
    thing_ref ref = things_of("a");
    ck_assert_int_eq(things_do("a", take_once, 0), 0); /* it was not done, and comes again */
    tr_kill(test, ref);
    tr_kit_settle(kit);
    ck_assert_int_eq(things_do("a", take_once, 0), 0);
    ck_assert_int_eq(things_try("a", take_once, 1, NULL), TR_FAILED);
    ck_assert_int_eq(things_do("a", dead_once, 0), 1); /* the only attempt has failed */
    ck_assert_int_eq(things_do("a", take_once, 0), 1); /* the next one */
    things_end();
}

/* What the failed stretch did to other items was not; the item of the turn has its failed attempt all the same. */
static tr_next change_all_and_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    ck_assert_int_eq(tr_queue_take(self, "jobs", job, 0, &job, &item), TR_OK);
    ck_assert_int_eq(job->number, 1);
    ck_assert(tr_queue_cancel(self, (tr_queued){(uint64_t)n}));
    tr_queue_push_after(self, "jobs", TR_SECOND, job, .number = 77);
    tr_queue_push(self, "other", job, .number = 78);
    tr_queued fresh;
    ck_assert_int_eq(tr_queue_take(self, "other", job, 0, &job, &fresh), TR_OK);
    ck_assert(tr_queue_give_up(self, fresh, "never stored"));
    ck_assert(tr_queue_retry(self, item, "not stored either"));
    return tr_fail(self, TR_BAD_DATA, "the cause");
}

static tr_next check_after_failure(tr_self *self, struct thing_state *state, int64_t n)
{
    const tr_queue_entry *entries;
    (void)state;
    ck_assert_uint_eq(tr_queue_count_dead(self, "other"), 0);
    ck_assert_uint_eq(tr_queue_count(self, "other"), 0);
    ck_assert_uint_eq(tr_queue_list(self, "jobs", (tr_queued){0}, &entries, 10), 2);
    ck_assert_uint_eq(entries[0].attempts, 1);
    ck_assert_int_eq(entries[0].failure, TR_BAD_DATA);
    ck_assert_str_eq(entries[0].cause, "the cause");
    ck_assert_int_ge(entries[0].due_wall_ns, tr_wall_now(self) + 50 * TR_SECOND);
    ck_assert_uint_eq(entries[1].item.id, (uint64_t)n);
    ck_assert_uint_eq(entries[1].attempts, 0);
    return tr_reply(self, acted, .value = 0);
}

TEST(a_turn_that_fails_leaves_one_failed_attempt_and_nothing_else, "K-21", "K-01")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        begin_with((tr_kit_options){.seed = seed}, NULL, 0);
        things_do("a", push, 1);
        int64_t other = things_do("a", push_later, 3000);
        ck_assert_int_eq(things_try("a", change_all_and_fail, other, NULL), TR_FAILED);
        tr_kit_settle(kit);
        things_do("a", check_after_failure, other);
        things_end();
    }
}

/* ---- Dead letters. ---- */

static tr_next look_at_dead(tr_self *self, struct thing_state *state, int64_t n)
{
    const tr_queue_entry *entries;
    const struct job *job;
    const struct other_job *other;
    (void)state;
    ck_assert_uint_eq(tr_queue_list_dead(self, "jobs", (tr_queued){0}, &entries, 10), 1);
    ck_assert_str_eq(entries[0].type, "job");
    ck_assert_uint_eq(entries[0].attempts, 4);
    ck_assert_int_eq(entries[0].failure, n ? TR_BAD_DATA : TR_FAILED);
    ck_assert_str_eq(entries[0].cause, n ? "the printer is on fire, try 4" : "no answer");
    ck_assert_int_gt(entries[0].failed_wall_ns, 0);
    ck_assert(!entries[0].is_taken);
    ck_assert_int_eq(tr_queue_read(self, entries[0].item, job, &job), TR_OK);
    ck_assert_int_eq(job->number, 1);
    ck_assert_int_eq(tr_queue_read(self, entries[0].item, other_job, &other), TR_WRONG_TYPE);
    ck_assert(!tr_queue_done(self, entries[0].item));
    ck_assert(!tr_queue_retry(self, entries[0].item, "it is dead"));
    return tr_reply(self, acted, .value = (int64_t)entries[0].item.id);
}

TEST(after_its_last_attempt_an_item_is_a_dead_letter_with_its_cause, "K-21")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        directory_make();
        begin_with(
            (tr_kit_options){.seed = seed, .store = directory}, seed % 2 ? run : run_and_retry, 4);
        int64_t pushed = things_do("a", push, 1);
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_int_eq(tries, 4);
        check_delays(4);
        ck_assert_int_eq(things_do("a", count, 0), 0);
        ck_assert_int_eq(things_do("a", look_at_dead, seed % 2), pushed);
        ck_assert_str_eq(things_story,
                         seed % 2 ? "[jobs 4 the printer is on fire, try 4]"
                                  : "[jobs 4 no answer]");
        things_end();
        begin_with((tr_kit_options){.seed = seed, .store = directory}, run, 0);
        ck_assert_int_eq(things_do("a", look_at_dead, seed % 2), pushed);
        /* It can be put back, and has all attempts again. */
        fails = 3;
        ck_assert_int_eq(things_do("a", put_back, pushed), true);
        ck_assert_int_eq(things_do("a", put_back, pushed), false);
        ck_assert_int_eq(things_do("a", count_dead, 0), 0);
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_int_eq(tries, 4);
        ck_assert_int_eq(done, 1);
        ck_assert_int_eq(things_do("a", count, 0), 0);
        things_end();
        directory_drop();
    }
}

TEST(an_item_that_is_given_up_is_a_dead_letter_at_once_and_can_be_removed, "K-21")
{
    begin_with((tr_kit_options){.seed = 1}, run_and_retry, 1);
    int64_t id = things_do("a", push, 13);
    things_do("a", push, 14);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(tries, 2);
    ck_assert_int_eq(done, 1);
    ck_assert_int_eq(things_do("a", count_dead, 0), 1);
    ck_assert_str_eq(things_story, "[jobs 1 unlucky]");
    ck_assert_int_eq(things_do("a", cancel, id), true);
    ck_assert_int_eq(things_do("a", count_dead, 0), 0);
    ck_assert_int_eq(things_do("a", put_back, id), false);
    put_to_sleep();
    ck_assert_int_eq(things_do("a", count_dead, 0), 0);
    things_end();
}

/* ---- Looking. ---- */

static tr_next look(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    const struct other_job *other;
    const tr_queue_entry *entries;
    tr_queued item = {0};
    tr_queued taken;
    (void)state;
    (void)n;
    ck_assert_int_eq(tr_queue_peek(self, "jobs", job, &job, &item), TR_NOT_FOUND);
    ck_assert_int_eq(tr_queue_peek(self, "none", job, &job, &item), TR_NOT_FOUND);
    tr_queued later = tr_queue_push_after(self, "jobs", TR_HOUR, job, .number = 1);
    ck_assert_int_eq(tr_queue_peek(self, "jobs", job, &job, &item), TR_NOT_FOUND);
    tr_queued first = tr_queue_push(self, "jobs", job, .number = 2);
    tr_queued second = tr_queue_push(self, "jobs", job, .number = 3);
    tr_queue_push(self, "others", job, .number = 4);
    ck_assert_int_eq(tr_queue_peek(self, "jobs", other_job, &other, &item), TR_WRONG_TYPE);
    ck_assert_uint_eq(item.id, first.id);
    ck_assert_int_eq(tr_queue_peek(self, "jobs", job, &job, &item), TR_OK);
    ck_assert_int_eq(job->number, 2);
    ck_assert_int_eq(tr_queue_take(self, "jobs", job, 0, &job, &taken), TR_OK);
    ck_assert_uint_eq(taken.id, first.id);
    ck_assert_int_eq(tr_queue_peek(self, "jobs", job, &job, &item), TR_OK);
    ck_assert_uint_eq(item.id, second.id);
    ck_assert(!tr_queue_cancel(self, taken)); /* a turn has it */
    ck_assert(!tr_queue_put_back(self, second));
    ck_assert_uint_eq(tr_queue_list(self, "jobs", (tr_queued){0}, &entries, 10), 3);
    ck_assert(entries[0].item.id == later.id && entries[0].due_wall_ns > tr_wall_now(self));
    ck_assert(entries[1].item.id == first.id && entries[1].is_taken && !entries[1].due_wall_ns);
    ck_assert(entries[2].item.id == second.id && !entries[2].is_taken && !entries[2].attempts);
    ck_assert_str_eq(entries[2].cause, "");
    ck_assert_uint_eq(tr_queue_list(self, "jobs", (tr_queued){0}, &entries, 2), 2);
    ck_assert_uint_eq(tr_queue_list(self, "jobs", entries[1].item, &entries, 2), 1);
    ck_assert_uint_eq(entries[0].item.id, second.id);
    ck_assert_uint_eq(tr_queue_list(self, "jobs", second, &entries, 2), 0);
    ck_assert_uint_eq(tr_queue_list(self, "none", (tr_queued){0}, &entries, 2), 0);
    ck_assert_uint_eq(tr_queue_list_dead(self, "jobs", (tr_queued){0}, &entries, 2), 0);
    ck_assert_int_eq(tr_queue_read(self, later, job, &job), TR_OK);
    ck_assert_int_eq(job->number, 1);
    ck_assert_int_eq(tr_queue_read(self, (tr_queued){99}, job, &job), TR_NOT_FOUND);
    ck_assert_int_eq(tr_self_queue_peek(self, NULL, &tr_type_job, (const void **)&job, &item),
                     TR_INVALID_ARGUMENT);
    return tr_reply(self, acted, .value = 0);
}

TEST(a_handler_can_look_at_its_queues_without_changing_them, "K-21")
{
    begin_with((tr_kit_options){.seed = 1}, NULL, 0);
    things_do("a", look, 0);
    things_end();
}

/* ---- Memory. ---- */

/* Whatever allocation fails, an item is done, or waits, or is a dead letter. It is never lost and never there twice. */
TEST(without_memory_no_item_is_lost, "K-21")
{
    for (uint64_t nth = 1; nth < 400; nth += 7) {
        begin_with((tr_kit_options){.seed = nth}, nth % 2 ? run : run_and_retry, 2);
        things_do("a", push, 1);
        things_do("a", push_later, 30);
        tr_kit_fail_allocation(kit, nth, false);
        tr_kit_advance(kit, TR_HOUR);
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_advance(kit, TR_HOUR);
        ck_assert_int_eq(things_do("a", thing_add, 0), 2);
        ck_assert_int_eq(things_do("a", count, 0) + things_do("a", count_dead, 0), 0);
        things_end();
    }
}

SUITE("durable queue retries", an_item_whose_turn_fails_comes_again_after_a_delay_that_grows,
      the_attempts_of_an_item_survive_restarts_of_the_process,
      later_items_pass_one_that_waits_for_its_next_attempt,
      each_queue_has_its_own_policy_and_a_kill_is_no_attempt,
      a_turn_that_fails_leaves_one_failed_attempt_and_nothing_else,
      after_its_last_attempt_an_item_is_a_dead_letter_with_its_cause,
      an_item_that_is_given_up_is_a_dead_letter_at_once_and_can_be_removed,
      a_handler_can_look_at_its_queues_without_changing_them, without_memory_no_item_is_lost)
