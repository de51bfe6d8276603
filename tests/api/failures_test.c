/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a user sees of a failure: a line of the log, a signal, a status, counters.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include <troupe/troupe.h>

TR_MESSAGE(note, (u64, n));
TR_REQUEST(work, note, (u64, n));
TR_MESSAGE(try_it);
TR_ACTOR(worker, work);
TR_ACTOR(boss, try_it);
TR_ACTOR(broken);

/* ---- A system in this thread, and its log. ---- */

static char log_text[4096];

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    size_t length = strlen(log_text);
    snprintf(log_text + length,
             sizeof log_text - length,
             "%d %s: %s\n",
             (int)level,
             path ? path : "-",
             text);
}

static tr_system *stage;
static tr_client *client;

static void open_stage(void)
{
    const tr_system_options options = {.size = sizeof options, .workers = 1, .on_log = on_log};
    ck_assert_int_eq(tr_system_new(&options, &stage), TR_OK);
    ck_assert_int_eq(tr_client_new(stage, &client), TR_OK);
    log_text[0] = '\0';
}

static void run(void)
{
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(tr_system_run_once(stage, 0), TR_OK);
}

static void close_stage(void)
{
    tr_client_free(client);
    tr_system_free(stage);
}

static int lines(void)
{
    int count = 0;
    for (const char *at = strchr(log_text, '\n'); at; at = strchr(at + 1, '\n'))
        count++;
    return count;
}

/* ---- A set-up that fails. ---- */

static tr_next break_down(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "no disk");
}
TR_BEHAVIOR(broken, void, TR_SETUP(break_down));

static tr_status tried;
static tr_error tried_error;
static tr_next on_try_it(tr_self *self)
{
    broken_ref child;
    tried = tr_try_spawn_error(self, &child, &tried_error, broken, "child");
    return TR_SAME;
}

static tr_error told;
static tr_directive told_directive;
static unsigned told_count;
static tr_next on_child_failed(const struct tr_child_failed *message)
{
    told_directive = message->directive;
    told = message->cause;
    told_count++;
    return TR_SAME;
}

TR_BEHAVIOR(boss, void, TR_ON(try_it, on_try_it), TR_ON(tr_child_failed, on_child_failed),
            TR_CHILD(worker, "anna"));

TEST(a_set_up_that_nobody_waits_for_fails_in_the_log, "L-04", "LC-04")
{
    open_stage();
    broken_ref broken;
    ck_assert_int_eq(tr_try_spawn(client, &broken, broken, "disk"), TR_OK);
    run();
    ck_assert_msg(strstr(log_text, "3 /user: child broken did not start: TR_BAD_DATA: no disk\n"),
                  "%s",
                  log_text);
    ck_assert_int_eq(lines(), 1); /* and it is not tried again */
    ck_assert(tr_is_nobody(tr_find(client, broken, "/user/disk")));
    ck_assert_int_eq(tr_spawn_wait(client, broken, 0, NULL), TR_INIT_FAILED);
    close_stage();
}

TEST(a_set_up_that_somebody_waits_for_fails_there, "L-04", "LC-05")
{
    open_stage();
    boss_ref boss;
    told_count = 0;
    ck_assert_int_eq(tr_try_spawn(client, &boss, boss, "boss"), TR_OK);
    tr_tell(client, boss, try_it);
    run();
    ck_assert_int_eq(tried, TR_INIT_FAILED);
    ck_assert_int_eq(tried_error.status, TR_BAD_DATA);
    ck_assert_str_eq(tried_error.text, "no disk");
    ck_assert_str_eq(log_text, "");
    ck_assert_uint_eq(told_count, 0);
    close_stage();
}

/* ---- A turn that fails. ---- */

static tr_next on_work(tr_self *self, const struct work *message)
{
    if (message->n == 0)
        return tr_fail(self, TR_BAD_DATA, "row %d", 7);
    return tr_reply(self, note, .n = message->n);
}
TR_BEHAVIOR(worker, void, TR_ON(work, on_work));

TEST(a_failure_is_a_line_a_signal_a_status_and_a_count, "S-10", "G-03", "A-01")
{
    open_stage();
    boss_ref boss;
    told_count = 0;
    ck_assert_int_eq(tr_try_spawn(client, &boss, boss, "boss"), TR_OK);
    run();
    worker_ref anna = tr_find(client, worker, "/user/boss/anna");
    work_ask bad = tr_ask_within(client, TR_MINUTE, anna, work, .n = 0);
    work_ask good = tr_ask_within(client, TR_MINUTE, anna, work, .n = 5);
    run();
    /* The line. */
    ck_assert_int_eq(lines(), 1);
    ck_assert_msg(strstr(log_text,
                         "3 /user/boss/anna: failed in work: TR_BAD_DATA: row 7 (incarnation 1 of "
                         "worker, "),
                  "%s",
                  log_text);
    /* The signal. */
    ck_assert_uint_eq(told_count, 1);
    ck_assert_int_eq(told_directive, TR_RESTART);
    ck_assert_int_eq(told.status, TR_BAD_DATA);
    ck_assert_str_eq(told.text, "row 7");
    ck_assert_str_eq(told.where, "work");
    ck_assert(tr_is_same(told.actor, anna));
    /* Who asked; and who was behind it. */
    const struct note *reply;
    ck_assert_int_eq(tr_try_await(client, bad, &reply), TR_FAILED);
    ck_assert_int_eq(tr_try_await(client, good, &reply), TR_OK);
    ck_assert_uint_eq(reply->n, 5);
    /* The counters. */
    tr_counters counters;
    tr_system_counters(stage, &counters);
    ck_assert_uint_eq(counters.failures, 1);
    ck_assert_uint_eq(counters.restarts, 1);
    ck_assert_uint_eq(counters.dead_letters, 0);
    close_stage();
}

/* ---- A suspended actor is no place to put things. ---- */

TR_ACTOR(narrow, note);
static uint64_t noted;
static tr_next on_note(const struct note *message)
{
    noted += message->n;
    return TR_SAME;
}
TR_BEHAVIOR(narrow, void, TR_ON(note, on_note), TR_OPTIONS(.mailbox_max = 2));

TEST(a_suspended_actor_takes_mail_up_to_its_bound, "Y-03", "M-02")
{
    open_stage();
    narrow_ref narrow;
    tr_dead_letter_record letter;
    noted = 0;
    ck_assert_int_eq(tr_try_spawn(client, &narrow, narrow, "narrow"), TR_OK);
    run();
    ck_assert_int_eq(tr_suspend(client, narrow), TR_OK);
    run();
    ck_assert_int_eq(tr_tell(client, narrow, note, .n = 1), TR_OK);
    ck_assert_int_eq(tr_tell(client, narrow, note, .n = 10), TR_OK);
    ck_assert_int_eq(tr_tell(client, narrow, note, .n = 100), TR_MAILBOX_FULL);
    run();
    ck_assert_uint_eq(noted, 0);
    ck_assert_uint_eq(tr_system_dead_letters(stage, &letter, 1, NULL), 1);
    ck_assert_int_eq(letter.reason, TR_MAILBOX_FULL);
    ck_assert_int_eq(tr_resume(client, narrow), TR_OK);
    run();
    ck_assert_uint_eq(noted, 11);
    close_stage();
}

SUITE("failures", a_set_up_that_nobody_waits_for_fails_in_the_log,
      a_set_up_that_somebody_waits_for_fails_there,
      a_failure_is_a_line_a_signal_a_status_and_a_count,
      a_suspended_actor_takes_mail_up_to_its_bound)
