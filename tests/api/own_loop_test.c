/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Loops of other libraries: the descriptors of a system and of its clients, waited for without a time
 * limit. All on one thread: tr_tell between clients of a system needs no worker.
 */
#include <poll.h>
#include <string.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(tick);
TR_MESSAGE(news_item, (u32, n));
TR_MESSAGE(other, (u32, n));
TR_REQUEST(question, news_item, (bool, is_put_off));
TR_ACTOR(clock, tick);
TR_ACTOR(oracle, question);
TR_ACTOR(reader, news_item, other);

/* Nothing here takes longer, also on a machine that is overloaded: it is for what never comes. */
enum { LONG_MS = 20000 };

static tr_system *embedded;
static tr_client *client;
static tr_client *writer;
static reader_ref reader; /* the client's address */
static int ticks;

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd descriptor = {.fd = fd, .events = POLLIN};
    ck_assert_int_ge(fd, 0);
    return poll(&descriptor, 1, timeout_ms) == 1;
}

static void begin(const tr_platform *platform)
{
    const tr_system_options options = {.workers = 1, .platform = platform};
    ck_assert_int_eq(tr_system_new(&options, &embedded), TR_OK);
    ck_assert_int_eq(tr_client_new(embedded, &client), TR_OK);
    ck_assert_int_eq(tr_client_new(embedded, &writer), TR_OK);
    reader = reader_ref_of(tr_client_ref(client));
}

/* As the guide's loop: waits for the descriptor alone. */
static void end(void)
{
    tr_client_free(client);
    tr_client_free(writer);
    tr_system_shutdown(embedded, TR_SECOND);
    while (tr_system_run_once(embedded, 0) == TR_OK)
        ck_assert(is_readable(tr_system_fd(embedded), LONG_MS));
    tr_system_free(embedded);
}

/* ---- The system's descriptor. ---- */

static tr_next clock_set_up(tr_self *self)
{
    tr_timer_fixed_rate(self, "tick", 2 * TR_MILLISECOND, tick);
    return TR_SAME;
}

static tr_next on_tick(void)
{
    ticks++;
    return TR_SAME;
}

TR_BEHAVIOR(clock, void, TR_SETUP(clock_set_up), TR_ON(tick, on_tick));

TEST(timers_fire_in_a_loop_that_waits_for_the_descriptor_alone, "P-04", "T-01")
{
    clock_ref clock;
    ticks = 0;
    begin(NULL);
    ck_assert_int_eq(tr_try_spawn(client, &clock, clock, "clock"), TR_OK);
    int fd = tr_system_fd(embedded);
    int turns = 0;
    for (; ticks < 10; turns++) {
        ck_assert(is_readable(fd, LONG_MS)); /* before the first run_once, too */
        ck_assert_int_eq(tr_system_run_once(embedded, 0), TR_OK);
    }
    ck_assert_int_le(turns, 40); /* a few looks are early, by the wheel's grain; none is a spin */
    end();
}

TEST(a_descriptor_asked_for_late_knows_the_timers, "P-04")
{
    clock_ref clock;
    ticks = 0;
    begin(NULL);
    ck_assert_int_eq(tr_try_spawn(client, &clock, clock, "clock"), TR_OK);
    ck_assert_int_eq(tr_system_run_once(embedded, 0), TR_OK);
    while (ticks < 2) {
        ck_assert(is_readable(tr_system_fd(embedded), LONG_MS));
        ck_assert_int_eq(tr_system_run_once(embedded, 0), TR_OK);
    }
    /* One call of run_once that sleeps ends the alarm, and sets it again. */
    ck_assert_int_eq(tr_system_run_once(embedded, 10 * TR_MILLISECOND), TR_OK);
    ck_assert(is_readable(tr_system_fd(embedded), LONG_MS));
    end();
}

/* ---- A client that receives. ---- */

TEST(a_loop_that_leaves_a_type_alone_sleeps_and_loses_nothing, "P-04")
{
    begin(NULL);
    int fd = tr_client_fd(client);
    ck_assert(!is_readable(fd, 0));
    for (uint32_t i = 0; i < 10; i++) {
        tr_tell(writer, reader, other, .n = i);
        tr_tell(writer, reader, news_item, .n = i);
        int turns = 0;
        uint32_t got = 0;
        for (; is_readable(fd, 0); turns++) {
            ck_assert_int_lt(turns, 3);
            ck_assert_uint_eq(tr_client_poll(client, 0), 0);
            while (tr_receive(client, news_item, 0) != NULL)
                got++;
        }
        ck_assert_uint_eq(got, 1);
    }
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_uint_eq(tr_receive(client, other, 0)->n, i);
    end();
}

/* A message that comes between two calls of a loop, at every place, in either order of the calls. */
TEST(a_message_between_any_two_calls_of_a_loop_is_noticed, "P-04")
{
    for (int order = 0; order < 2; order++) {
        for (int place = 0; place < 5; place++) {
            begin(NULL);
            int fd = tr_client_fd(client);
            tr_tell(writer, reader, other, .n = 1); /* begins the loop; nobody asks for it */
            bool is_told = false;
            uint32_t got = 0;
            for (int turns = 0; is_readable(fd, 0); turns++) {
                ck_assert_int_lt(turns, 6);
                for (int step = 0; step < 5; step++) {
                    if (step == place && !is_told) {
                        tr_tell(writer, reader, news_item, .n = 7);
                        is_told = true;
                    }
                    if (step == (order ? 3 : 0))
                        (void)tr_client_poll(client, 0);
                    else if (step == 1)
                        got += tr_receive(client, news_item, 0) != NULL;
                    else if (step == 2)
                        (void)tr_receive(client, tick, 0); /* takes in what has come */
                }
            }
            ck_assert_uint_eq(got, 1);
            end();
        }
    }
}

TEST(a_client_that_receives_all_needs_no_poll, "P-04")
{
    begin(NULL);
    int fd = tr_client_fd(client);
    for (uint32_t i = 0; i < 10; i++) {
        tr_tell(writer, reader, news_item, .n = i);
        tr_tell(writer, reader, other, .n = i);
        ck_assert(is_readable(fd, 0));
        ck_assert_ptr_nonnull(tr_receive(client, other, 0));
        ck_assert(is_readable(fd, 0)); /* one is left */
        ck_assert_ptr_nonnull(tr_receive(client, news_item, 0));
        ck_assert(!is_readable(fd, 0));
        ck_assert_int_eq(tr_client_fd(client), fd);
        ck_assert(!is_readable(fd, 0));
    }
    end();
}

TEST(what_a_blocking_call_has_taken_in_is_news, "P-04")
{
    begin(NULL);
    tr_tell(writer, reader, news_item, .n = 1); /* before anybody asked for the descriptor */
    int fd = tr_client_fd(client);
    ck_assert(is_readable(fd, 0));
    ck_assert_ptr_nonnull(tr_receive(client, news_item, 0));
    tr_tell(writer, reader, news_item, .n = 2);
    ck_assert_ptr_null(tr_receive(client, other, TR_MILLISECOND));
    ck_assert(is_readable(fd, 0));
    tr_client_free(client);
    ck_assert_int_eq(tr_client_new(embedded, &client), TR_OK); /* it has the same descriptor */
    reader = reader_ref_of(tr_client_ref(client));
    fd = tr_client_fd(client);
    (void)tr_client_poll(client, 0);
    ck_assert(!is_readable(fd, 0));
    tr_tell(writer, reader, news_item, .n = 3);
    ck_assert(is_readable(fd, 0));
    end();
}

TEST(a_message_of_any_type_says_which_it_is, "M-05")
{
    begin(NULL);
    tr_tell(writer, reader, other, .n = 1);
    tr_tell(writer, reader, news_item, .n = 2);
    tr_message message = tr_receive_any(client, 0);
    ck_assert_str_eq(message.type->name, "other");
    ck_assert_ptr_null(tr_message_as(&message, news_item));
    ck_assert_uint_eq(tr_message_as(&message, other)->n, 1);
    message = tr_receive_any(client, TR_NEVER);
    ck_assert_ptr_null(tr_message_as(&message, other));
    ck_assert_uint_eq(tr_message_as(&message, news_item)->n, 2);
    message = tr_receive_any(client, 0);
    ck_assert_ptr_null(message.type);
    ck_assert_ptr_null(message.data);
    ck_assert_ptr_null(tr_message_as(&message, news_item));
    ck_assert_ptr_null(tr_message_data_as(NULL, &tr_type_other));
    message = tr_receive_any(NULL, 0);
    ck_assert_ptr_null(message.data);
    end();
}

/* ---- A client that asks. ---- */

static tr_next on_question(tr_self *self, const struct question *message)
{
    if (message->is_put_off) {
        (void)tr_reply_later(self);
        return TR_SAME;
    }
    return tr_reply(self, news_item, .n = 1);
}

TR_BEHAVIOR(oracle, void, TR_ON(question, on_question));

static tr_status asked_status;

static void on_asked(int *calls, const question_answer *answer)
{
    asked_status = answer->status;
    ++*calls;
}
TR_CALLBACK(asked, question, int, on_asked);

TEST(the_timeout_of_an_ask_makes_the_descriptor_readable, "P-04", "A-02")
{
    int calls = 0;
    oracle_ref oracle;
    begin(NULL);
    int fd = tr_client_fd(client);
    ck_assert_int_eq(tr_try_spawn(client, &oracle, oracle, NULL), TR_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(tr_ask_callback_within(
                             client, TR_HOUR, asked, &calls, oracle, question, .is_put_off = true),
                         TR_OK);
        ck_assert_int_eq(
            tr_ask_callback_within(
                client, 2 * TR_MILLISECOND, asked, &calls, oracle, question, .is_put_off = true),
            TR_OK);
        int turns = 0;
        size_t called = 0;
        while (called == 0) {
            ck_assert(is_readable(fd, LONG_MS));
            called = tr_client_poll(client, 0);
            turns++;
        }
        ck_assert_int_eq(calls, i + 1);
        ck_assert_int_eq(asked_status, TR_TIMEOUT);
        ck_assert_int_lt(turns, 8);
    }
    ck_assert(!is_readable(fd, 0)); /* the others have an hour */
    end();
    ck_assert_int_eq(calls, 6);
}

TEST(a_callback_that_is_due_makes_the_descriptor_readable, "P-04")
{
    int calls = 0;
    oracle_ref oracle;
    begin(NULL);
    int fd = tr_client_fd(client);
    oracle_ref nobody = oracle_ref_of(TR_NOBODY);
    ck_assert_int_eq(tr_ask_callback(client, asked, &calls, nobody, question), TR_OK);
    ck_assert(is_readable(fd, 0));
    ck_assert_uint_eq(tr_client_poll(client, 0), 1);
    ck_assert(!is_readable(fd, 0));
    /* Its answer is taken in by another call. */
    ck_assert_int_eq(tr_try_spawn(client, &oracle, oracle, NULL), TR_OK);
    ck_assert_int_eq(tr_ask_callback(client, asked, &calls, oracle, question), TR_OK);
    ck_assert_int_eq(tr_system_run_once(embedded, 0), TR_OK);
    ck_assert(is_readable(fd, 0));
    ck_assert_ptr_null(tr_receive(client, other, 0));
    ck_assert(is_readable(fd, 0));
    ck_assert_uint_eq(tr_client_poll(client, 0), 1);
    ck_assert_int_eq(asked_status, TR_OK);
    ck_assert(!is_readable(fd, 0));
    end();
}

/* ---- What it costs. ---- */

static int parks;

static void counted_park(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    parks++;
    tr_platform_real()->park(platform, parker, deadline);
}

/* The alarm of the descriptor has rung, and the thread waits for something else. */
TEST(a_wait_is_not_ended_again_and_again_by_the_alarm, "P-04")
{
    int calls = 0;
    oracle_ref oracle;
    tr_platform platform = *tr_platform_real();
    platform.park = counted_park;
    begin(&platform);
    int fd = tr_client_fd(client);
    ck_assert_int_eq(tr_try_spawn(client, &oracle, oracle, NULL), TR_OK);
    ck_assert_int_eq(
        tr_ask_callback_within(
            client, TR_MILLISECOND, asked, &calls, oracle, question, .is_put_off = true),
        TR_OK);
    ck_assert(is_readable(fd, LONG_MS));
    parks = 0;
    ck_assert_ptr_null(tr_receive(client, news_item, 20 * TR_MILLISECOND));
    ck_assert_int_le(parks, 5);
    ck_assert(is_readable(fd, 0)); /* it is still there */
    ck_assert_uint_eq(tr_client_poll(client, 0), 1);
    ck_assert(!is_readable(fd, 0));
    end();
}

SUITE("own loop", timers_fire_in_a_loop_that_waits_for_the_descriptor_alone,
      a_descriptor_asked_for_late_knows_the_timers,
      a_loop_that_leaves_a_type_alone_sleeps_and_loses_nothing,
      a_message_between_any_two_calls_of_a_loop_is_noticed,
      a_client_that_receives_all_needs_no_poll, what_a_blocking_call_has_taken_in_is_news,
      a_message_of_any_type_says_which_it_is, the_timeout_of_an_ask_makes_the_descriptor_readable,
      a_callback_that_is_due_makes_the_descriptor_readable,
      a_wait_is_not_ended_again_and_again_by_the_alarm)
