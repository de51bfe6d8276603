/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the report of a shutdown says of single actors: handled, missed, forced, when they ended.
 */
#include "support/stage.h"

#include <pthread.h>
#include <semaphore.h>

TR_MESSAGE(work, (u64, n));
TR_MESSAGE(doze);
TR_ACTOR(member, work, doze);

/* Threads that are left alone on purpose are no leak. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}

static sem_t is_blocking;
static sem_t all_are_told;
static sem_t never;
static tr_system *volatile kept; /* what was left alone on purpose is no leak */

static tr_next on_work(void)
{
    return TR_SAME;
}

static tr_next on_doze(tr_self *self)
{
    (void)tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}

static tr_next on_stuck(void)
{
    await(&never);
    return TR_SAME;
}

static tr_next on_block(void)
{
    sem_post(&is_blocking);
    await(&all_are_told);
    return TR_SAME;
}

/* Those who were started before it have been told to stop when it has. */
static tr_next on_herald_stop(void)
{
    sem_post(&all_are_told);
    return TR_SAME;
}

TR_BEHAVIOR(member, void, TR_ON(work, on_work), TR_ON(doze, on_doze));
TR_BEHAVIOR(stuck, void, TR_ON(work, on_work), TR_ON(tr_post_stop, on_stuck));
TR_ACTOR(stuck, work);
TR_BEHAVIOR(blocker, void, TR_ON(work, on_block));
TR_ACTOR(blocker, work);
TR_BEHAVIOR(herald, void, TR_ON(tr_post_stop, on_herald_stop));
TR_ACTOR(herald);

static member_ref put(struct stage *stage, const char *name)
{
    member_ref member;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &member, stage_far(stage), member, name),
                     TR_OK);
    tr_kit_settle(stage->kit);
    return member;
}

static void tell(tr_client *client, tr_ref to, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        ck_assert_int_eq(tr_tell(client, to, work, .n = i), TR_OK);
}

static void shut(struct stage *stage, tr_time timeout_ns, tr_shutdown_report *report)
{
    tr_system *system = tr_kit_system(stage->kit);
    tr_system_shutdown(system, timeout_ns);
    tr_kit_settle(stage->kit);
    tr_kit_advance(stage->kit, timeout_ns);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_int_eq(tr_system_report(system, report), TR_OK);
}

static void play_each(struct stage *stage)
{
    static tr_shutdown_report report;
    (void)put(stage, "idle");
    member_ref busy = put(stage, "busy");
    member_ref held = put(stage, "held");
    member_ref late = put(stage, "late");
    tr_tell(stage->client, late, doze);
    ck_assert_int_eq(tr_suspend(stage->client, held), TR_OK);
    tr_kit_settle(stage->kit);
    tell(stage->client, tr_any(held), 5);
    tell(stage->client, tr_any(busy), 10);
    shut(stage, 10 * TR_SECOND, &report);

    ck_assert_uint_le(report.handled, 11);
    ck_assert_uint_eq(report.dead_letters, 5);
    ck_assert_uint_eq(report.forced, 1);
    ck_assert_uint_ge(report.actor_count, 2);
    const tr_report_actor *line = &report.actor[0];
    ck_assert_str_eq(line->path, "/user/held");
    ck_assert_uint_eq(line->handled, 0);
    ck_assert_uint_eq(line->dead_letters, 5);
    ck_assert(!line->is_forced);
    ck_assert_int_eq(line->after_ns, 0);
    line = &report.actor[1];
    ck_assert_str_eq(line->path, "/user/late");
    ck_assert_uint_eq(line->handled, 1);
    ck_assert_uint_eq(line->dead_letters, 0);
    ck_assert(line->is_forced);
    ck_assert_int_eq(line->after_ns, 10 * TR_SECOND);
    /* What a worker handled before it knew is nobody's: a single one knows at once. */
    if (stage->workers > 1 && report.actor_count == 2)
        return;
    line = &report.actor[2];
    ck_assert_uint_eq(report.actor_count, 3);
    ck_assert_str_eq(line->path, "/user/busy");
    ck_assert_uint_le(line->handled, 10);
    ck_assert_uint_eq(line->dead_letters, 0);
    if (stage->workers == 1) {
        ck_assert_uint_eq(line->handled, 10);
        ck_assert_uint_eq(report.handled, 11);
    }
    static char text[TR_REPORT_TEXT_MAX];
    (void)tr_shutdown_report_print(&report, text, sizeof text);
    const char *expected =
        "stopped in 10.0 s: 4 actors stopped, 1 of them killed at the timeout (10.0 s); 5 messages "
        "not handled\n"
        "  /user/held stopped after 0.00 ms: 0 messages handled, 5 not handled\n"
        "  /user/late was killed after 10.0 s: 1 message handled, 0 not handled\n"
        "  slow to stop: /user/late, stopped after 10.0 s\n";
    ck_assert_str_eq(text, expected);
}

TEST(each_actor_that_has_something_to_tell_has_its_numbers, "X-04", "SH-09")
{
    stage_play(play_each);
}

/* The sum of all lines is that of the report, which is that of the counters. */
static void play_many(struct stage *stage)
{
    enum { COUNT = 3 * TR_REPORT_ACTORS_MAX };
    static tr_shutdown_report report;
    char name[8];
    uint64_t missed = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        (void)snprintf(name, sizeof name, "m%u", (unsigned)i);
        member_ref member = put(stage, name);
        ck_assert_int_eq(tr_suspend(stage->client, member), TR_OK);
        tr_kit_settle(stage->kit);
        uint64_t count = i * 7 % COUNT; /* all different, in no order */
        tell(stage->client, tr_any(member), count);
        missed += count;
    }
    shut(stage, TR_HOUR, &report);
    ck_assert_uint_eq(report.dead_letters, missed);
    ck_assert_uint_eq(report.actor_count, COUNT - 1); /* one had nothing to tell */
    for (uint64_t i = 0; i < TR_REPORT_ACTORS_MAX; i++) {
        ck_assert_uint_eq(report.actor[i].dead_letters, COUNT - 1 - i);
        (void)snprintf(name, sizeof name, "%s", report.actor[i].path + sizeof "/user/m" - 1);
        ck_assert_uint_eq(strtoul(name, NULL, 10) * 7 % COUNT, COUNT - 1 - i);
    }
}

TEST(those_that_lost_most_are_named_and_all_are_counted, "X-04", "SH-09", "U-01")
{
    stage_play(play_many);
}

static void play_no_memory(struct stage *stage)
{
    static tr_shutdown_report report;
    member_ref held = put(stage, "held");
    ck_assert_int_eq(tr_suspend(stage->client, held), TR_OK);
    tr_kit_settle(stage->kit);
    tell(stage->client, tr_any(held), 5);
    tr_kit_fail_allocation(stage->kit, 1, true);
    shut(stage, TR_HOUR, &report);
    tr_kit_fail_allocation(stage->kit, 0, false);
    ck_assert_uint_eq(report.dead_letters, 5);
    ck_assert_uint_eq(report.actor_count, 0);
}

TEST(without_memory_there_are_no_numbers_of_each, "SH-09", "U-03")
{
    stage_play(play_no_memory);
}

/* One whose function does not return has handled what it has. */
TEST(one_that_has_not_stopped_is_there_too, "X-01", "X-04", "SH-09")
{
    static tr_shutdown_report report;
    struct theatre theatre = theatre_open(2);
    blocker_ref blocker;
    stuck_ref stuck;
    herald_ref herald;
    ck_assert_int_eq(sem_init(&never, 0, 0), 0);
    ck_assert_int_eq(sem_init(&all_are_told, 0, 0), 0);
    ck_assert_int_eq(sem_init(&is_blocking, 0, 0), 0);
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &blocker, 1, blocker, "b"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &stuck, 1, stuck, "s"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(theatre.client, &herald, 0, herald, "h"), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(theatre.client, stuck, TR_NEVER, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(theatre.client, herald, TR_NEVER, NULL), TR_OK);
    tell(theatre.client, tr_any(blocker), 1);
    await(&is_blocking);
    tell(theatre.client, tr_any(stuck), 3);
    tr_system_shutdown(theatre.system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(theatre.system), TR_SHUTDOWN_INCOMPLETE);
    ck_assert_int_eq(tr_system_report(theatre.system, &report), TR_OK);
    ck_assert_uint_ge(report.left, 1);
    ck_assert_uint_eq(report.busy_count, 1);
    ck_assert_str_eq(report.busy[0].path, "/user/s");
    static char text[TR_REPORT_TEXT_MAX];
    (void)tr_shutdown_report_print(&report, text, sizeof text);
    ck_assert_str_eq(report.actor[0].path, "/user/s");
    ck_assert_uint_eq(report.actor[0].handled, 3);
    ck_assert_int_eq(report.actor[0].after_ns, -1);
    ck_assert_ptr_nonnull(
        strstr(text, "  /user/s has not stopped: 3 messages handled, 0 not handled\n"));
    kept = theatre.system;
}

SUITE("shutdown actors", each_actor_that_has_something_to_tell_has_its_numbers,
      those_that_lost_most_are_named_and_all_are_counted,
      without_memory_there_are_no_numbers_of_each, one_that_has_not_stopped_is_there_too)
