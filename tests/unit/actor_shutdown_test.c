/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A failure that reaches the root, as the runtime reports it: what run, wait and the runner make of it.
 */
#include "support/test.h"

#include <string.h>
#include <troupe/troupe.h>

#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"

static const tr_error first = {.status = TR_BAD_DATA, .text = "the first"};
static const tr_error second = {.status = TR_REFUSED, .text = "the second"};

static int stopped;

static tr_next on_start(tr_self *self)
{
    tr__system_escalate(tr_system_of(self), &first);
    tr__system_escalate(tr_system_of(self), &second);
    return TR_SAME;
}

static tr_next on_stop(void)
{
    stopped++;
    return TR_SAME;
}

TR_BEHAVIOR(failing, void, TR_ON(tr_pre_start, on_start), TR_ON(tr_post_stop, on_stop));
TR_BEHAVIOR(quiet, void, TR_ON(tr_post_stop, on_stop));

static void spawn(tr_client *client, const tr_behavior *behavior)
{
    uint64_t bits;
    const tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .worker = -1};
    ck_assert_int_eq(tr_client_try_spawn(client, &args, &bits), TR_OK);
}

TEST(an_escalation_shuts_down_and_the_first_cause_is_kept, "X-01", "X-04")
{
    const tr_system_options options = {
        .size = sizeof options, .workers = 2, .shutdown_timeout_ns = TR_MINUTE};
    tr_system *system;
    tr_client *client;
    tr_error error = {.status = TR_OK};
    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_system_error(system, &error), TR_OK);
    spawn(client, &tr_behavior_quiet);
    spawn(client, &tr_behavior_failing);
    ck_assert_int_eq(tr_system_run(system), TR_ESCALATED);
    ck_assert_int_eq(tr_system_wait(system), TR_ESCALATED);
    ck_assert_int_eq(stopped, 2);
    ck_assert_int_eq(tr_system_error(system, &error), TR_ESCALATED);
    ck_assert_int_eq(error.status, TR_BAD_DATA);
    ck_assert_str_eq(error.text, "the first");
    ck_assert_int_eq(tr_system_error(system, NULL), TR_ESCALATED);
    ck_assert_int_eq(tr_system_error(NULL, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_report(system, &report), TR_OK);
    ck_assert_int_eq(report.status, TR_ESCALATED);
    ck_assert_int_eq(report.timeout_ns, TR_MINUTE);
    tr_client_free(client);
    tr_system_free(system);
}

TEST(an_app_that_escalates_is_status_71, "X-03")
{
    char *argv[] = {(char *)(uintptr_t) "app"};
    ck_assert_int_eq(tr_app_run(1, argv, &tr_behavior_failing, NULL), 71);
}

SUITE("actor shutdown", an_escalation_shuts_down_and_the_first_cause_is_kept,
      an_app_that_escalates_is_status_71)
