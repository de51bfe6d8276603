/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of clients with callbacks: each is called once, on the thread that polls, whatever happens.
 */
#include "support/test.h"

#include <stdio.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(number, (u64, n));
TR_REQUEST(question, number, (u64, n), (i32, deed), (str, text));
TR_MESSAGE(answer_now);
TR_ACTOR(oracle, question, answer_now);

enum deed { REPLY, REFUSE, FAIL, NOTHING, STOP, PUT_OFF, CRASH_LATER, DEEDS };

struct oracle {
    tr_later later[64];
    uint32_t count;
};

static tr_next on_question(tr_self *self, struct oracle *oracle, const struct question *message)
{
    switch ((enum deed)message->deed) {
    case REPLY:
        return tr_reply(self, number, .n = message->n + 1);
    case REFUSE:
        return tr_refuse(self, 42, "not on %s", message->text ? message->text : "a Monday");
    case FAIL:
        return tr_fail(self, TR_FAILED, "no idea");
    case NOTHING:
        return TR_SAME;
    case STOP:
        return TR_STOP;
    case PUT_OFF:
        oracle->later[oracle->count++] = tr_reply_later(self);
        return TR_SAME;
    case CRASH_LATER:
        (void)tr_sleep(self, TR_MILLISECOND);
        return tr_fail(self, TR_FAILED, "later");
    case DEEDS:
        break;
    }
    return TR_SAME;
}
static tr_next on_answer_now(tr_self *self, struct oracle *oracle)
{
    while (oracle->count) {
        oracle->count--;
        tr_reply_to(self, oracle->later[oracle->count], number, .n = 99);
    }
    return TR_SAME;
}
TR_BEHAVIOR(oracle, struct oracle, TR_ON(question, on_question), TR_ON(answer_now, on_answer_now));

/* A mailbox in which senders wait. */
TR_ACTOR(narrow, question);
TR_BEHAVIOR(narrow, struct oracle, TR_ON(question, on_question),
            TR_OPTIONS(.mailbox_max = 1, .overflow = TR_PARK));

static tr_kit *kit;
static tr_client *client;
static oracle_ref oracle;

static void begin(int workers)
{
    tr_kit_options options = {.workers = workers};
    kit = tr_kit_new(&options);
    client = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn_at(client, &oracle, workers - 1, oracle, NULL), TR_OK);
}

/* What a callback got. */
struct seen {
    int calls;
    tr_status status;
    int code;
    uint64_t n;
    uint32_t order;
    char text[64];
};
static uint32_t order_last;

static void on_seen(struct seen *seen, const question_answer *answer)
{
    seen->calls++;
    seen->order = ++order_last;
    seen->status = answer->status;
    ck_assert_ptr_eq(answer->context, seen);
    ck_assert(answer->reply ? answer->status == TR_OK : answer->status != TR_OK);
    ck_assert_int_eq(answer->why->status, answer->status);
    if (answer->reply)
        seen->n = answer->reply->n;
    seen->code = answer->why->code;
    snprintf(seen->text, sizeof seen->text, "%.63s", answer->why->text);
}
TR_CALLBACK(seen, question, struct seen, on_seen);

/* ---- Outcomes. ---- */

TEST(each_outcome_is_called_once_and_only_by_a_poll, "A-01", "A-06")
{
    static const tr_status expected[DEEDS] = {
        TR_OK, TR_REFUSED, TR_FAILED, TR_NO_REPLY, TR_NO_REPLY, TR_OK, TR_FAILED};
    for (int deed = 0; deed < DEEDS; deed++) {
        struct seen seen = {0};
        begin(2);
        ck_assert_uint_eq(tr_client_poll(client, TR_NEVER), 0); /* there is none to wait for */
        ck_assert_int_eq(
            tr_ask_callback(client, seen, &seen, oracle, question, .n = 6, .deed = deed), TR_OK);
        (void)tr_kit_settle(kit);
        (void)tr_tell(client, oracle, answer_now);
        ck_assert_ptr_null(tr_receive(client, number, 0));
        ck_assert_int_eq(seen.calls, 0);
        ck_assert_uint_eq(tr_client_poll(client, TR_NEVER), 1);
        ck_assert_int_eq(seen.calls, 1);
        ck_assert_int_eq(seen.status, expected[deed]);
        ck_assert_uint_eq(seen.n, deed == REPLY ? 7 : deed == PUT_OFF ? 99 : 0);
        if (deed == REFUSE) {
            ck_assert_int_eq(seen.code, 42);
            ck_assert_str_eq(seen.text, "not on a Monday");
        }
        ck_assert_uint_eq(tr_client_poll(client, TR_NEVER), 0);
        ck_assert_int_eq(seen.calls, 1);
        tr_kit_check(kit);
        tr_kit_free(kit);
    }
}

TEST(what_cannot_be_sent_is_an_outcome_too, "A-01", "AK-03")
{
    struct seen seen[5] = {{0}};
    narrow_ref narrow;
    begin(1);
    ck_assert_int_eq(tr_try_spawn(client, &narrow, narrow, NULL), TR_OK);
    (void)tr_kit_settle(kit);
    tr_suspend(client, narrow);
    (void)tr_kit_settle(kit);
    oracle_ref nobody = oracle_ref_of(TR_NOBODY);
    ck_assert_int_eq(tr_ask_callback(client, seen, &seen[0], nobody, question, .n = 1), TR_OK);
    ck_assert_int_eq(tr_ask_callback_within(client, -1, seen, &seen[1], oracle, question, .n = 1),
                     TR_OK);
    /* It does not wait for capacity. */
    ck_assert_int_eq(
        tr_ask_callback_within(client, TR_NEVER, seen, &seen[2], narrow, question, .n = 2), TR_OK);
    ck_assert_int_eq(tr_ask_callback(client, seen, &seen[3], narrow, question, .n = 3), TR_OK);
    ck_assert_int_eq(tr_kit_now(kit) % TR_SECOND, 0);
    ck_assert_uint_eq(tr_client_poll(client, 0), 3);
    ck_assert_int_eq(seen[0].status, TR_STOPPED);
    ck_assert_int_eq(seen[1].status, TR_TIMEOUT);
    ck_assert_int_eq(seen[3].status, TR_MAILBOX_FULL);
    ck_assert_int_eq(seen[2].calls, 0);
    ck_assert_int_eq(tr_client_timeout(client), TR_NEVER);
    tr_resume(client, narrow);
    ck_assert_uint_eq(tr_client_poll(client, TR_SECOND), 1);
    ck_assert_uint_eq(seen[2].n, 3);
    ck_assert_int_eq(tr_client_ask_callback(client, NULL, NULL, TR_NOBODY, &seen, 0),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_ask_callback(NULL, &tr_callback_seen, NULL, TR_NOBODY, &seen, 0),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_ask_callback(client, &tr_callback_seen, NULL, TR_NOBODY, NULL, 0),
                     TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(tr_client_poll(NULL, 0), 0);
    ck_assert_int_eq(tr_client_fd(NULL), -1);
    ck_assert_int_eq(tr_client_timeout(NULL), TR_NEVER);
    ck_assert_uint_eq(tr_client_poll(client, 0), 0);
    tr_kit_free(kit);
}

TEST(a_timeout_is_exact_and_a_late_reply_is_a_dead_letter, "A-01", "A-02", "AK-02", "AK-07")
{
    struct seen seen[3] = {{0}};
    begin(2);
    tr_time start = tr_kit_now(kit);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(
            tr_ask_callback_within(
                client, (3 - i) * TR_SECOND, seen, &seen[i], oracle, question, .deed = PUT_OFF),
            TR_OK);
    ck_assert_int_eq(tr_client_timeout(client), TR_SECOND);
    ck_assert_uint_eq(tr_client_poll(client, TR_SECOND - 1), 0);
    ck_assert_int_eq(tr_kit_now(kit), start + TR_SECOND - 1);
    ck_assert_int_eq(tr_client_timeout(client), 1);
    ck_assert_uint_eq(tr_client_poll(client, TR_NEVER), 1);
    ck_assert_int_eq(tr_kit_now(kit), start + TR_SECOND);
    ck_assert_int_eq(seen[2].status, TR_TIMEOUT);
    uint64_t dead = tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL);
    tr_tell(client, oracle, answer_now);
    /* Two are answered; the late one ends none of them. */
    ck_assert_uint_eq(tr_client_poll(client, TR_NEVER), 2);
    ck_assert_int_eq(seen[0].status, TR_OK);
    ck_assert_int_eq(seen[1].status, TR_OK);
    ck_assert_int_eq(seen[2].calls, 1);
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), dead + 1);
    ck_assert_int_eq(tr_client_timeout(client), TR_NEVER);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(a_poll_calls_in_the_order_of_the_ends, "AK-11")
{
    enum { COUNT = 20000 };
    static struct seen seen[COUNT];
    begin(2);
    for (uint64_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(tr_ask_callback(client, seen, &seen[i], oracle, question, .n = i), TR_OK);
        if (i % 1000 == 999)
            (void)tr_kit_settle(kit);
    }
    size_t called = 0;
    for (size_t more; (more = tr_client_poll(client, TR_SECOND)) > 0;)
        called += more;
    ck_assert_uint_eq(called, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(seen[i].calls, 1);
        ck_assert_uint_eq(seen[i].n, i + 1);
        ck_assert_uint_eq(seen[i].order, i + 1);
    }
    tr_kit_check(kit);
    tr_kit_free(kit);
}

/* ---- Inside a callback. ---- */

static int chain_left;
static size_t nested_calls;
static void on_chain(void *context, const question_answer *answer);
TR_CALLBACK(chain, question, void, on_chain);
static void on_chain(void *context, const question_answer *answer)
{
    ck_assert_int_eq(answer->status, TR_OK);
    ck_assert_ptr_null(context);
    uint64_t n = answer->reply->n;
    if (!chain_left--)
        return;
    ck_assert_int_eq(tr_ask_callback(client, chain, NULL, oracle, question, .n = n), TR_OK);
    /* A blocking ask meanwhile, and even a poll; the answer of this one stays. */
    question_ask asked = tr_ask(client, oracle, question, .n = 1000);
    const struct number *number;
    ck_assert_int_eq(tr_try_await(client, asked, &number), TR_OK);
    ck_assert_uint_eq(number->n, 1001);
    if (chain_left == 2)
        nested_calls += tr_client_poll(client, TR_SECOND);
    ck_assert_uint_eq(answer->reply->n, n);
}

TEST(a_callback_may_ask_await_and_poll, "A-01")
{
    begin(2);
    chain_left = 5;
    ck_assert_int_eq(tr_ask_callback(client, chain, NULL, oracle, question, .n = 0), TR_OK);
    size_t called = 0;
    for (size_t more; (more = tr_client_poll(client, TR_SECOND)) > 0;)
        called += more;
    ck_assert_uint_eq(nested_calls, 1);
    ck_assert_uint_eq(called + nested_calls, 6);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(those_that_wait_and_those_that_are_called_do_not_mix, "A-01", "AK-19")
{
    struct seen seen = {0};
    const struct number *number;
    begin(2);
    question_ask first = tr_ask(client, oracle, question, .n = 1);
    ck_assert_int_eq(tr_ask_callback(client, seen, &seen, oracle, question, .n = 2), TR_OK);
    question_ask third = tr_ask(client, oracle, question, .deed = REFUSE, .text = "a Sunday");
    ck_assert_int_eq(tr_try_await(client, third, &number), TR_REFUSED);
    const tr_error *why = tr_ask_error(client, third);
    ck_assert_int_eq(why->status, TR_REFUSED);
    ck_assert_int_eq(why->code, 42);
    ck_assert_str_eq(why->text, "not on a Sunday");
    ck_assert_int_eq(tr_ask_error(client, first)->status, TR_OK);
    ck_assert_int_eq(tr_ask_error(client, third)->status, TR_INVALID_ARGUMENT);
    /* The callback's ask has a number, but nobody waits for that. */
    ck_assert_int_eq(tr_client_try_await(client, (tr_pending){first.any.id + 1}, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(seen.calls, 0);
    ck_assert(tr_is_answered(client, first));
    ck_assert_int_eq(tr_client_timeout(client), 0); /* it arrived while another was waited for */
    ck_assert_uint_eq(tr_client_poll(client, 0), 1);
    ck_assert_uint_eq(seen.n, 3);
    ck_assert_int_eq(tr_try_await(client, first, &number), TR_OK);
    ck_assert_uint_eq(number->n, 2);
    ck_assert_int_eq(tr_ask_error(client, first)->status, TR_OK);
    tr_kit_free(kit);
}

/* ---- Ends. ---- */

static tr_client *ending;
static tr_status status_inside;
static void on_end(struct seen *seen, const question_answer *answer)
{
    on_seen(seen, answer);
    if (seen->status == TR_CANCELLED)
        status_inside = tr_ask_callback(ending, seen, seen, oracle, question, .n = 1);
}
TR_CALLBACK(end, question, struct seen, on_end);

TEST(a_client_that_ends_first_cancels, "A-01", "AK-08")
{
    struct seen seen[3] = {{0}};
    begin(2);
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &ending), TR_OK);
    ck_assert_int_eq(tr_ask_callback(ending, end, &seen[0], oracle, question, .n = 1), TR_OK);
    ck_assert_int_eq(tr_ask_callback(ending, end, &seen[1], oracle, question, .deed = PUT_OFF),
                     TR_OK);
    ck_assert_int_eq(
        tr_ask_callback_within(ending, TR_NEVER, end, &seen[2], oracle, question, .deed = PUT_OFF),
        TR_OK);
    (void)tr_kit_settle(kit);
    /* The first was answered, though nobody has polled. */
    tr_client_free(ending);
    ck_assert_int_eq(seen[0].status, TR_OK);
    ck_assert_int_eq(seen[1].status, TR_CANCELLED);
    ck_assert_int_eq(seen[2].status, TR_CANCELLED);
    ck_assert_int_eq(status_inside, TR_STOPPING);
    tr_tell(client, oracle, answer_now);
    (void)tr_kit_settle(kit);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(seen[i].calls, 1);
    /* Its memory is used again, and nothing of its asks is left. */
    tr_client *next;
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &next), TR_OK);
    ck_assert_uint_eq(tr_client_poll(next, TR_SECOND), 0);
    tr_client_free(next);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

TEST(the_end_of_the_system_ends_all, "A-01", "X-01")
{
    for (int has_fd = 0; has_fd < 2; has_fd++) {
        struct seen seen[3] = {{0}};
        tr_system *system;
        ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 2}, &system), TR_OK);
        ck_assert_int_eq(tr_system_start(system), TR_OK);
        ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
        ck_assert_int_eq(tr_try_spawn(client, &oracle, oracle, NULL), TR_OK);
        ck_assert_int_eq(tr_spawn_wait(client, oracle, TR_NEVER, NULL), TR_OK);
        struct pollfd fds[] = {{.fd = has_fd ? tr_client_fd(client) : -1, .events = POLLIN}};
        ck_assert_int_eq(tr_ask_callback_within(
                             client, TR_NEVER, seen, &seen[0], oracle, question, .deed = PUT_OFF),
                         TR_OK);
        /* Another client answers nobody. */
        ck_assert_int_eq(tr_ask_callback_within(
                             client, TR_NEVER, seen, &seen[1], oracle, question, .deed = PUT_OFF),
                         TR_OK);
        tr_system_shutdown(system, TR_SECOND);
        size_t called = 0;
        while (called < 2) {
            if (has_fd)
                ck_assert_int_eq(poll(fds, 1, -1), 1);
            called += tr_client_poll(client, has_fd ? 0 : TR_NEVER);
        }
        ck_assert_int_eq(seen[0].status, TR_STOPPED);
        ck_assert_int_eq(seen[1].status, TR_STOPPED);
        ck_assert_int_eq(tr_ask_callback(client, seen, &seen[2], oracle, question, .n = 1), TR_OK);
        ck_assert_uint_eq(tr_client_poll(client, TR_NEVER), 1);
        ck_assert_int_eq(seen[2].status, TR_STOPPED);
        ck_assert_int_eq(tr_system_wait(system), TR_OK);
        tr_client_free(client);
        tr_system_free(system);
    }
}

/* A client answers no requests. Who asks hears that at once, whether or not the client ever looks. */
TEST(who_asks_a_client_hears_that_there_is_no_reply, "A-01", "AK-04")
{
    struct seen seen = {0};
    tr_client *other;
    begin(2);
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &other), TR_OK);
    oracle_ref asked = oracle_ref_of(tr_client_ref(other));
    tr_time start = tr_kit_now(kit);
    ck_assert_int_eq(tr_ask_callback(client, seen, &seen, asked, question, .n = 1), TR_OK);
    ck_assert_uint_eq(tr_client_poll(client, 0), 1);
    ck_assert_int_eq(seen.status, TR_NO_REPLY);
    ck_assert_int_eq(
        tr_try_await(client, tr_ask(client, asked, question, .text = "long enough"), NULL),
        TR_NO_REPLY);
    ck_assert_ptr_null(tr_receive(other, question, 0));
    tr_client_free(other);
    ck_assert_int_eq(tr_try_await(client, tr_ask(client, asked, question), NULL), TR_STOPPED);
    ck_assert_int_eq(tr_kit_now(kit), start);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

/* ---- Without memory. ---- */

TEST(lack_of_memory_is_a_status_or_an_outcome, "A-01", "U-03")
{
    int refused = 0;
    int answered = 0;
    for (uint64_t nth = 1; nth < 60; nth++) {
        struct seen seen[12] = {{0}};
        tr_status status[12];
        begin(1);
        (void)tr_kit_settle(kit);
        tr_kit_fail_allocation(kit, nth, nth % 2);
        for (int i = 0; i < 12; i++)
            status[i] = tr_ask_callback(
                client, seen, &seen[i], oracle, question, .deed = i % 2 ? PUT_OFF : REPLY);
        (void)tr_kit_settle(kit);
        tr_kit_fail_allocation(kit, 0, false);
        for (size_t more; (more = tr_client_poll(client, TR_NEVER)) > 0;)
            ;
        for (int i = 0; i < 12; i++) {
            bool is_fair = status[i] == TR_OK || status[i] == TR_NO_MEMORY;
            ck_assert(is_fair);
            ck_assert_int_eq(seen[i].calls, status[i] == TR_OK);
            refused += status[i] == TR_NO_MEMORY || seen[i].status == TR_NO_MEMORY;
            answered += seen[i].status == TR_OK && seen[i].calls;
        }
        tr_kit_check(kit);
        tr_kit_free(kit);
    }
    ck_assert_int_gt(refused, 0);
    ck_assert_int_gt(answered, 0);
}

/* ---- Threads and descriptors. ---- */

struct job {
    tr_system *system;
    oracle_ref oracle;
    bool has_fd;
    uint64_t asks;
    uint64_t replies;
    uint64_t ends;
    pthread_t self;
};

static void on_job(struct job *job, const question_answer *answer)
{
    ck_assert(pthread_equal(job->self, pthread_self()));
    if (answer->status == TR_OK)
        job->replies++;
    else
        ck_assert_int_eq(answer->status, TR_STOPPED);
    job->ends++;
}
TR_CALLBACK(job, question, struct job, on_job);

/* As a loop of somebody else's would: waits for the descriptor alone. */
static void wait_for_more(int fd)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}};
    ck_assert_int_eq(poll(fds, 1, -1), 1);
}

static void *run_job(void *argument)
{
    struct job *job = argument;
    tr_client *mine;
    job->self = pthread_self();
    if (tr_client_new(job->system, &mine) != TR_OK)
        return NULL;
    int fd = job->has_fd ? tr_client_fd(mine) : -1;
    uint64_t asked = 0;
    while (job->ends < job->asks) {
        for (int i = 0; i < 20 && asked < job->asks; i++, asked++)
            ck_assert_int_eq(
                tr_ask_callback_within(mine, TR_NEVER, job, job, job->oracle, question, .n = asked),
                TR_OK);
        if (asked % 3 == 0) {
            question_ask extra = tr_ask(mine, job->oracle, question, .n = 1);
            tr_status status = tr_try_await(mine, extra, NULL);
            ck_assert(status == TR_OK || status == TR_STOPPED);
        }
        if (job->has_fd)
            wait_for_more(fd);
        (void)tr_client_poll(mine, job->has_fd ? 0 : TR_NEVER);
    }
    tr_client_free(mine);
    return NULL;
}

enum { JOBS = 4 };

static void run_jobs(bool is_cut_short)
{
    struct job jobs[JOBS];
    pthread_t threads[JOBS];
    tr_system *system;
    uint64_t asks = test_scale(2000, 20000);
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 2}, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (struct job){.system = system, .has_fd = i % 2, .asks = asks};
        ck_assert_int_eq(tr_try_spawn_at(client, &jobs[i].oracle, i / 2 % 2, oracle, NULL), TR_OK);
        ck_assert_int_eq(tr_spawn_wait(client, jobs[i].oracle, TR_NEVER, NULL), TR_OK);
    }
    for (int i = 0; i < JOBS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
    for (int i = 0; is_cut_short && i < 50; i++) {
        question_ask asked = tr_ask(client, jobs[0].oracle, question, .n = 1);
        ck_assert_int_eq(tr_try_await(client, asked, NULL), TR_OK);
    }
    if (is_cut_short)
        tr_system_shutdown(system, TR_SECOND);
    for (int i = 0; i < JOBS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < JOBS && !is_cut_short; i++)
        ck_assert_uint_eq(jobs[i].replies, asks);
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

TEST(threads_get_their_own_answers_each_once, "A-01", "AK-01")
{
    run_jobs(false);
}

TEST(threads_get_an_outcome_when_the_system_ends_meanwhile, "A-01", "X-01")
{
    run_jobs(true);
}

TEST(a_descriptor_is_quiet_until_there_is_something, "")
{
    struct seen seen[2] = {{0}};
    tr_system *system;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 1}, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &oracle, oracle, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, oracle, TR_NEVER, NULL), TR_OK);
    struct pollfd fds[] = {{.fd = tr_client_fd(client), .events = POLLIN}};
    (void)tr_client_poll(client, 0);
    for (int i = 0; i < 10; i++) {
        /* This one waits, and another is answered meanwhile: what counts is what was announced. */
        ck_assert_int_eq(tr_ask_callback(client, seen, &seen[0], oracle, question, .n = 1), TR_OK);
        question_ask asked = tr_ask(client, oracle, question, .n = 1);
        ck_assert_int_eq(tr_try_await(client, asked, NULL), TR_OK);
        ck_assert_int_eq(tr_client_timeout(client), 0);
        ck_assert_uint_eq(tr_client_poll(client, 0), 1);
        (void)tr_client_poll(client, 0);
        ck_assert_int_eq(poll(fds, 1, 0), 0);
        ck_assert_int_eq(tr_ask_callback(client, seen, &seen[1], oracle, question, .n = 2), TR_OK);
        ck_assert_int_eq(poll(fds, 1, -1), 1);
        ck_assert_uint_eq(tr_client_poll(client, 0), 1);
        ck_assert_int_eq(poll(fds, 1, 0), 0);
    }
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

SUITE("client future", each_outcome_is_called_once_and_only_by_a_poll,
      what_cannot_be_sent_is_an_outcome_too, a_timeout_is_exact_and_a_late_reply_is_a_dead_letter,
      a_poll_calls_in_the_order_of_the_ends, a_callback_may_ask_await_and_poll,
      those_that_wait_and_those_that_are_called_do_not_mix, a_client_that_ends_first_cancels,
      the_end_of_the_system_ends_all, who_asks_a_client_hears_that_there_is_no_reply,
      lack_of_memory_is_a_status_or_an_outcome, threads_get_their_own_answers_each_once,
      threads_get_an_outcome_when_the_system_ends_meanwhile,
      a_descriptor_is_quiet_until_there_is_something)
