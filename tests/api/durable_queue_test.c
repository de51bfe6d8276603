/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues of durable actors and the run handler on a kit: order, limits, who has a message, what survives.
 */
#include <troupe/queue.h>

#include "support/things.h"

TR_MESSAGE(job, (i64, number), (str, text));
TR_MESSAGE(other_job, (i64, number));

static tr_next push(tr_self *self, struct thing_state *state, int64_t n)
{
    tr_queue_push(self, "jobs", job, .number = n, .text = "work");
    state->other++;
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count(self, "jobs"));
}

static tr_next push_and_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_queue_push(self, "jobs", job, .number = n);
    return tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next count(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count(self, "jobs"));
}

/* Receives one; n: what to do then. */
static tr_next receive(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_status status = tr_queue_receive(self, "jobs", job, TR_SECOND, &job);
    if (status != TR_OK)
        return tr_reply(self, acted, .value = status);
    ck_assert_str_eq(job->text, "work");
    state->value += job->number;
    if (n == 1)
        return tr_fail(self, TR_BAD_DATA, "as told");
    if (n == 2) {
        (void)!tr_sleep(self, TR_SECOND);
        return tr_fail(self, TR_BAD_DATA, "as told");
    }
    return tr_reply(self, acted, .value = job->number);
}

static tr_next take(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    tr_status status = tr_queue_take(self, "jobs", job, TR_SECOND, &job, &item);
    if (status != TR_OK)
        return tr_reply(self, acted, .value = status);
    (void)!tr_sleep(self, 10 * TR_MILLISECOND);
    if (n == 1)
        return tr_fail(self, TR_BAD_DATA, "as told");
    if (n == 2) /* never done */
        return tr_reply(self, acted, .value = job->number);
    state->value += job->number;
    ck_assert(tr_queue_done(self, item));
    ck_assert(!tr_queue_done(self, item));
    return tr_reply(self, acted, .value = job->number);
}

TEST(messages_come_in_their_order_and_outlive_sleep, "K-05")
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        things_begin(seed);
        for (int i = 1; i <= 20; i++) {
            ck_assert_int_eq(things_do("a", push, i), i);
            if (i % 7 == 0) {
                things_do("a", thing_go_to_sleep, 0);
                tr_kit_settle(kit);
            }
        }
        for (int i = 1; i <= 20; i++) {
            ck_assert_int_eq(things_do("a", i % 2 ? receive : take, 0), i);
            if (i % 6 == 0)
                ck_assert_int_eq(things_try("a", thing_fail, 0, NULL), TR_FAILED);
        }
        ck_assert_int_eq(things_do("a", receive, 0), TR_TIMEOUT);
        ck_assert_int_eq(things_do("a", thing_add, 0), 210);
        things_end();
    }
}

TEST(what_a_failed_commit_pushed_or_received_was_not, "K-05", "K-01")
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        things_begin(seed);
        ck_assert_int_eq(things_try("a", push_and_fail, 9, NULL), TR_FAILED);
        ck_assert_int_eq(things_do("a", push, 1), 1);
        ck_assert_int_eq(things_do("a", push, 2), 2);
        ck_assert_int_eq(things_try("a", receive, 1, NULL), TR_FAILED);
        ck_assert_int_eq(things_do("a", count, 0), 2); /* it comes again */
        ck_assert_int_eq(things_try("a", receive, 2, NULL), TR_FAILED);
        ck_assert_int_eq(things_do("a", count, 0), 1); /* that was stored: at most once */
        tr_kit_advance(kit, 2 * TR_MINUTE);            /* the budget of restarts */
        ck_assert_int_eq(things_try("a", take, 1, NULL), TR_FAILED);
        ck_assert_int_eq(things_do("a", take, 2), TR_TIMEOUT); /* not before a delay */
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_int_eq(things_do("a", take, 2), 2);
        ck_assert_int_eq(things_do("a", count, 0), 1);
        ck_assert_int_eq(things_do("a", take, 0), 2); /* at least once */
        ck_assert_int_eq(things_do("a", count, 0), 0);
        ck_assert_int_eq(things_do("a", thing_add, 0), 3);
        things_end();
    }
}

TEST(two_takers_never_have_the_same, "K-05", "Z-14")
{
    for (uint64_t seed = 1; seed < 10; seed++) {
        things_begin(seed);
        thing_ref ref = things_of("a");
        act_aside_ask asks[6];
        for (int i = 0; i < 6; i++)
            asks[i] = things_ask_aside(ref, take, 0);
        for (int i = 0; i < 4; i++)
            things_do("a", push, 1 << i);
        int64_t seen = 0;
        int timeouts = 0;
        for (int i = 0; i < 6; i++) {
            const struct acted *acted;
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
            if (acted->value == TR_TIMEOUT) {
                timeouts++;
                continue;
            }
            ck_assert_int_eq(seen & acted->value, 0);
            seen |= acted->value;
        }
        ck_assert_int_eq(seen, 15);
        ck_assert_int_eq(timeouts, 2);
        ck_assert_int_eq(things_do("a", thing_add, 0), 15);
        things_end();
    }
}

enum { MANY = 5000 };

static tr_next push_limits(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    char name[TR_QUEUE_NAME_MAX + 2];
    static char text[TR_QUEUE_ITEM_MAX + 1];
    struct job job = {.number = 1, .text = "work"};
    memset(name, 'q', sizeof name);
    memset(text, 't', sizeof text - 1);
    name[TR_QUEUE_NAME_MAX + 1] = 0;
    ck_assert_int_eq(tr_self_try_queue_push(self, name, 0, &tr_type_job, &job, NULL), TR_TOO_LARGE);
    ck_assert_int_eq(tr_self_try_queue_push(self, "", 0, &tr_type_job, &job, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_queue_push(self, NULL, 0, &tr_type_job, &job, NULL),
                     TR_INVALID_ARGUMENT);
    name[TR_QUEUE_NAME_MAX] = 0;
    ck_assert_int_eq(tr_self_try_queue_push(self, name, 0, &tr_type_job, &job, NULL), TR_OK);
    ck_assert_int_eq(tr_self_try_queue_push(self, "jobs", -1, &tr_type_job, &job, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(
        tr_self_try_queue_push(self, "jobs", TR_QUEUE_DELAY_MAX + 1, &tr_type_job, &job, NULL),
        TR_LIMIT);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(tr_self_try_queue_push(self, "jobs", 0, &tr_type_job, &job, NULL), TR_OK);
    job.text = text;
    ck_assert_int_eq(tr_self_try_queue_push(self, "large", 0, &tr_type_job, &job, NULL),
                     TR_TOO_LARGE);
    text[TR_QUEUE_ITEM_MAX - 100] = 0;
    ck_assert_int_eq(tr_self_try_queue_push(self, "large", 0, &tr_type_job, &job, NULL), TR_OK);
    /* As many as fit by their bytes: as many as the queue had place for when it counted messages, and more. */
    int count = 0;
    while (tr_self_try_queue_push(self, "full", 0, &tr_type_job, &job, NULL) == TR_OK)
        count++;
    ck_assert_int_ge(count, 1000);
    ck_assert_int_le(count, TR_QUEUE_BYTES_MAX / (TR_QUEUE_ITEM_MAX - 100));
    ck_assert_int_eq(tr_self_try_queue_push(self, "full", 0, &tr_type_job, &job, NULL), TR_LIMIT);
    ck_assert_uint_eq(tr_queue_count(self, "full"), (size_t)count);
    ck_assert_int_eq(tr_self_try_queue_push(self, "others", 0, &tr_type_job, &job, NULL), TR_OK);
    const struct job *first;
    ck_assert_int_eq(tr_queue_receive(self, "full", job, 0, &first), TR_OK);
    ck_assert_int_eq(tr_self_try_queue_push(self, "full", 0, &tr_type_job, &job, NULL), TR_OK);
    return tr_reply(self, acted, .value = 0);
}

static tr_next take_large(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    const struct job *job;
    const struct other_job *other;
    ck_assert_int_eq(tr_queue_receive(self, "large", other_job, 0, &other), TR_WRONG_TYPE);
    ck_assert_int_eq(tr_queue_receive(self, "large", job, 0, &job), TR_OK);
    ck_assert_uint_eq(strlen(job->text), TR_QUEUE_ITEM_MAX - 100);
    ck_assert_int_eq(tr_queue_receive(self, "large", job, 0, &job), TR_TIMEOUT);
    ck_assert_int_eq(tr_queue_receive(self, NULL, job, 0, &job), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_queue_receive(self, "large", job, -1, &job), TR_INVALID_ARGUMENT);
    return tr_reply(self, acted, .value = (int64_t)tr_queue_count(self, "jobs"));
}

TEST(queues_have_limits, "K-05")
{
    things_begin(1);
    things_do("a", push_limits, 0);
    things_do("a", thing_go_to_sleep, 0);
    tr_kit_settle(kit);
    ck_assert_int_eq(things_do("a", take_large, 0), MANY);
    things_end();
}

/* ---- The run handler. ---- */

static tr_next run_jobs(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    const struct job *job;
    tr_queued item;
    tr_status status;
    while ((status = tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item)) == TR_OK) {
        (void)!tr_sleep(self, 100 * TR_MILLISECOND);
        if (tr_is_aborted(self))
            break;
        state->value += job->number;
        (void)!tr_queue_done(self, item);
    }
    things_tell("[%s]", tr_status_name(status));
    return TR_SAME;
}

TEST(the_run_handler_works_beside_the_others_and_lets_it_sleep, "Z-11", "Z-04", "Z-06", "SL-04")
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        things_story[0] = 0;
        things_on_run = run_jobs;
        things_begin(seed);
        for (int i = 0; i < 10; i++)
            things_do("a", push, 1);
        thing_ref ref = things_of("a");
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_int_eq(things_do("a", thing_add, 0), 10);
        ck_assert_int_eq(things_do("a", count, 0), 0);
        tr_kit_advance(kit, 9 * TR_SECOND);
        ck_assert(things_is_awake(ref));
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert(!things_is_awake(ref));
        ck_assert_str_eq(things_story, "[TR_ABORTED]");
        /* Work that it had not done is done by the next one. */
        things_do("a", push, 5);
        things_do("a", thing_go_to_sleep, 0);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_eq(things_do("a", thing_starts, 0), 3);
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_int_eq(things_do("a", thing_add, 0), 15);
        things_end();
    }
}

static tr_next run_for_a_minute(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    TR_WAIT_UNTIL(self, "a moment")
    {
        (void)!tr_sleep(self, TR_SECOND);
    }
    (void)!tr_sleep(self, TR_MINUTE);
    state->other = 1;
    return TR_SAME;
}

TEST(a_run_handler_that_works_keeps_it_awake_until_it_returns, "Z-04", "Z-05", "SL-01")
{
    things_on_run = run_for_a_minute;
    things_begin(1);
    thing_ref ref = things_of("a");
    tr_kit_advance(kit, 55 * TR_SECOND);
    ck_assert(things_is_awake(ref));
    tr_kit_advance(kit, 8 * TR_SECOND);
    ck_assert(things_is_awake(ref));
    tr_kit_advance(kit, 10 * TR_SECOND);
    ck_assert(!things_is_awake(ref));
    things_end();
}

static tr_next sleep_and_take(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    const struct job *job;
    ck_assert_int_eq(tr_go_to_sleep(self), TR_OK);
    return tr_reply(self, acted, .value = tr_queue_receive(self, "jobs", job, TR_HOUR, &job));
}

TEST(who_asks_to_sleep_and_waits_is_aborted, "Z-06", "SL-04")
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        things_begin(seed);
        thing_ref ref = things_of("a");
        ck_assert_int_eq(things_do("a", sleep_and_take, 0), TR_ABORTED);
        tr_kit_settle(kit);
        ck_assert(!things_is_awake(ref));
        things_end();
    }
}

static tr_next run_and_fail(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    if (state->starts > 2)
        return TR_SAME;
    (void)!tr_sleep(self, TR_SECOND);
    return tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(a_run_handler_that_fails_begins_anew_with_the_actor, "Z-11", "Z-13")
{
    things_on_run = run_and_fail;
    things_begin(3);
    ck_assert_int_eq(things_do("a", thing_add, 2), 2);
    thing_ref ref = things_of("a");
    tr_kit_advance(kit, 5 * TR_SECOND);
    ck_assert_int_eq(things_do("a", thing_starts, 0), 3);
    ck_assert_int_eq(things_do("a", thing_add, 0), 2);
    tr_kit_advance(kit, 11 * TR_SECOND);
    ck_assert(!things_is_awake(ref));
    things_end();
}

/* ---- Ids. ---- */

static tr_queued taken;

static tr_next take_and_keep(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    const struct job *job;
    tr_queued item;
    ck_assert_int_eq(tr_queue_take(self, "jobs", job, TR_SECOND, &job, &item), TR_OK);
    ck_assert_uint_gt(item.id, taken.id);
    taken = item;
    if (n)
        ck_assert(tr_queue_done(self, item));
    return tr_reply(self, acted, .value = job->number);
}

static tr_next done_late(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    return tr_reply(self, acted, .value = tr_queue_done(self, taken));
}

/* The queue is empty in between: the ids of the next life would begin anew. */
TEST(an_id_of_an_earlier_life_names_nothing_in_the_next, "K-05")
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        things_begin(seed);
        taken.id = 0;
        for (int life = 0; life < 5; life++) {
            ck_assert_int_eq(things_do("a", push, life), 1);
            ck_assert_int_eq(things_do("a", take_and_keep, 1), life);
            if (life % 2)
                things_do("a", thing_go_to_sleep, 0);
            else
                (void)!tr_kill(test, things_of("a"));
            tr_kit_settle(kit);
            ck_assert_int_eq(things_do("a", push, 7), 1);
            ck_assert_int_eq(things_do("a", done_late, 0), 0);
            ck_assert_int_eq(things_do("a", take_and_keep, 1), 7);
        }
        ck_assert_int_eq(things_do("a", count, 0), 0);
        things_end();
    }
}

TEST(more_ids_than_were_put_by_are_used_up_in_order, "K-05")
{
    enum { JOBS = 2500 };
    things_begin(1);
    taken.id = 0;
    for (int i = 0; i < JOBS; i++) {
        ck_assert_int_eq(things_do("a", push, i), 1);
        ck_assert_int_eq(things_do("a", take_and_keep, 1), i);
    }
    ck_assert_int_eq(things_do("a", count, 0), 0);
    things_end();
}

SUITE("durable queue", messages_come_in_their_order_and_outlive_sleep,
      what_a_failed_commit_pushed_or_received_was_not, two_takers_never_have_the_same,
      queues_have_limits, the_run_handler_works_beside_the_others_and_lets_it_sleep,
      a_run_handler_that_works_keeps_it_awake_until_it_returns,
      who_asks_to_sleep_and_waits_is_aborted, a_run_handler_that_fails_begins_anew_with_the_actor,
      an_id_of_an_earlier_life_names_nothing_in_the_next,
      more_ids_than_were_put_by_are_used_up_in_order)
