/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why, on real threads: a worker that does not answer, functions of tr_blocking that do not return, and
 * questions by many about actors that come, go, wait and stop meanwhile.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

#include "os/atomic.h"

#define PATIENCE (100 * TR_SECOND)

TR_MESSAGE(linger);
TR_MESSAGE(delegate);
TR_MESSAGE(chat);
TR_ACTOR(subject, linger, delegate, chat);

/* Handlers and functions wait here until the test opens it. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int inside;
    bool is_open;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void gate_pass(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&gate.mutex);
    gate.inside++;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.is_open)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    gate.inside--;
    pthread_mutex_unlock(&gate.mutex);
}

static void gate_await(void)
{
    pthread_mutex_lock(&gate.mutex);
    while (!gate.inside)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

static void gate_open(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.is_open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static tr_next on_linger(void)
{
    gate_pass(NULL);
    return TR_SAME;
}

static tr_next on_delegate(tr_self *self)
{
    (void)tr_blocking(self, gate_pass, NULL);
    return TR_SAME;
}

static tr_next on_chat(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(subject, void, TR_ON(linger, on_linger), TR_ON(delegate, on_delegate),
            TR_ON(chat, on_chat));

static tr_system *system_;
static tr_client *client;
static tr_why_report report;

static void begin(int workers)
{
    tr_system_options options = {.size = sizeof options, .workers = workers, .turn_report_ns = -1};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
}

static void end(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, PATIENCE);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
}

static const tr_reason *the_reason(tr_why_kind kind)
{
    ck_assert_uint_eq(report.count, 1);
    ck_assert_msg(report.reasons[0].kind == kind,
                  "%s: %s",
                  tr_why_name(report.reasons[0].kind),
                  report.reasons[0].text);
    return &report.reasons[0];
}

TEST(a_worker_that_does_not_answer_is_the_reason, "O-03")
{
    subject_ref busy;
    subject_ref idle;
    begin(1);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &busy, subject, "busy"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &idle, subject, "idle"), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, idle, PATIENCE, NULL), TR_OK);
    ck_assert_int_eq(tr_tell(client, busy, linger), TR_OK);
    gate_await();
    ck_assert_int_eq(tr_tell(client, idle, chat), TR_OK);
    ck_assert_int_eq(tr_actor_why(client, idle, &report), TR_OK);
    const tr_reason *reason = the_reason(TR_WHY_WORKER_BUSY);
    ck_assert_str_eq(reason->text, "on_linger handles linger of /user/busy");
    ck_assert_uint_eq(reason->who.bits, tr_any(busy).bits);
    ck_assert_uint_eq(reason->holds, TR_HOLDS_MAIL | TR_HOLDS_STOP);
    ck_assert(strncmp(reason->where, "worker 0, why_threads_test.c:", 29) == 0);
    /* The watch has seen it, at the latest when the answer was overdue. */
    ck_assert_int_gt(reason->age_ns, 0);
    ck_assert_str_eq(report.path, "/user/idle");
    ck_assert_str_eq(report.state, "?");
    ck_assert_int_eq(tr_actor_why(client, busy, &report), TR_OK);
    reason = the_reason(TR_WHY_RUNS);
    ck_assert_str_eq(reason->text, "on_linger handles linger");
    gate_open();
    /* The late answers are no dead letters. */
    ck_assert_int_eq(tr_actor_why(client, idle, &report), TR_OK);
    the_reason(TR_WHY_IDLE);
    ck_assert_uint_eq(tr_system_dead_letters(system_, NULL, 0, NULL), 0);
    end();
}

TEST(one_that_nobody_runs_has_not_started, "O-03")
{
    subject_ref subject;
    begin(1);
    ck_assert_int_eq(tr_try_spawn(client, &subject, subject, "subject"), TR_OK);
    ck_assert_int_eq(tr_actor_why(client, subject, &report), TR_OK);
    const tr_reason *reason = the_reason(TR_WHY_NOT_STARTED);
    ck_assert_uint_eq(reason->holds, TR_HOLDS_START | TR_HOLDS_MAIL | TR_HOLDS_STOP);
    tr_client_free(client);
    tr_system_free(system_);
}

TEST(a_function_of_tr_blocking_holds_up_a_stop, "O-03")
{
    subject_ref subject;
    begin(2);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &subject, subject, "subject"), TR_OK);
    ck_assert_int_eq(tr_tell(client, subject, delegate), TR_OK);
    gate_await();
    ck_assert_int_eq(tr_actor_why(client, subject, &report), TR_OK);
    ck_assert_uint_eq(the_reason(TR_WHY_BLOCKING)->holds, 0);
    (void)tr_stop(client, subject);
    do {
        ck_assert_int_eq(tr_actor_why(client, subject, &report), TR_OK);
        /* The order has put it into the queue of its worker, where it may be seen. */
    } while (report.count > 1);
    ck_assert_uint_eq(the_reason(TR_WHY_BLOCKING)->holds, TR_HOLDS_STOP);
    ck_assert_str_eq(report.reasons[0].text, "on_delegate waits for its function in tr_blocking");
    /* A kill cancels turns that wait, but not a function that runs. */
    (void)tr_kill(client, subject);
    do {
        ck_assert_int_eq(tr_actor_why(client, subject, &report), TR_OK);
        /* It may be seen on its way there, when it still runs. */
    } while (strcmp(report.state, "Stopping") != 0 || report.count > 1);
    ck_assert_uint_eq(the_reason(TR_WHY_BLOCKING)->holds, TR_HOLDS_STOP);
    gate_open();
    do {
        ck_assert_int_eq(tr_actor_why(client, subject, &report), TR_OK);
    } while (report.reasons[0].kind != TR_WHY_GONE);
    end();
}

/* ---- A crowd. ---- */

TR_MESSAGE(answer, (u64, n));
TR_REQUEST(question, answer);
TR_MESSAGE(churn, (u32, left));
TR_ACTOR(churner, churn, question);

enum { CHURNERS = 8, ROUNDS = TEST_HAS_SANITIZER ? 200 : 2000, ASKERS = 2 };

static tr_ref crowd[CHURNERS];
static atom64 last_child; /* a ref */
static atom32 is_over;
static atom64 looks;

static tr_next on_question(tr_self *self)
{
    return tr_reply(self, answer, .n = 1);
}

/* Spawns, names, stops, asks its neighbour, and looks why the last child does what it does. */
static tr_next on_churn(tr_self *self, const struct churn *message)
{
    static const struct question question;
    const void *reply;
    churner_ref child;
    tr_why_report *seen = tr_alloc(self, sizeof *seen);
    char name[32];
    snprintf(name, sizeof name, "c%u", message->left % 3);
    if (tr_try_spawn(self, &child, churner, message->left % 2 ? name : NULL) == TR_OK) {
        atom64_store(&last_child, tr_any(child).bits, ATOM_RELAXED);
        if (message->left % 5 == 0)
            (void)tr_suspend(self, child);
        (void)tr_stop(self, child);
    }
    tr_ref neighbour = crowd[message->left % CHURNERS];
    tr_pending asked = tr_self_ask(self, neighbour, &tr_type_question, &question, TR_SECOND);
    if (tr_self_try_await(self, asked, &reply) == TR_CANCELLED)
        return TR_SAME;
    tr_ref whom = tr_ref_from_bits(atom64_load(&last_child, ATOM_RELAXED));
    if (tr_actor_why(self, whom, seen) == TR_OK) {
        ck_assert_uint_gt(seen->count, 0);
        atom64_fetch_add(&looks, 1, ATOM_RELAXED);
    }
    tr_free(self, seen);
    if (message->left)
        (void)tr_self_tell(
            self, tr_me(self), &tr_type_churn, &(struct churn){.left = message->left - 1});
    else
        atom32_fetch_add(&is_over, 1, ATOM_RELEASE);
    return TR_SAME;
}

TR_BEHAVIOR(churner, void, TR_ON(churn, on_churn), TR_ON(question, on_question));

static void *ask_all(void *argument)
{
    tr_client *mine = argument;
    tr_why_report seen;
    char text[4096];
    for (uint32_t i = 0; atom32_load(&is_over, ATOM_ACQUIRE) < CHURNERS; i++) {
        tr_ref whom = i % 2 ? crowd[i / 2 % CHURNERS]
                            : tr_ref_from_bits(atom64_load(&last_child, ATOM_RELAXED));
        ck_assert_int_eq(tr_actor_why(mine, whom, &seen), TR_OK);
        ck_assert_uint_gt(seen.count, 0);
        ck_assert_uint_gt(tr_why_print(&seen, text, sizeof text), 0);
        atom64_fetch_add(&looks, 1, ATOM_RELAXED);
    }
    return NULL;
}

TEST(a_crowd_is_asked_while_it_comes_and_goes, "O-03")
{
    pthread_t threads[ASKERS];
    tr_client *clients[ASKERS];
    begin(2);
    for (int i = 0; i < CHURNERS; i++) {
        churner_ref one;
        ck_assert_int_eq(tr_try_spawn_at(client, &one, i % 2, churner, NULL), TR_OK);
        crowd[i] = tr_any(one);
    }
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    for (int i = 0; i < CHURNERS; i++)
        ck_assert_int_eq(
            tr_client_tell(client, crowd[i], &tr_type_churn, &(struct churn){.left = ROUNDS}),
            TR_OK);
    for (int i = 0; i < ASKERS; i++) {
        ck_assert_int_eq(tr_client_new(system_, &clients[i]), TR_OK);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_all, clients[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        tr_client_free(clients[i]);
    }
    ck_assert_uint_gt(atom64_load(&looks, ATOM_RELAXED), ROUNDS);
    end();
}

SUITE("why on threads", a_worker_that_does_not_answer_is_the_reason,
      one_that_nobody_runs_has_not_started, a_function_of_tr_blocking_holds_up_a_stop,
      a_crowd_is_asked_while_it_comes_and_goes)
