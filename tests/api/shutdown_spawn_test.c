/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spawns of threads that are no workers, in the middle of which a system is shut down and runs until it
 * has nothing more to do: each is refused, or its actor ends with all that an end promises.
 *
 * The system runs in the test's own loop. Its memory comes from the test, so a spawn that asks for
 * memory can be stopped there, as if its thread had lost the CPU.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <troupe/pool.h>
#include <troupe/system.h>
#include <troupe/troupe.h>

TR_MESSAGE(note);
TR_ACTOR(child, note);

static int handled;
static int posts;

static tr_next on_note(void)
{
    handled++;
    return TR_SAME;
}
static tr_next on_post_stop(void)
{
    posts++;
    return TR_SAME;
}
TR_BEHAVIOR(child, void, TR_ON(note, on_note), TR_ON(tr_post_stop, on_post_stop));

/* ---- A world in which memory takes long. ---- */

enum { RUNS_MAX = 100 };

static struct world {
    tr_system *system;
    tr_client *client;
    int skip;   /* allocations before the one in which the system is shut down; -1: none */
    bool fails; /* that allocation gives nothing */
    bool was_over;
    bool has_met; /* it came to that */
} world;

/* Until it is over, or many times. */
static tr_status run_on(void)
{
    tr_status status = TR_OK;
    for (int i = 0; i < RUNS_MAX && status == TR_OK; i++)
        status = tr_system_run_once(world.system, 0);
    return status;
}

static void *slow_resize(void *context, void *memory, size_t size)
{
    (void)context;
    if (size && !memory && world.skip >= 0 && world.skip-- == 0) {
        world.has_met = true;
        tr_system_shutdown(world.system, TR_MINUTE);
        world.was_over = run_on() == TR_STOPPED;
        if (world.fails)
            return NULL;
    }
    if (size)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void begin(void)
{
    world = (struct world){.skip = -1};
    handled = posts = 0;
    tr_system_options options = {
        .size = sizeof options, .workers = 1, .resize = slow_resize, .on_log = quiet};
    ck_assert_int_eq(tr_system_new(&options, &world.system), TR_OK);
    ck_assert_int_eq(tr_client_new(world.system, &world.client), TR_OK);
    ck_assert_int_eq(run_on(), TR_OK);
}

static void end(void)
{
    tr_counters counters;
    ck_assert_int_eq(run_on(), TR_STOPPED);
    tr_system_counters(world.system, &counters);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    tr_client_free(world.client);
    tr_system_free(world.system);
}

/* ---- Ways to spawn. ---- */

static tr_status by_spawn(child_ref *ref)
{
    return tr_try_spawn(world.client, ref, child, NULL);
}
static tr_status by_name(child_ref *ref)
{
    return tr_try_spawn(world.client, ref, child, "named");
}
static tr_status by_pool(child_ref *ref)
{
    return tr_try_pool_spawn(world.client, ref, child, "pooled");
}
static tr_status by_group(child_ref *ref)
{
    return tr_try_spawn_group(world.client, ref, child, NULL, 2);
}

/*
 * Shuts down in the n-th allocation of a spawn, for each n. What was accepted takes a message, and a
 * watcher hears of its end.
 */
static void shut_down_within(tr_status (*spawn)(child_ref *ref), bool fails)
{
    bool has_met = true;
    for (int i = 0; has_met; i++) {
        child_ref ref;
        begin();
        world.skip = i;
        world.fails = fails;
        tr_status status = spawn(&ref);
        world.skip = -1;
        has_met = world.has_met;
        if (has_met)
            ck_assert_msg(status == TR_OK || status == TR_STOPPING || fails,
                          "allocation %d: %s",
                          i,
                          tr_status_name(status));
        if (status == TR_OK) {
            ck_assert_msg(!world.was_over, "allocation %d: it was over before the spawn", i);
            ck_assert_int_eq(tr_tell(world.client, ref, note), TR_OK);
            ck_assert_int_eq(tr_watch(world.client, ref), TR_OK);
        }
        tr_system_shutdown(world.system, TR_MINUTE);
        ck_assert_int_eq(run_on(), TR_STOPPED);
        if (status == TR_OK)
            ck_assert_ptr_nonnull(tr_receive(world.client, tr_terminated, 0));
        end();
    }
}

TEST(a_spawn_that_a_shutdown_overtakes_is_refused_or_ends, "X-02", "X-01", "M-04")
{
    shut_down_within(by_spawn, false);
    shut_down_within(by_name, false);
}

TEST(a_spawn_of_the_pool_that_a_shutdown_overtakes_is_refused_or_ends, "X-02", "M-04")
{
    shut_down_within(by_pool, false);
}

TEST(a_group_that_a_shutdown_overtakes_is_refused_or_ends, "X-02", "M-04")
{
    shut_down_within(by_group, false);
}

TEST(a_spawn_without_memory_does_not_hold_up_the_shutdown, "X-02", "X-01")
{
    shut_down_within(by_spawn, true);
    shut_down_within(by_name, true);
    shut_down_within(by_pool, true);
    shut_down_within(by_group, true);
}

static tr_next on_call(tr_self *self, void *argument)
{
    (void)self;
    (void)argument;
    return TR_SAME;
}

TEST(a_scheduled_call_that_a_shutdown_overtakes_is_refused_or_ends, "X-02", "T-02")
{
    bool has_met = true;
    for (int i = 0; has_met; i++) {
        begin();
        world.skip = i;
        tr_status status =
            tr_schedule_call(world.system, NULL, TR_TIMER_FIXED_RATE, TR_HOUR, on_call, NULL);
        world.skip = -1;
        has_met = world.has_met;
        ck_assert(status == TR_OK || status == TR_STOPPING);
        ck_assert(status != TR_OK || !world.was_over);
        tr_system_shutdown(world.system, TR_MINUTE);
        end();
    }
}

/* The set-up of the actor has not run: it is stopped before, or does and is stopped. */
TEST(what_was_accepted_before_a_shutdown_has_both_its_signals, "X-01", "X-02")
{
    child_ref ref;
    begin();
    ck_assert_int_eq(by_spawn(&ref), TR_OK);
    ck_assert_int_eq(tr_tell(world.client, ref, note), TR_OK);
    tr_system_shutdown(world.system, TR_MINUTE);
    ck_assert_int_eq(by_spawn(&ref), TR_STOPPING);
    ck_assert_int_eq(run_on(), TR_STOPPED);
    ck_assert_int_eq(handled, 1);
    ck_assert_int_eq(posts, 1);
    end();
}

SUITE("shutdown spawn", a_spawn_that_a_shutdown_overtakes_is_refused_or_ends,
      a_spawn_of_the_pool_that_a_shutdown_overtakes_is_refused_or_ends,
      a_group_that_a_shutdown_overtakes_is_refused_or_ends,
      a_spawn_without_memory_does_not_hold_up_the_shutdown,
      a_scheduled_call_that_a_shutdown_overtakes_is_refused_or_ends,
      what_was_accepted_before_a_shutdown_has_both_its_signals)
