/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The trace of an ask that timed out: where its request is, over actors and workers.
 */
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

TR_MESSAGE(answer, (u64, n));
TR_REQUEST(question, answer, (u64, n));
TR_REQUEST(set_aside, answer);
TR_REQUEST(hold, answer);
TR_REQUEST(doze, answer);
TR_REQUEST(push, answer, (u64, delay_ns));
TR_MESSAGE(parcel);
TR_ACTOR(oracle, question, set_aside, hold, doze, push);
TR_ACTOR(narrow, parcel);
TR_MESSAGE(meet, (ref_of(oracle), next));

TR_MESSAGE(outcome, (i32, status), (str, text));
TR_MESSAGE(try_it, (ref_of(oracle), whom), (u64, which));
TR_ACTOR(asker, try_it);

struct oracle {
    oracle_ref next;
    tr_later later;
};

static tr_next set_up(struct oracle *oracle, const struct meet *message)
{
    oracle->next = message->next;
    return TR_SAME;
}

/* Passes the question on, if there is somebody to ask. */
static tr_next on_question(tr_self *self, struct oracle *oracle, const struct question *message)
{
    if (tr_is_nobody(oracle->next)) {
        oracle->later = tr_reply_later(self);
        return TR_SAME;
    }
    const struct answer *reply =
        tr_await(self, tr_ask_within(self, TR_HOUR, oracle->next, question, .n = message->n));
    return tr_reply(self, answer, .n = reply->n);
}

static tr_next on_hold(tr_self *self)
{
    (void)tr_sleep(self, TR_HOUR);
    return tr_reply(self, answer, .n = 1);
}

/* Waits three times: for an answer, for a while, and for a place in a mailbox that nobody empties. */
static int doze_line;
static narrow_ref narrow_one;

static const struct answer *answer_of(tr_self *self, oracle_ref whom)
{
    return tr_await(self, tr_ask(self, whom, question));
}

static tr_next on_doze(tr_self *self, struct oracle *oracle)
{
    (void)answer_of(self, oracle->next);
    doze_line = __LINE__ + 1;
    (void)tr_sleep(self, TR_HOUR);
    return tr_reply(self, answer, .n = 1);
}

static tr_next on_push(tr_self *self, struct oracle *oracle, const struct push *message)
{
    tr_time delay_ns = (tr_time)message->delay_ns;
    (void)answer_of(self, oracle->next);
    if (delay_ns)
        (void)tr_sleep(self, delay_ns);
    for (int i = 0; i < 4; i++)
        (void)tr_tell(self, narrow_one, parcel);
    return tr_reply(self, answer, .n = 1);
}

static tr_next on_parcel(tr_self *self)
{
    (void)tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

TR_BEHAVIOR(narrow, void, TR_ON(parcel, on_parcel, .is_barrier = true),
            TR_OPTIONS(.mailbox_max = 1, .overflow = TR_PARK));

TR_BEHAVIOR(oracle, struct oracle, TR_SETUP_WITH(meet, set_up), TR_ON(question, on_question),
            TR_ON(set_aside, tr_stash), TR_ON(hold, on_hold, .is_barrier = true),
            TR_ON(doze, on_doze), TR_ON(push, on_push));

/* Answers at once. */
static tr_next on_prompt_question(tr_self *self)
{
    return tr_reply(self, answer, .n = 1);
}

TR_BEHAVIOR(prompt, void, TR_ON(question, on_prompt_question));

static tr_next on_try_it(tr_self *self, const struct try_it *message)
{
    const struct answer *reply;
    tr_time timeout_ns = message->which == 2 ? 50 * TR_MILLISECOND : TR_SECOND;
    question_ask asked = tr_ask_within(self, timeout_ns, message->whom, question, .n = 5);
    if (message->which == 1) {
        set_aside_ask aside = tr_ask_within(self, TR_SECOND, message->whom, set_aside);
        tr_status status = tr_try_await(self, aside, &reply);
        tr_reply(self, outcome, .status = status, .text = tr_ask_error(self, aside)->text);
        return TR_SAME;
    }
    tr_status status = tr_try_await(self, asked, &reply);
    tr_reply(self, outcome, .status = status, .text = tr_ask_error(self, asked)->text);
    return TR_SAME;
}

TR_BEHAVIOR(asker, void, TR_ON(try_it, on_try_it));

struct stage {
    tr_kit *kit;
    tr_client *client;
    asker_ref asker;
};

static struct stage begin(int workers)
{
    struct stage stage = {.kit = tr_kit_new(&(tr_kit_options){.seed = 9, .workers = workers})};
    stage.client = tr_kit_client(stage.kit);
    ck_assert_int_eq(tr_try_spawn(stage.client, &stage.asker, asker, "asker"), TR_OK);
    return stage;
}

static oracle_ref oracle(struct stage *stage, int worker, const char *name, oracle_ref next)
{
    oracle_ref made;
    ck_assert_int_eq(
        tr_try_spawn_at(stage->client, &made, worker, oracle, name, meet, .next = next), TR_OK);
    return made;
}

static const char *text_of(struct stage *stage, oracle_ref whom, uint64_t which)
{
    static char text[300];
    tr_tell(stage->client, stage->asker, try_it, .whom = whom, .which = which);
    const struct outcome *outcome = tr_receive(stage->client, outcome, 10 * TR_SECOND);
    ck_assert_ptr_nonnull(outcome);
    ck_assert_int_eq(outcome->status, TR_TIMEOUT);
    snprintf(text, sizeof text, "%s", outcome->text);
    return text;
}

#define HAS(text, part)                                                                            \
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in: %s", part, text)

TEST(a_timeout_names_the_chain_and_where_it_waits, "A-03")
{
    for (int workers = 1; workers <= 3; workers++) {
        struct stage stage = begin(workers);
        oracle_ref last = oracle(&stage, workers - 1, "last", oracle_ref_of(TR_NOBODY));
        oracle_ref middle = oracle(&stage, workers / 2, "middle", last);
        oracle_ref first = oracle(&stage, workers - 1, "first", middle);
        const char *text = text_of(&stage, first, 0);
        HAS(text, "/user/first: on_question waits 1000 ms for question at ask_trace_test.c:");
        HAS(text, "; /user/middle: on_question waits 1000 ms for question at ask_trace_test.c:");
        HAS(text, "; /user/last: the reply was deferred with tr_reply_later");
        tr_kit_check(stage.kit);
        tr_kit_free(stage.kit);
    }
}

TEST(a_timeout_never_names_the_line_of_an_earlier_wait, "A-03")
{
    for (int workers = 1; workers <= 2; workers++) {
        struct stage stage = begin(workers);
        tr_ref prompt;
        const tr_spawn_args args = {
            .size = sizeof args, .behavior = &tr_behavior_prompt, .worker = 0};
        uint64_t bits;
        ck_assert_int_eq(tr_client_try_spawn(stage.client, &args, &bits), TR_OK);
        prompt = tr_ref_from_bits(bits);
        ck_assert_int_eq(tr_try_spawn(stage.client, &narrow_one, narrow, "narrow"), TR_OK);
        oracle_ref whom = oracle(&stage, workers - 1, "whom", oracle_ref_of(prompt));
        char place[80];
        doze_ask dozes = tr_ask_within(stage.client, TR_SECOND, whom, doze);
        ck_assert_int_eq(tr_try_await(stage.client, dozes, NULL), TR_TIMEOUT);
        snprintf(place, sizeof place, "on_doze waits at ask_trace_test.c:%d", doze_line);
        HAS(tr_ask_error(stage.client, dozes)->text, place);
        /* The first waits for capacity, and the second, which is later there, for the first. */
        push_ask pushes[2];
        pushes[1] =
            tr_ask_within(stage.client, TR_SECOND, whom, push, .delay_ns = 100 * TR_MILLISECOND);
        pushes[0] = tr_ask_within(stage.client, TR_SECOND, whom, push);
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(tr_try_await(stage.client, pushes[i], NULL), TR_TIMEOUT);
            const char *text = tr_ask_error(stage.client, pushes[i])->text;
            HAS(text, "on_push waits");
            ck_assert_msg(!strstr(text, " at "), "%s", text);
        }
        tr_kit_check(stage.kit);
        tr_kit_free(stage.kit);
    }
}

TEST(a_timeout_says_that_a_request_is_queued_or_stashed, "A-03")
{
    for (int workers = 1; workers <= 2; workers++) {
        struct stage stage = begin(workers);
        oracle_ref slow = oracle(&stage, workers - 1, "slow", oracle_ref_of(TR_NOBODY));
        tr_kit_settle(stage.kit);
        tr_suspend(stage.client, slow);
        tr_kit_settle(stage.kit);
        HAS(text_of(&stage, slow, 0), "/user/slow: queued, 1 of 1; the actor is suspended");
        HAS(text_of(&stage, slow, 0), "/user/slow: queued, 2 of 2");
        tr_resume(stage.client, slow);
        tr_kit_settle(stage.kit);
        HAS(text_of(&stage, slow, 1), "/user/slow: stashed, 1 of 1");
        tr_kit_check(stage.kit);
        tr_kit_free(stage.kit);
    }
}

TEST(a_timeout_names_the_barrier_in_the_way, "A-03", "D-03")
{
    for (int workers = 1; workers <= 2; workers++) {
        struct stage stage = begin(workers);
        oracle_ref busy = oracle(&stage, workers - 1, "busy", oracle_ref_of(TR_NOBODY));
        (void)tr_ask(stage.client, busy, hold);
        tr_kit_settle(stage.kit);
        HAS(text_of(&stage, busy, 0), "queued, 1 of 1; on_hold waits");
        tr_kit_check(stage.kit);
        tr_kit_free(stage.kit);
    }
}

/* ---- A worker that does not answer. ---- */

TR_MESSAGE(spin);
TR_ACTOR(spinner, spin, question);

static atomic_bool is_spinning;
static atomic_bool may_end;
static tr_next on_spin(void)
{
    atomic_store(&is_spinning, true);
    while (!atomic_load(&may_end))
        sched_yield();
    return TR_SAME;
}
static tr_next on_late_question(tr_self *self)
{
    return tr_reply(self, answer, .n = 1);
}
TR_BEHAVIOR(spinner, void, TR_ON(spin, on_spin), TR_ON(question, on_late_question));

static tr_time now(void)
{
    const tr_platform *real = tr_platform_real();
    return real->mono_now(real);
}

static char logged[400];
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    if (level != TR_LEVEL_WARN || !path)
        return;
    pthread_mutex_lock(&log_lock);
    snprintf(logged, sizeof logged, "%s: %s", path, text);
    pthread_mutex_unlock(&log_lock);
}

TEST(a_busy_worker_is_named_with_what_it_runs_and_for_how_long, "A-03")
{
    tr_system *system;
    tr_client *client;
    asker_ref asker;
    spinner_ref spinner;
    tr_system_options options = {.workers = 2, .on_log = on_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &asker, 0, asker, "asker"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &spinner, 1, spinner, "spinner"), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, spinner, TR_NEVER, NULL), TR_OK);
    tr_time start = now();
    ck_assert_int_eq(tr_tell(client, spinner, spin), TR_OK);
    while (!atomic_load(&is_spinning))
        sched_yield();
    tr_tell(client, asker, try_it, .whom = oracle_ref_of(tr_any(spinner)), .which = 2);
    const struct outcome *outcome = tr_receive(client, outcome, TR_NEVER);
    tr_time end = now();
    ck_assert_ptr_nonnull(outcome);
    ck_assert_int_eq(outcome->status, TR_TIMEOUT);
    long long ms = -1;
    const char *words = strstr(outcome->text, "worker 1 has not answered for a millisecond");
    ck_assert_msg(words != NULL, "%s", outcome->text);
    const char *age = strstr(words, "running on it: spin, for ");
    ck_assert_msg(
        age && sscanf(age, "running on it: spin, for %lld ms", &ms) == 1, "%s", outcome->text);
    /* The timeout was 50 ms, all of which it ran; before that, what the machine may take. */
    ck_assert_int_ge(ms, 50);
    ck_assert_int_le(ms, (end - start) / TR_MILLISECOND + 50);
    pthread_mutex_lock(&log_lock);
    HAS(logged, "/user/asker: question was not answered in time: worker 1 has not answered");
    pthread_mutex_unlock(&log_lock);
    atomic_store(&may_end, true);
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

TEST(a_client_is_told_the_story_too, "A-03")
{
    for (int workers = 1; workers <= 3; workers++) {
        struct stage stage = begin(workers);
        oracle_ref last = oracle(&stage, workers - 1, "last", oracle_ref_of(TR_NOBODY));
        oracle_ref first = oracle(&stage, workers / 2, "first", last);
        tr_kit_settle(stage.kit);
        tr_time start_ns = tr_kit_now(stage.kit);
        question_ask asked = tr_ask_within(stage.client, TR_SECOND, first, question, .n = 1);
        ck_assert_int_eq(tr_try_await(stage.client, asked, NULL), TR_TIMEOUT);
        ck_assert_int_eq(tr_kit_now(stage.kit), start_ns + TR_SECOND);
        const char *text = tr_ask_error(stage.client, asked)->text;
        HAS(text,
            "question: /user/first: on_question waits 1000 ms for question at ask_trace_test.c:");
        HAS(text, "; /user/last: the reply was deferred with tr_reply_later");
        tr_kit_check(stage.kit);
        tr_kit_free(stage.kit);
    }
}

SUITE("ask story", a_timeout_names_the_chain_and_where_it_waits,
      a_timeout_never_names_the_line_of_an_earlier_wait,
      a_timeout_says_that_a_request_is_queued_or_stashed, a_timeout_names_the_barrier_in_the_way,
      a_busy_worker_is_named_with_what_it_runs_and_for_how_long, a_client_is_told_the_story_too)
