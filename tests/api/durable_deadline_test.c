/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Both signals of a grace as an application sees them, graces that end by their deadline, and what counts as internal
 * keep-awake.
 */
#include <troupe/queue.h>

TR_MESSAGE(ring);
static tr_next on_ring(tr_self *self);
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(ring, on_ring)
#include "support/things.h"

TR_MESSAGE(job, (i64, number));

static tr_next on_ring(tr_self *self)
{
    (void)!tr_sleep(self, 20 * TR_SECOND);
    return TR_SAME;
}

/* ---- The signals. ---- */

static void note_signals(tr_self *self, tr_status status)
{
    things_tell("[%s %d %d]", tr_status_name(status), tr_is_aborted(self), tr_deadline_fired(self));
}

static tr_next wait_long(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    note_signals(self, TR_OK);
    note_signals(self, tr_sleep(self, n));
    return tr_reply(self, acted, .value = 0);
}

TEST(a_turn_that_the_deadline_cancels_can_see_it, "Z-08")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        things_story[0] = 0;
        things_begin(seed);
        things_do("a", thing_go_to_sleep, 0);
        tr_kit_settle(kit);
        ck_assert_uint_eq(tr_durable_timeouts(tr_kit_system(kit)), 0); /* that took no time */
        thing_ref ref = things_of("a");
        act_ask turn = things_ask(ref, wait_long, TR_HOUR);
        tr_kit_settle(kit);
        tr_stop(test, ref);
        tr_kit_advance(kit, 4 * TR_SECOND);
        ck_assert_uint_eq(tr_durable_timeouts(tr_kit_system(kit)), 0);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_uint_eq(tr_durable_timeouts(tr_kit_system(kit)), 1);
        ck_assert_int_eq(tr_try_await(test, turn, NULL), TR_STOPPED);
        ck_assert_str_eq(things_story, "[TR_OK 0 0][TR_CANCELLED 1 1]");
        /* A kill is no deadline. */
        things_story[0] = 0;
        ref = things_of("a");
        turn = things_ask(ref, wait_long, TR_HOUR);
        tr_kit_settle(kit);
        tr_kill(test, ref);
        tr_kit_settle(kit);
        ck_assert_int_eq(tr_try_await(test, turn, NULL), TR_STOPPED);
        ck_assert_str_eq(things_story, "[TR_OK 0 0][TR_CANCELLED 0 0]");
        ck_assert_uint_eq(tr_durable_timeouts(tr_kit_system(kit)), 1);
        things_end();
    }
}

static tr_next wait_for_abort(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    note_signals(self, tr_abort_wait(self, n));
    return TR_SAME;
}

static tr_next wait_for_abort_and_reply(tr_self *self, struct thing_state *state, int64_t n)
{
    ck_assert_int_eq(tr_abort_wait(self, -1), TR_INVALID_ARGUMENT);
    (void)wait_for_abort(self, state, n);
    return tr_reply(self, acted, .value = 0);
}

static tr_next push(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_queue_push(self, "jobs", job, .number = n);
    return tr_reply(self, acted, .value = 0);
}

static tr_next run_until_abort(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return wait_for_abort(self, state, TR_HOUR);
}

TEST(the_abort_can_be_waited_for, "Z-06", "Z-08")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        things_story[0] = 0;
        things_on_run = run_until_abort;
        things_begin(seed);
        thing_ref ref = things_of("a");
        tr_kit_settle(kit);
        things_do("a", push, 1); /* wakes all who wait on a queue, and those here wait on */
        tr_kit_advance(kit, 9 * TR_SECOND);
        ck_assert_str_eq(things_story, "");
        tr_kit_advance(kit, 2 * TR_SECOND); /* idle: the run handler does not keep it awake */
        ck_assert_str_eq(things_story, "[TR_ABORTED 1 0]");
        ck_assert(!things_is_awake(ref));
        ck_assert_uint_eq(tr_durable_timeouts(tr_kit_system(kit)), 0);
        things_on_run = NULL;
        things_story[0] = 0;
        things_do("a", wait_for_abort_and_reply, 2 * TR_SECOND);
        ck_assert_str_eq(things_story, "[TR_TIMEOUT 0 0]");
        things_end();
    }
}

/* ---- Internal keep-awake. ---- */

static bool why_has(thing_ref ref, const char *text)
{
    tr_why_report report;
    ck_assert_int_eq(tr_actor_why(test, ref, &report), TR_OK);
    for (size_t i = 0; i < report.count; i++)
        if (strstr(report.reasons[i].text, text))
            return true;
    return false;
}

static tr_next set_alarm(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_alarm_after(self, "bill", n, ring);
    return tr_reply(self, acted, .value = 0);
}

TEST(an_alarm_counts_as_internal_keep_awake, "Z-04")
{
    things_begin(1);
    thing_ref ref = things_of("a");
    things_do("a", set_alarm, TR_SECOND);
    tr_kit_advance(kit, 15 * TR_SECOND);
    ck_assert(things_is_awake(ref));
    ck_assert(why_has(ref, "internal keep-awake: bill"));
    ck_assert(!why_has(ref, "active requests"));
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert(!things_is_awake(ref));
    things_end();
}

static tr_next run_slowly(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)n;
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK) {
        (void)!tr_sleep(self, 20 * TR_SECOND);
        state->value++;
        ck_assert(tr_queue_done(self, item));
    }
    return TR_SAME;
}

TEST(a_received_item_counts_as_internal_keep_awake, "Z-04", "K-05")
{
    things_on_run = run_slowly;
    things_begin(1);
    thing_ref ref = things_of("a");
    things_do("a", push, 1);
    tr_kit_advance(kit, 15 * TR_SECOND);
    ck_assert(things_is_awake(ref));
    ck_assert(why_has(ref, "internal keep-awake: jobs"));
    tr_kit_advance(kit, 10 * TR_SECOND); /* now it waits for the next one, and does not count */
    ck_assert(things_is_awake(ref));
    ck_assert(!why_has(ref, "internal keep-awake"));
    tr_kit_advance(kit, 10 * TR_SECOND);
    ck_assert(!things_is_awake(ref));
    things_end();
}

/* It knows both queues, and waits on the one that is empty. */
static tr_next run_on_another(tr_self *self, struct thing_state *state, int64_t n)
{
    const struct job *job;
    tr_queued item;
    (void)state;
    (void)n;
    ck_assert_int_eq(tr_queue_take(self, "jobs", job, 0, &job, &item), TR_TIMEOUT);
    (void)!tr_queue_take(self, "others", job, TR_MINUTE, &job, &item);
    while (tr_queue_take(self, "jobs", job, TR_HOUR, &job, &item) == TR_OK)
        ck_assert(tr_queue_done(self, item));
    return TR_SAME;
}

TEST(an_item_that_the_run_handler_will_take_keeps_it_awake, "Z-04", "K-05")
{
    things_on_run = run_on_another;
    things_begin(1);
    thing_ref ref = things_of("a");
    tr_kit_settle(kit);
    things_do("a", push, 1);
    tr_kit_advance(kit, 50 * TR_SECOND);
    ck_assert(things_is_awake(ref));
    ck_assert(why_has(ref, "internal keep-awake: jobs"));
    tr_kit_advance(kit, 30 * TR_SECOND);
    ck_assert(!things_is_awake(ref));
    things_end();
}

SUITE("durable deadline", a_turn_that_the_deadline_cancels_can_see_it, the_abort_can_be_waited_for,
      an_alarm_counts_as_internal_keep_awake, a_received_item_counts_as_internal_keep_awake,
      an_item_that_the_run_handler_will_take_keeps_it_awake)
