/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What others may see of a worker that runs, and what counts as a step of it: see actor/cell/view.h and
 * sched/watch.h.
 */
#include "support/kits.h"

#include "actor/cell/dispatch.h"
#include "actor/cell/view.h"
#include "actor/verbs/why_ask.h"

TR_MESSAGE(nap);
TR_MESSAGE(bear, (u32, depth), (bool, is_named));
TR_ACTOR(napper, nap, bear, run);

enum { NAPPERS = 10 };

static uint64_t steps[NAPPERS];
static unsigned woken;
static struct view view;

/* Of the worker that runs this. */
static uint64_t steps_of(tr_self *self)
{
    return atom64_load(&self->worker->loop.steps, ATOM_RELAXED);
}

static tr_next on_nap(tr_self *self)
{
    (void)tr_sleep(self, TR_SECOND);
    ck_assert_uint_lt(woken, NAPPERS);
    steps[woken++] = steps_of(self);
    return TR_SAME;
}

static void compare(tr_self *self)
{
    char path[TR_PATH_MAX + 1];
    ck_assert(tr__view_running(self->worker, &view));
    size_t length = tr__cell_path(self->worker->system, self->cell, path);
    ck_assert_str_eq(view.path, path);
    ck_assert_uint_eq(tr__view_path(self->worker->system, self->cell, path), length);
    ck_assert_uint_eq(view.ref, tr_me(self).bits);
    ck_assert_ptr_nonnull(view.behavior);
}

static tr_next on_bear(tr_self *self, const struct bear *message)
{
    napper_ref child;
    compare(self);
    ck_assert_str_eq(view.type->name, "bear");
    ck_assert_str_eq(view.handler->name, "on_bear");
    if (!message->depth)
        return TR_SAME;
    const char *name = message->is_named ? "c" : NULL;
    ck_assert_int_eq(tr_try_spawn(self, &child, napper, name), TR_OK);
    tr_tell(self, child, bear, .depth = message->depth - 1, .is_named = !message->is_named);
    return TR_SAME;
}

static tr_next on_pre_start(tr_self *self)
{
    compare(self);
    ck_assert_ptr_null(view.type);
    ck_assert_str_eq(view.handler->name, "on_pre_start");
    say("started");
    return TR_SAME;
}

static tr_next set_up(tr_self *self)
{
    compare(self);
    ck_assert_ptr_eq(view.handler, &tr__setup_handler);
    return TR_SAME;
}

TR_BEHAVIOR(napper, void, TR_SETUP(set_up), TR_ON(tr_pre_start, on_pre_start), TR_ON(nap, on_nap),
            TR_ON(bear, on_bear), TR_ON(run, on_run));

/* Else many turns that go on one after another would look like one that takes long. */
TEST(each_part_of_a_turn_that_waited_is_a_step, "O-05")
{
    napper_ref napper;
    kit_open(1, 1);
    ck_assert_int_eq(tr_try_spawn(test, &napper, napper, NULL), TR_OK);
    for (int i = 0; i < NAPPERS; i++)
        tr_tell(test, napper, nap);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(woken, NAPPERS);
    for (int i = 1; i < NAPPERS; i++)
        ck_assert_uint_gt(steps[i], steps[i - 1]);
    kit_close();
}

static void play_paths(void)
{
    napper_ref napper;
    ck_assert_int_eq(tr_try_spawn_at(test, &napper, home, napper, "n"), TR_OK);
    tr_tell(test, napper, bear, .depth = 12, .is_named = true);
    ck_assert_int_eq(tr_try_spawn_at(test, &napper, home, napper, NULL), TR_OK);
    tr_tell(test, napper, bear, .depth = 12, .is_named = false);
    tr_kit_settle(kit);
    (void)said();
}

TEST(a_running_actor_is_seen_with_its_path_message_and_handler, "O-05")
{
    kits_each(play_paths);
}

static uint64_t begun_with;

static tr_next spawn_some(tr_self *self)
{
    napper_ref child;
    uint64_t before = steps_of(self);
    ck_assert_int_eq(tr_try_spawn(self, &child, napper, NULL), TR_OK);
    /* It is part of this turn, which may take long by its spawns. */
    ck_assert_uint_eq(steps_of(self), before);
    compare(self);
    ck_assert_str_eq(view.handler->name, "on_run");
    begun_with = before;
    return TR_SAME;
}

TEST(a_set_up_inside_a_turn_is_no_step, "O-05")
{
    napper_ref napper;
    kit_open(1, 1);
    ck_assert_int_eq(tr_try_spawn(test, &napper, napper, NULL), TR_OK);
    TELL_RUN(test, napper, spawn_some);
    tr_kit_settle(kit);
    ck_assert_uint_gt(begun_with, 0);
    (void)said();
    kit_close();
}

TEST(a_worker_that_runs_nothing_shows_nothing, "O-05")
{
    kit_open(1, 1);
    tr_kit_settle(kit);
    ck_assert(!tr__view_running(tr_kit_system(kit)->workers[0], &view));
    kit_close();
}

/* An actor is not busy, but its worker neither answers nor shows what it runs. */
TEST(of_a_worker_that_shows_nothing_only_the_silence_is_known, "O-03")
{
    static tr_why_report report;
    napper_ref napper;
    kit_open(1, 1);
    ck_assert_int_eq(tr_try_spawn(test, &napper, napper, "napper"), TR_OK);
    tr_kit_settle(kit);
    tr__why_outside(tr_kit_system(kit), tr_any(napper).bits, &report);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_int_eq(report.reasons[0].kind, TR_WHY_NO_ANSWER);
    ck_assert_str_eq(report.reasons[0].text, "worker 0 has not answered for 100 ms");
    ck_assert_uint_eq(report.reasons[0].holds, TR_HOLDS_MAIL | TR_HOLDS_STOP);
    ck_assert_str_eq(report.path, "/user/napper");
    kit_close();
}

SUITE("actor view", each_part_of_a_turn_that_waited_is_a_step,
      a_running_actor_is_seen_with_its_path_message_and_handler, a_set_up_inside_a_turn_is_no_step,
      a_worker_that_runs_nothing_shows_nothing,
      of_a_worker_that_shows_nothing_only_the_silence_is_known)
