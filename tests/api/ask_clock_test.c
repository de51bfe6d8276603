/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The time of asks on a real clock: asks between actors of one worker are made without reading it, and
 * yet no timeout is early, and none is counted from before the ask.
 */
#include "support/test.h"

#include <time.h>
#include <troupe/troupe.h>

enum { TRIES = 20 };

TR_MESSAGE(number, (i64, value));
TR_REQUEST(question, number);
TR_REQUEST(riddle, number);
TR_MESSAGE(toil, (i64, ns));
TR_ACTOR(oracle, question, riddle, toil);
TR_REQUEST(ask_riddle, number, (i64, timeout_ns));
TR_REQUEST(ask_late, number, (i64, work_ns), (i64, timeout_ns));
TR_REQUEST(ask_behind, number, (i64, work_ns), (i64, timeout_ns));
TR_ACTOR(seeker, ask_riddle, ask_late, ask_behind);

static oracle_ref oracle;
static int answers; /* by the oracle; one worker writes it, and it is read when that rests */

static tr_time real_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (tr_time)now.tv_sec * TR_SECOND + now.tv_nsec;
}

static tr_next on_question(tr_self *self)
{
    answers++;
    return tr_reply(self, number, .value = 42);
}

static tr_next on_riddle(tr_self *self)
{
    (void)tr_reply_later(self); /* and never */
    return TR_SAME;
}

static void work(tr_time ns)
{
    tr_time begin_ns = real_now();
    while (real_now() - begin_ns < ns)
        ;
}

static tr_next on_toil(tr_self *self, const struct toil *message)
{
    (void)self;
    work(message->ns);
    return TR_SAME;
}

TR_BEHAVIOR(oracle, void, TR_ON(question, on_question), TR_ON(riddle, on_riddle),
            TR_ON(toil, on_toil));

/* Works for less than a tick, asks, and answers with how long it took until the timeout. */
static tr_next on_ask_riddle(tr_self *self, const struct ask_riddle *message)
{
    const struct number *reply;
    work(TR_MILLISECOND / 2);
    tr_time begin_ns = real_now();
    riddle_ask asked = tr_ask_within(self, message->timeout_ns, oracle, riddle);
    ck_assert_int_eq(tr_try_await(self, asked, &reply), TR_TIMEOUT);
    return tr_reply(self, number, .value = real_now() - begin_ns);
}

/* Works for longer than the timeout before it asks. Answers with the outcome. */
static tr_next on_ask_late(tr_self *self, const struct ask_late *message)
{
    const struct number *reply;
    work(message->work_ns);
    question_ask asked = tr_ask_within(self, message->timeout_ns, oracle, question);
    return tr_reply(self, number, .value = tr_try_await(self, asked, &reply));
}

/* Asks behind a message that takes longer than the timeout. Answers with the outcome. */
static tr_next on_ask_behind(tr_self *self, const struct ask_behind *message)
{
    const struct number *reply;
    tr_tell(self, oracle, toil, .ns = message->work_ns);
    question_ask asked = tr_ask_within(self, message->timeout_ns, oracle, question);
    return tr_reply(self, number, .value = tr_try_await(self, asked, &reply));
}

TR_BEHAVIOR(seeker, void, TR_ON(ask_riddle, on_ask_riddle), TR_ON(ask_late, on_ask_late),
            TR_ON(ask_behind, on_ask_behind));

static tr_system *test_system;
static tr_client *client;
static seeker_ref seeker;

static void begin(void)
{
    tr_system_options options = {.workers = 1};
    ck_assert_int_eq(tr_system_new(&options, &test_system), TR_OK);
    ck_assert_int_eq(tr_system_start(test_system), TR_OK);
    ck_assert_int_eq(tr_client_new(test_system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &oracle, oracle, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &seeker, seeker, NULL), TR_OK);
}

static void end(void)
{
    tr_client_free(client);
    tr_system_shutdown(test_system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(test_system), TR_OK);
    tr_system_free(test_system);
}

TEST(no_timeout_is_early, "A-01", "T-01")
{
    begin();
    for (int i = 0; i < TRIES; i++) {
        const struct number *took;
        tr_time timeout_ns = (i % 4 + 1) * TR_MILLISECOND;
        ask_riddle_ask asked =
            tr_ask_within(client, TR_MINUTE, seeker, ask_riddle, .timeout_ns = timeout_ns);
        ck_assert_int_eq(tr_try_await(client, asked, &took), TR_OK);
        ck_assert_int_ge(took->value, timeout_ns);
    }
    end();
}

/*
 * The two cases below need a machine that gives the worker and its watch a CPU now and then. On a busy one they
 * try again with twice the time, up to this timeout.
 */
#define TIMEOUT_MAX (10 * TR_SECOND)

TEST(what_a_turn_did_before_it_asked_does_not_count, "A-01", "A-04")
{
    begin();
    tr_status outcome = TR_FAILED;
    tr_time timeout_ns = 15 * TR_MILLISECOND;
    do {
        ask_late_ask asked = tr_ask_within(client,
                                           TR_MINUTE,
                                           seeker,
                                           ask_late,
                                           .work_ns = 2 * timeout_ns,
                                           .timeout_ns = timeout_ns);
        const struct number *reply;
        ck_assert_int_eq(tr_try_await(client, asked, &reply), TR_OK);
        outcome = (tr_status)reply->value;
        ck_assert(outcome == TR_OK || outcome == TR_TIMEOUT);
        timeout_ns *= 2;
    } while (outcome != TR_OK && timeout_ns < TIMEOUT_MAX);
    ck_assert_int_eq(outcome, TR_OK);
    end();
}

/*
 * A long turn between the ask and its answer is time of the asker's as well. A worker learns from the ticks of
 * its watch how long ago an ask was made. If the watch had no CPU meanwhile, the timeout is late, and the request
 * is answered; whatever the outcome, a request that timed out was not handled.
 */
TEST(a_request_whose_time_is_over_is_not_handled, "A-01", "A-04")
{
    begin();
    tr_status outcome = TR_FAILED;
    tr_time timeout_ns = 5 * TR_MILLISECOND;
    int answered = 0;
    do {
        ask_behind_ask asked = tr_ask_within(client,
                                             TR_MINUTE,
                                             seeker,
                                             ask_behind,
                                             .work_ns = 12 * timeout_ns,
                                             .timeout_ns = timeout_ns);
        const struct number *reply;
        ck_assert_int_eq(tr_try_await(client, asked, &reply), TR_OK);
        outcome = (tr_status)reply->value;
        ck_assert(outcome == TR_OK || outcome == TR_TIMEOUT);
        answered += outcome == TR_OK;
        timeout_ns *= 2;
    } while (outcome != TR_TIMEOUT && 12 * timeout_ns < TIMEOUT_MAX);
    end();
    ck_assert_int_eq(outcome, TR_TIMEOUT);
    ck_assert_int_eq(answers, answered);
}

SUITE("ask clock", no_timeout_is_early, what_a_turn_did_before_it_asked_does_not_count,
      a_request_whose_time_is_over_is_not_handled)
