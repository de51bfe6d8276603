/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why an actor that has failed does not run again: its supervisor is busy, its back-off is not over,
 * children or functions of tr_blocking have not ended, or it waits for its group. On real threads, with
 * a gate that the test opens.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

#define PATIENCE (100 * TR_SECOND)

TR_MESSAGE(linger);
TR_MESSAGE(delegate);
TR_MESSAGE(break_down);
TR_MESSAGE(bear);
TR_ACTOR(subject, linger, delegate, break_down, bear);

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

static tr_next on_break_down(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "row 7");
}

static tr_next on_bear(tr_self *self)
{
    (void)tr_spawn(self, subject, "child");
    return TR_SAME;
}

#define SUBJECT_CLAUSES                                                                            \
    TR_ON(linger, on_linger), TR_ON(delegate, on_delegate), TR_ON(break_down, on_break_down),      \
        TR_ON(bear, on_bear)

TR_BEHAVIOR(subject, void, SUBJECT_CLAUSES);

/* Three supervisors, each with two children on the other worker. */
TR_ACTOR(single, linger);
TR_ACTOR(slow, linger);
TR_ACTOR(all, linger);

static tr_next set_up(tr_self *self)
{
    (void)tr_spawn_at(self, 1, subject, "anna");
    (void)tr_spawn_at(self, 1, subject, "ben");
    return TR_SAME;
}

TR_BEHAVIOR(single, void, TR_SETUP(set_up), TR_ON(linger, on_linger), TR_SUPERVISE(TR_ONE_FOR_ONE));
TR_BEHAVIOR(slow, void, TR_SETUP(set_up), TR_ON(linger, on_linger),
            TR_SUPERVISE(TR_ONE_FOR_ONE, .backoff = {.initial_ns = TR_HOUR, .max_ns = TR_HOUR}));
TR_BEHAVIOR(all, void, TR_SETUP(set_up), TR_ON(linger, on_linger), TR_SUPERVISE(TR_ALL_FOR_ONE));

static tr_system *system_;
static tr_client *client;
static tr_why_report report;
static tr_ref supervisor;
static subject_ref anna;
static subject_ref ben;

static subject_ref find(const char *path)
{
    subject_ref found;
    do {
        found = tr_find(client, subject, path);
    } while (tr_is_nobody(found));
    return found;
}

static void begin(const tr_behavior *behavior)
{
    tr_system_options options = {.size = sizeof options, .workers = 2, .turn_report_ns = -1};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .name = "boss"};
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_spawn(client, &args, &bits), TR_OK);
    supervisor = tr_ref_from_bits(bits);
    anna = find("/user/boss/anna");
    ben = find("/user/boss/ben");
}

static void end(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, 0);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
}

static const tr_reason *find_reason(tr_ref actor, tr_why_kind kind)
{
    ck_assert_int_eq(tr_actor_why(client, actor, &report), TR_OK);
    for (size_t i = 0; i < report.count; i++) {
        if (report.reasons[i].kind == kind)
            return &report.reasons[i];
    }
    return NULL;
}

/* It takes a moment until it has failed, and the others know. */
static const tr_reason *wait_for(subject_ref actor, tr_why_kind kind)
{
    const tr_reason *reason;
    do {
        reason = find_reason(tr_any(actor), kind);
    } while (!reason || !(reason->holds & TR_HOLDS_RESTART));
    return reason;
}

static void wait_until_well(subject_ref actor)
{
    while (!find_reason(tr_any(actor), TR_WHY_IDLE))
        ;
}

TEST(a_supervisor_that_has_not_decided, "O-03")
{
    begin(&tr_behavior_single);
    static const struct linger linger;
    ck_assert_int_eq(tr_client_tell(client, supervisor, &tr_type_linger, &linger), TR_OK);
    gate_await();
    tr_tell(client, anna, break_down);
    tr_tell(client, anna, bear);
    const tr_reason *reason = wait_for(anna, TR_WHY_DECIDING);
    ck_assert_str_eq(reason->text, "failed; the supervisor /user/boss has not decided yet");
    ck_assert_uint_eq(reason->who.bits, supervisor.bits);
    ck_assert_int_ge(reason->age_ns, 0);
    ck_assert_str_eq(report.state, "Suspended");
    ck_assert(strncmp(reason->where, "why_restart_test.c:", 19) == 0);
    /* And why has it not? */
    reason = find_reason(supervisor, TR_WHY_RUNS);
    ck_assert_ptr_nonnull(reason);
    ck_assert_str_eq(reason->text, "on_linger handles linger");
    gate_open();
    wait_until_well(anna);
    end();
}

TEST(a_back_off_that_is_not_over, "O-03")
{
    begin(&tr_behavior_slow);
    tr_tell(client, anna, break_down);
    const tr_reason *reason = wait_for(anna, TR_WHY_BACK_OFF);
    const char *words = "failed (TR_BAD_DATA: row 7); the restart is delayed for another 3";
    ck_assert_msg(strncmp(reason->text, words, strlen(words)) == 0, "%s", reason->text);
    tr_tell(client, anna, bear);
    reason = wait_for(anna, TR_WHY_BACK_OFF);
    ck_assert_uint_eq(reason->holds, TR_HOLDS_RESTART | TR_HOLDS_MAIL);
    end();
}

TEST(a_function_of_tr_blocking_and_the_others_of_its_group, "O-03")
{
    begin(&tr_behavior_all);
    tr_tell(client, ben, delegate);
    gate_await();
    tr_tell(client, anna, break_down);
    const tr_reason *reason = wait_for(ben, TR_WHY_BLOCKING);
    ck_assert_str_eq(reason->text, "on_delegate waits for its function in tr_blocking");
    reason = wait_for(anna, TR_WHY_GROUP);
    ck_assert_str_eq(reason->text, "waits for the other actors that /user/boss restarts with it");
    ck_assert_uint_eq(reason->who.bits, supervisor.bits);
    gate_open();
    wait_until_well(anna);
    wait_until_well(ben);
    end();
}

TEST(children_that_have_not_stopped_before_a_restart, "O-03")
{
    begin(&tr_behavior_single);
    tr_tell(client, anna, bear);
    subject_ref child = find("/user/boss/anna/child");
    tr_tell(client, child, delegate);
    gate_await();
    tr_tell(client, anna, break_down);
    const tr_reason *reason = wait_for(anna, TR_WHY_CHILDREN);
    ck_assert_str_eq(reason->text, "1 child has not stopped: child");
    ck_assert_uint_eq(reason->who.bits, tr_any(child).bits);
    ck_assert_str_eq(report.state, "Starting");
    reason = find_reason(tr_any(child), TR_WHY_BLOCKING);
    ck_assert_ptr_nonnull(reason);
    ck_assert_uint_eq(reason->holds, TR_HOLDS_STOP);
    gate_open();
    wait_until_well(anna);
    end();
}

SUITE("why not restarted", a_supervisor_that_has_not_decided, a_back_off_that_is_not_over,
      a_function_of_tr_blocking_and_the_others_of_its_group,
      children_that_have_not_stopped_before_a_restart)
