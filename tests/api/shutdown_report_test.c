/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a shutdown says of itself: the report, its words, hooks that hang, an escalation.
 */
#include "support/stage.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

TR_MESSAGE(work, (u64, n));
TR_ACTOR(member, work);

/* Threads that are left alone on purpose are no leak. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static tr_system *volatile kept; /* what was left alone on purpose is no leak */

static tr_next on_work(void)
{
    return TR_SAME;
}

/* Takes a little: the clock is the real one. */
static tr_next on_slow_stop(void)
{
    tr_time end_ns = tr_platform_real()->mono_now(tr_platform_real()) + 20 * TR_MILLISECOND;
    while (tr_platform_real()->mono_now(tr_platform_real()) < end_ns)
        ;
    return TR_SAME;
}

TR_BEHAVIOR(member, void, TR_ON(work, on_work));
/*
 * The child takes its time, and its parent stops after it. The parent is on a worker that waits meanwhile, and a worker
 * that waits reads the clock when it is woken; the other one may have got no tick if the machine is busy.
 */
static sem_t is_child_running;

static tr_next on_child_start(void)
{
    (void)sem_post(&is_child_running);
    return TR_SAME;
}

TR_BEHAVIOR(slow_child, void, TR_ON(tr_pre_start, on_child_start),
            TR_ON(tr_post_stop, on_slow_stop));
TR_ACTOR(slow_child);

static tr_next on_slow_start(tr_self *self)
{
    slow_child_ref child;
    return tr_try_spawn_at(self, &child, 0, slow_child, "child") == TR_OK ? TR_SAME : TR_STOP;
}

TR_BEHAVIOR(slow, void, TR_ON(tr_pre_start, on_slow_start));
TR_ACTOR(slow);

/* ---- The words. ---- */

static const char *words(const tr_shutdown_report *report)
{
    static char text[TR_REPORT_TEXT_MAX];
    size_t length = tr_shutdown_report_print(report, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    return text;
}

TEST(a_report_of_what_went_well_is_one_line, "X-04")
{
    tr_shutdown_report report = {.took_ns = 400 * TR_MICROSECOND, .stopped = 12};
    ck_assert_str_eq(words(&report), "stopped in 0.40 ms: 12 actors stopped\n");
    report.stopped = 1;
    report.dead_letters = 3;
    ck_assert_str_eq(words(&report),
                     "stopped in 0.40 ms: 1 actor stopped; 3 messages not handled\n");
}

TEST(a_report_names_all_that_did_not, "X-04", "SH-06", "SH-10")
{
    tr_shutdown_report report = {.status = TR_SHUTDOWN_INCOMPLETE,
                                 .took_ns = 10050 * TR_MILLISECOND,
                                 .timeout_ns = 10 * TR_SECOND,
                                 .stopped = 120,
                                 .forced = 3,
                                 .left = 2,
                                 .dead_letters = 17,
                                 .busy_count = 2,
                                 .slow_count = 1,
                                 .hook_count = 3};
    report.busy[0] = (tr_report_busy){.path = "/user/db",
                                      .type = "flush",
                                      .where = "on_flush",
                                      .worker = 1,
                                      .age_ns = 9 * TR_SECOND};
    report.busy[1] = (tr_report_busy){.path = "/user/loader",
                                      .type = "load",
                                      .where = "tr_blocking",
                                      .worker = -1,
                                      .age_ns = 61 * TR_SECOND};
    report.slow[0] = (tr_report_slow){.path = "/user/cache", .after_ns = 2 * TR_SECOND};
    report.hook[0] =
        (tr_report_hook){.name = "flush metrics", .status = TR_TIMEOUT, .took_ns = TR_SECOND};
    report.hook[1] =
        (tr_report_hook){.name = "say bye", .status = TR_BAD_DATA, .took_ns = TR_MILLISECOND};
    report.hook[2] = (tr_report_hook){.name = "good", .status = TR_OK};
    const char *expected =
        "gave up in 10.1 s: 120 actors stopped, 3 of them killed at the timeout (10.0 s), 2 not "
        "stopped; 17 messages not handled\n"
        "  still busy: /user/db, handling flush for 9000 ms, in on_flush on worker 1\n"
        "  still busy: /user/loader, handling load for 61.0 s, in a function of tr_blocking\n"
        "  hook \"flush metrics\" has not returned after 1000 ms\n"
        "  hook \"say bye\" failed (malformed data) after 1.0 ms\n"
        "  slow to stop: /user/cache, stopped after 2000 ms\n";
    ck_assert_str_eq(words(&report), expected);
    /* A buffer that is too small holds the beginning, and the length is that of the whole. */
    char small[16];
    ck_assert_uint_eq(tr_shutdown_report_print(&report, small, sizeof small), strlen(expected));
    ck_assert_str_eq(small, "gave up in 10.1");
    ck_assert_uint_eq(tr_shutdown_report_print(&report, NULL, 0), strlen(expected));
    ck_assert_uint_eq(tr_shutdown_report_print(NULL, small, sizeof small), 0);
    ck_assert_str_eq(small, "");
}

TEST(the_longest_report_fits, "X-04", "U-01")
{
    static tr_shutdown_report report;
    memset(&report, 0x7f, sizeof report); /* long numbers, texts without an end but their own */
    report.status = TR_SHUTDOWN_INCOMPLETE;
    report.busy_count = 1000;
    report.slow_count = TR_REPORT_SLOW_MAX;
    report.hook_count = TR_HOOKS_MAX;
    for (int i = 0; i < TR_REPORT_BUSY_MAX; i++) {
        report.busy[i].path[sizeof report.busy[i].path - 1] = '\0';
        report.busy[i].type[sizeof report.busy[i].type - 1] = '\0';
        report.busy[i].where[sizeof report.busy[i].where - 1] = '\0';
    }
    for (int i = 0; i < TR_REPORT_SLOW_MAX; i++)
        report.slow[i].path[sizeof report.slow[i].path - 1] = '\0';
    for (int i = 0; i < TR_REPORT_ACTORS_MAX; i++) {
        report.actor[i].path[sizeof report.actor[i].path - 1] = '\0';
        report.actor[i].is_forced = true;
    }
    for (int i = 0; i < TR_HOOKS_MAX; i++) {
        report.hook[i].name[sizeof report.hook[i].name - 1] = '\0';
        report.hook[i].status = TR_MAILBOX_FULL;
    }
    ck_assert_uint_lt(tr_shutdown_report_print(&report, NULL, 0), TR_REPORT_TEXT_MAX);
}

/* ---- The numbers. ---- */

static tr_shutdown_report end(struct theatre *theatre, tr_time timeout_ns, tr_status expected)
{
    tr_shutdown_report report;
    ck_assert_int_eq(tr_system_report(theatre->system, &report), TR_INVALID_TRANSITION);
    tr_system_shutdown(theatre->system, timeout_ns);
    ck_assert_int_eq(tr_system_wait(theatre->system), expected);
    ck_assert_int_eq(tr_system_wait(theatre->system), expected);
    ck_assert_int_eq(tr_system_report(theatre->system, &report), TR_OK);
    ck_assert_int_eq(report.status, expected);
    ck_assert_int_ge(report.took_ns, 0);
    return report;
}

static member_ref put(struct theatre *theatre, const char *name)
{
    member_ref member;
    ck_assert_int_eq(tr_try_spawn(theatre->client, &member, member, name), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(theatre->client, member, TR_NEVER, NULL), TR_OK);
    return member;
}

TEST(the_sums_of_a_report_are_those_of_the_counters, "X-04", "SH-09")
{
    struct theatre theatre = theatre_open(2);
    member_ref member = put(&theatre, "m");
    for (uint64_t i = 0; i < 1000; i++)
        tr_tell(theatre.client, member, work, .n = i);
    tr_shutdown_report report = end(&theatre, STAGE_PATIENCE, TR_OK);
    tr_counters counters;
    tr_system_counters(theatre.system, &counters);
    ck_assert_uint_eq(report.stopped, 1);
    ck_assert_uint_eq(report.forced, 0);
    ck_assert_uint_eq(report.left, 0);
    ck_assert_uint_eq(report.busy_count, 0);
    ck_assert_uint_le(report.handled, 1000);
    ck_assert_uint_eq(counters.accepted, counters.handled + counters.dead_letters);
    tr_client_free(theatre.client);
    tr_system_free(theatre.system);
}

TEST(the_slowest_are_named_with_their_time, "X-04")
{
    struct theatre theatre = theatre_open(2);
    slow_ref slow;
    ck_assert_int_eq(sem_init(&is_child_running, 0, 0), 0);
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &slow, 1, slow, "slow"), TR_OK);
    ck_assert_int_eq(sem_wait(&is_child_running), 0);
    tr_shutdown_report report = end(&theatre, STAGE_PATIENCE, TR_OK);
    ck_assert_uint_ge(report.slow_count, 1);
    /* Or its child, if the parent was less than a millisecond slower. */
    ck_assert(strcmp(report.slow[0].path, "/user/slow") == 0 ||
              strcmp(report.slow[0].path, "/user/slow/child") == 0);
    ck_assert_int_ge(report.slow[0].after_ns, 15 * TR_MILLISECOND);
    ck_assert_int_ge(report.took_ns, report.slow[0].after_ns);
    tr_client_free(theatre.client);
    tr_system_free(theatre.system);
}

/* ---- Hooks on threads. ---- */

static _Atomic char hook_order[8];
static atomic_int hook_count;

static const char *order_of_hooks(void)
{
    static char text[sizeof hook_order];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = atomic_load(&hook_order[i]);
    return text;
}

static tr_status mark(void *context)
{
    atomic_store(&hook_order[atomic_fetch_add(&hook_count, 1)], *(const char *)context);
    return TR_OK;
}

static tr_status mark_failing(void *context)
{
    (void)mark(context);
    return TR_REFUSED;
}

/* It leaves no mark: on a busy machine its time may be up before its thread has begun. */
static tr_status hang_hook(void *context)
{
    (void)context;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return TR_OK;
}

static void add(struct theatre *theatre, tr_hook_phase phase, const char *name, tr_time timeout_ns,
                tr_status (*function)(void *context))
{
    ck_assert_int_eq(
        tr_system_add_hook(
            theatre->system, phase, name, timeout_ns, function, (void *)(uintptr_t)name),
        TR_OK);
}

TEST(hooks_of_both_phases_run_in_order, "X-05", "SH-10", "TM-15")
{
    struct theatre theatre = theatre_open(2);
    add(&theatre, TR_AFTER_STOP, "c", 0, mark_failing);
    add(&theatre, TR_BEFORE_STOP, "a", 0, mark_failing);
    add(&theatre, TR_AFTER_STOP, "d", 0, mark);
    add(&theatre, TR_BEFORE_STOP, "b", 0, mark);
    (void)put(&theatre, "m");
    tr_shutdown_report report = end(&theatre, STAGE_PATIENCE, TR_OK);
    ck_assert_str_eq(order_of_hooks(), "abcd");
    ck_assert_uint_eq(report.hook_count, 4);
    ck_assert_str_eq(report.hook[0].name, "a");
    ck_assert_int_eq(report.hook[0].status, TR_REFUSED);
    ck_assert_str_eq(report.hook[1].name, "c");
    ck_assert_int_eq(report.hook[2].status, TR_OK);
    tr_client_free(theatre.client);
    tr_system_free(theatre.system);
}

TEST(a_hook_that_hangs_stops_no_other, "X-05", "SH-10")
{
    struct theatre theatre = theatre_open(2);
    pthread_mutex_lock(&gate);
    add(&theatre, TR_BEFORE_STOP, "a", TR_MILLISECOND, hang_hook);
    add(&theatre, TR_BEFORE_STOP, "b", 0, mark);
    add(&theatre, TR_AFTER_STOP, "c", TR_MILLISECOND, hang_hook);
    add(&theatre, TR_AFTER_STOP, "d", 0, mark);
    (void)put(&theatre, "m");
    tr_shutdown_report report = end(&theatre, STAGE_PATIENCE, TR_SHUTDOWN_INCOMPLETE);
    ck_assert_str_eq(order_of_hooks(), "bd");
    ck_assert_uint_eq(report.stopped, 1);
    ck_assert_uint_eq(report.busy_count, 0);
    ck_assert_str_eq(report.hook[0].name, "a");
    ck_assert_int_eq(report.hook[0].status, TR_TIMEOUT);
    ck_assert_str_eq(report.hook[1].name, "c");
    ck_assert_int_eq(report.hook[1].status, TR_TIMEOUT);
    pthread_mutex_unlock(&gate);
    tr_client_free(theatre.client);
    kept = theatre.system;
    tr_system_free(theatre.system);
}

/* ---- From all sides at once. ---- */

static void *shut_too(void *context)
{
    tr_system_shutdown(context, STAGE_PATIENCE);
    return (void *)(intptr_t)tr_system_wait(context);
}

TEST(two_threads_may_shut_down_at_once_and_both_wait, "X-01", "SH-02")
{
    for (int i = 0; i < 50; i++) {
        struct theatre theatre = theatre_open(2);
        pthread_t threads[2];
        void *result;
        (void)put(&theatre, "m");
        for (int k = 0; k < 2; k++)
            ck_assert_int_eq(pthread_create(&threads[k], NULL, shut_too, theatre.system), 0);
        for (int k = 0; k < 2; k++) {
            ck_assert_int_eq(pthread_join(threads[k], &result), 0);
            ck_assert_int_eq((intptr_t)result, TR_OK);
        }
        theatre_close(&theatre);
    }
}

SUITE("shutdown report", a_report_of_what_went_well_is_one_line, a_report_names_all_that_did_not,
      the_longest_report_fits, the_sums_of_a_report_are_those_of_the_counters,
      the_slowest_are_named_with_their_time, hooks_of_both_phases_run_in_order,
      a_hook_that_hangs_stops_no_other, two_threads_may_shut_down_at_once_and_both_wait)
