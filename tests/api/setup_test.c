/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Set-ups: those that fail, those that say "not needed", and those inside set-ups.
 */
#include "support/stage.h"

TR_MESSAGE(note, (u64, n));
TR_MESSAGE(begin, (i32, worker), (u32, how));
TR_MESSAGE(work, (u32, how));
TR_MESSAGE(failure, (i32, status), (i32, cause), (str, text), (bool, is_free));

enum how { GOOD, FAIL, CRASH, STOP, NO_MEMORY, HOWS };

/* ---- A child whose set-up does what it is told. ---- */

static unsigned cleaned;

static void clean(void *resource)
{
    (void)resource;
    cleaned++;
}

static tr_next child_set_up(tr_self *self, const struct begin *begin)
{
    diary("setup");
    (void)tr_strdup(self, "memory of an incarnation that never was");
    tr_at_end(self, &cleaned, clean);
    tr_defer(self, &cleaned, clean);
    switch ((enum how)begin->how) {
    case FAIL:
        return tr_fail(self, TR_BAD_DATA, "cause %d", 7);
    case CRASH:
        tr_crash(self, TR_REFUSED, "cause %d", 8);
    case STOP:
        return TR_STOP;
    case NO_MEMORY:
        (void)tr_alloc(self, SIZE_MAX / 4);
        diary("never");
        break;
    case GOOD:
    case HOWS:
        break;
    }
    return TR_SAME;
}

static tr_next child_start(void)
{
    diary("start");
    return TR_SAME;
}

static tr_next child_note(const struct note *note)
{
    diary("%" PRIu64, note->n);
    return TR_SAME;
}

static tr_next child_stop(void)
{
    diary("stop");
    return TR_SAME;
}

/* A state that does not fit into a cell. */
struct child {
    char bytes[100];
};

TR_ACTOR(child, note);
TR_BEHAVIOR(child, struct child, TR_SETUP_WITH(begin, child_set_up),
            TR_ON(tr_pre_start, child_start), TR_ON(note, child_note),
            TR_ON(tr_post_stop, child_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

static const tr_status causes[HOWS] = {
    [GOOD] = TR_OK, [FAIL] = TR_BAD_DATA, [CRASH] = TR_REFUSED, [NO_MEMORY] = TR_NO_MEMORY};
static const char *const words[HOWS] = {
    [GOOD] = "", [FAIL] = "cause 7", [CRASH] = "cause 8", [NO_MEMORY] = ""};

/* ---- On the spawner's worker: spawn itself says how it went. ---- */

static tr_next parent_near(tr_self *self, const struct work *work)
{
    enum how how = (enum how)work->how;
    const child_ref nothing = child_ref_of(TR_NOBODY);
    child_ref child = nothing;
    tr_error error = {.status = TR_OK};
    cleaned = 0;
    tr_status status = tr_try_spawn_error(self, &child, &error, child, "child", begin, .how = how);
    if (how == GOOD) {
        ck_assert_int_eq(status, TR_OK);
        ck_assert_str_eq(diary_read(), "setup start");
        ck_assert_uint_eq(cleaned, 1);
        ck_assert(tr_is_same(tr_child(self, child, "child"), child));
        tr_stop(self, child);
        return TR_SAME;
    }
    ck_assert_str_eq(diary_read(), "setup");
    ck_assert_uint_eq(cleaned, 2);
    ck_assert(tr_is_nobody(tr_child(self, child, "child")));
    ck_assert_uint_eq(tr_children(self, NULL, 0), 0);
    if (how == STOP) {
        ck_assert_int_eq(status, TR_OK);
        ck_assert_int_eq(error.status, TR_OK);
        ck_assert_int_eq(tr_stop(self, child), TR_STOPPED);
    } else {
        ck_assert_int_eq(status, TR_INIT_FAILED);
        ck_assert_int_eq(error.status, causes[how]);
        ck_assert_ptr_nonnull(strstr(error.text, words[how]));
        ck_assert(!tr_is_nobody(error.actor));
        ck_assert(tr_is_same(child, nothing));
    }
    /* The name is free before spawn returns. */
    child = tr_spawn(self, child, "child", begin, .how = GOOD);
    ck_assert_str_eq(diary_read(), "setup start");
    tr_stop_child(self, child);
    return TR_SAME;
}

TR_ACTOR(parent, work);
TR_BEHAVIOR(parent, void, TR_ON(work, parent_near), TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_near(struct stage *stage)
{
    parent_ref parent;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &parent, stage_far(stage), parent, "parent"),
                     TR_OK);
    for (uint32_t how = 0; how < HOWS; how++) {
        tr_tell(stage->client, parent, work, .how = how);
        tr_kit_settle(stage->kit);
        ck_assert_str_eq(diary_read(), "stop");
        ck_assert_uint_eq(stage_live(stage), 1);
        ck_assert_uint_eq(stage_dead_letters(stage), 0);
        tr_kit_check(stage->kit);
    }
}

TEST(spawn_on_the_same_worker_tells_how_the_set_up_went, "L-04", "LC-04", "LC-05")
{
    stage_play(play_near);
}

/* ---- A spawn that must succeed ends the turn of a spawner. ---- */

static tr_next bold_work(tr_self *self, const struct work *work)
{
    diary("before");
    (void)tr_spawn(self, child, "child", begin, .how = work->how);
    diary("after");
    return TR_SAME;
}

static tr_next bold_stop(void)
{
    diary("end");
    return TR_SAME;
}

TR_ACTOR(bold, work);
TR_BEHAVIOR(bold, void, TR_ON(work, bold_work), TR_ON(tr_post_stop, bold_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_bold(struct stage *stage)
{
    bold_ref bold;
    ck_assert_int_eq(tr_try_spawn_at(stage->client, &bold, stage_far(stage), bold, NULL), TR_OK);
    tr_tell(stage->client, bold, work, .how = STOP);
    tr_tell(stage->client, bold, work, .how = FAIL);
    tr_tell(stage->client, bold, work, .how = GOOD);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "before setup after before setup end");
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(bold), "work", TR_STOPPED), 1);
}

TEST(a_spawn_that_fails_ends_the_turn_and_one_not_needed_does_not, "L-04", "LC-05")
{
    stage_play(play_bold);
}

/* ---- On another worker. ---- */

static child_ref far_child;

static tr_next remote_work(tr_self *self, const struct begin *begin)
{
    ck_assert_int_eq(
        tr_try_spawn_at(self, &far_child, begin->worker, child, "child", begin, .how = begin->how),
        TR_OK);
    diary("spawned");
    ck_assert(tr_is_same(tr_child(self, child, "child"), far_child));
    for (uint64_t n = 0; n < 3; n++)
        ck_assert_int_eq(tr_tell(self, far_child, note, .n = n), TR_OK);
    return TR_SAME;
}

static tr_next remote_note(const struct note *note)
{
    diary("alive%" PRIu64, note->n);
    return TR_SAME;
}

TR_ACTOR(remote, begin, note);
TR_BEHAVIOR(remote, void, TR_ON(begin, remote_work), TR_ON(note, remote_note),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_far(struct stage *stage)
{
    remote_ref remote;
    if (stage->workers == 1)
        return;
    ck_assert_int_eq(tr_try_spawn(stage->client, &remote, remote, "remote"), TR_OK);
    for (uint32_t how = 0; how < HOWS; how++) {
        tr_tell(stage->client, remote, begin, .worker = stage_far(stage), .how = how);
        tr_kit_settle(stage->kit);
        if (how == GOOD) {
            ck_assert_str_eq(diary_read(), "spawned setup start 0 1 2");
            tr_stop(stage->client, far_child);
            tr_kit_settle(stage->kit);
            ck_assert_str_eq(diary_read(), "stop");
        } else {
            ck_assert_str_eq(diary_read(), "spawned setup");
            ck_assert_uint_eq(stage_dead_letters_to(stage, tr_any(far_child), "note", TR_STOPPED),
                              3);
        }
        ck_assert(tr_is_nobody(tr_find(stage->client, child, "/user/remote/child")));
        ck_assert_int_eq(tr_tell(stage->client, far_child, note, .n = 9), TR_STOPPED);
        ck_assert_uint_eq(stage_live(stage), 1);
        tr_kit_check(stage->kit);
    }
    tr_tell(stage->client, remote, note, .n = 1);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "alive1");
}

TEST(a_set_up_that_fails_on_another_worker_leaves_nothing, "L-04", "LC-04", "LC-05", "L-03")
{
    stage_play(play_far);
}

/* ---- From outside. ---- */

static void play_outside(struct stage *stage)
{
    for (int is_late = 0; is_late < 2; is_late++) {
        for (uint32_t how = 0; how < HOWS; how++) {
            child_ref child;
            tr_error error = {.status = TR_OK};
            ck_assert_int_eq(
                tr_try_spawn_at(
                    stage->client, &child, stage_far(stage), child, "child", begin, .how = how),
                TR_OK);
            if (is_late)
                tr_kit_settle(stage->kit);
            tr_status status = tr_spawn_wait(stage->client, child, TR_SECOND, &error);
            if (how == GOOD) {
                ck_assert_int_eq(status, TR_OK);
                ck_assert_str_eq(diary_read(), "setup start");
                tr_stop(stage->client, child);
                tr_kit_settle(stage->kit);
                ck_assert_str_eq(diary_read(), "stop");
                ck_assert_int_eq(tr_spawn_wait(stage->client, child, TR_SECOND, NULL), TR_STOPPED);
                continue;
            }
            ck_assert_str_eq(diary_read(), "setup");
            ck_assert(tr_is_nobody(tr_find(stage->client, child, "/user/child")));
            if (how == STOP) {
                ck_assert_int_eq(status, TR_STOPPED);
                continue;
            }
            ck_assert_int_eq(status, TR_INIT_FAILED);
            ck_assert_int_eq(error.status, causes[how]);
            ck_assert_ptr_nonnull(strstr(error.text, words[how]));
            ck_assert(tr_is_same(error.actor, child));
            /* It is remembered, and error may be left out. */
            ck_assert_int_eq(tr_spawn_wait(stage->client, child, 0, NULL), TR_INIT_FAILED);
        }
    }
    ck_assert_uint_eq(stage_dead_letters(stage), 0);
    ck_assert_uint_eq(stage_live(stage), 0);
}

TEST(spawn_wait_tells_those_outside_how_the_set_up_went, "L-04", "LC-04", "LC-05")
{
    stage_play(play_outside);
}

/* The diary is for kits. */
TR_ACTOR(quiet);
static tr_next quiet_set_up(tr_self *self, const struct begin *begin)
{
    (void)tr_strdup(self, "memory");
    if (begin->how == CRASH)
        tr_crash(self, TR_REFUSED, "cause %d", 8);
    return tr_fail(self, TR_BAD_DATA, "cause %d", 7);
}
TR_BEHAVIOR(quiet, void, TR_SETUP_WITH(begin, quiet_set_up), TR_OPTIONS(.restart = TR_TEMPORARY));

TEST(spawn_wait_tells_other_threads_how_the_set_up_went, "L-04", "LC-04")
{
    struct theatre theatre = theatre_open(3);
    int rounds = (int)test_scale(600, 50000);
    for (int i = 0; i < rounds; i++) {
        tr_error error = {.status = TR_OK};
        quiet_ref quiet;
        uint32_t how = i % 2 ? FAIL : CRASH;
        ck_assert_int_eq(
            tr_try_spawn_at(theatre.client, &quiet, i % 3, quiet, "quiet", begin, .how = how),
            TR_OK);
        ck_assert_int_eq(tr_spawn_wait(theatre.client, quiet, STAGE_PATIENCE, &error),
                         TR_INIT_FAILED);
        ck_assert_int_eq(error.status, causes[how]);
        ck_assert_ptr_nonnull(strstr(error.text, words[how]));
    }
    theatre_close(&theatre);
}

static void play_timeout(struct stage *stage)
{
    child_ref child;
    ck_assert_int_eq(tr_try_spawn(stage->client, &child, child, NULL, begin, .how = GOOD), TR_OK);
    tr_error error;
    ck_assert_int_eq(tr_spawn_wait(stage->client, child, 0, &error), TR_TIMEOUT);
    ck_assert_int_eq(error.status, TR_TIMEOUT);
    ck_assert_int_eq(tr_spawn_wait(stage->client, child, TR_SECOND, &error), TR_OK);
}

TEST(spawn_wait_without_time_gives_a_timeout, "L-04")
{
    stage_play(play_timeout);
}

/* A pill is no failure: the actor is set up, handles what it has, and ends. */
static void play_wait_behind_a_pill(struct stage *stage)
{
    child_ref child;
    ck_assert_int_eq(
        tr_try_spawn_at(stage->client, &child, stage_far(stage), child, NULL, begin, .how = GOOD),
        TR_OK);
    tr_tell(stage->client, child, note, .n = 1);
    tr_stop(stage->client, child);
    ck_assert_int_eq(tr_spawn_wait(stage->client, child, TR_SECOND, NULL), TR_OK);
    tr_kit_settle(stage->kit);
    ck_assert_str_eq(diary_read(), "setup start 1 stop");
    ck_assert_uint_eq(stage_dead_letters(stage), 0);
    ck_assert_int_eq(tr_spawn_wait(stage->client, child, TR_SECOND, NULL), TR_STOPPED);
}

TEST(spawn_wait_behind_a_pill_has_its_answer, "L-04", "Y-01")
{
    stage_play(play_wait_behind_a_pill);
}

/* ---- Set-ups in set-ups. ---- */

TR_MESSAGE(chain, (u32, level), (u32, depth), (u32, fails_at));

static uint32_t highest_inside; /* the deepest set-up that ran inside another */
static uint32_t set_ups;
static uint32_t starts;
static uint32_t stops;
static uint32_t inside;
static tr_status too_deep;

TR_ACTOR(link);
static tr_next link_set_up(tr_self *self, const struct chain *chain)
{
    inside++;
    set_ups++;
    if (inside > highest_inside)
        highest_inside = inside;
    if (chain->level < chain->depth) {
        link_ref next;
        uint32_t before = starts;
        tr_status status = tr_try_spawn(self,
                                        &next,
                                        link,
                                        "link",
                                        chain,
                                        .level = chain->level + 1,
                                        .depth = chain->depth,
                                        .fails_at = chain->fails_at);
        /* A set-up that runs inside this one is over, and PreStart has run. */
        if (inside < TR_SETUPS_NESTED_MAX && status == TR_OK)
            ck_assert_uint_gt(starts, before);
        if (inside == TR_SETUPS_NESTED_MAX)
            ck_assert_uint_eq(starts, before);
        if (chain->level == TR_DEPTH_MAX)
            too_deep = status;
    }
    inside--;
    if (chain->level == chain->fails_at)
        return tr_fail(self, TR_BAD_DATA, "level %u", (unsigned)chain->level);
    return TR_SAME;
}

static tr_next link_start(void)
{
    starts++;
    return TR_SAME;
}

static tr_next link_stop(void)
{
    stops++;
    return TR_SAME;
}
TR_BEHAVIOR(link, void, TR_SETUP_WITH(chain, link_set_up), TR_ON(tr_pre_start, link_start),
            TR_ON(tr_post_stop, link_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

static void chain_begin(struct stage *stage, uint32_t depth, uint32_t fails_at, link_ref *link)
{
    set_ups = starts = stops = inside = highest_inside = 0;
    ck_assert_int_eq(tr_try_spawn_at(stage->client,
                                     link,
                                     stage_far(stage),
                                     link,
                                     "link",
                                     chain,
                                     .level = 1,
                                     .depth = depth,
                                     .fails_at = fails_at),
                     TR_OK);
    tr_kit_settle(stage->kit);
    tr_kit_check(stage->kit);
}

static void play_nested(struct stage *stage)
{
    static const uint32_t depths[] = {1, 15, 16, 17, 33, TR_DEPTH_MAX};
    link_ref link;
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        uint32_t depth = depths[i];
        chain_begin(stage, depth, 0, &link);
        ck_assert_uint_eq(set_ups, depth);
        ck_assert_uint_eq(starts, depth);
        ck_assert_uint_eq(highest_inside,
                          depth < TR_SETUPS_NESTED_MAX ? depth : TR_SETUPS_NESTED_MAX);
        ck_assert_uint_eq(stage_live(stage), depth);
        tr_stop(stage->client, link);
        tr_kit_settle(stage->kit);
        ck_assert_uint_eq(stops, depth);
        ck_assert_uint_eq(stage_live(stage), 0);
    }
    chain_begin(stage, TR_DEPTH_MAX + 1, 0, &link);
    ck_assert_int_eq(too_deep, TR_TOO_DEEP);
    ck_assert_uint_eq(stage_live(stage), TR_DEPTH_MAX);
}

TEST(set_ups_nest_sixteen_deep_and_deeper_ones_run_later, "L-04")
{
    stage_play(play_nested);
}

/* ---- A set-up that has children by the time it fails. ---- */

static void play_fails_above_children(struct stage *stage)
{
    static const uint32_t fails_at[] = {1, 2, 10, 16, 17, 20};
    link_ref link;
    for (size_t i = 0; i < sizeof fails_at / sizeof fails_at[0]; i++) {
        chain_begin(stage, 20, fails_at[i], &link);
        ck_assert_uint_eq(stage_live(stage), fails_at[i] - 1);
        ck_assert_uint_eq(starts - stops, fails_at[i] - 1);
        tr_stop(stage->client, link);
        tr_kit_settle(stage->kit);
        ck_assert_uint_eq(starts, stops);
        ck_assert_uint_eq(stage_live(stage), 0);
        ck_assert_uint_eq(stage_dead_letters(stage), 0);
    }
}

TEST(children_of_a_set_up_that_fails_end_with_it, "L-04", "LC-04", "L-06")
{
    stage_play(play_fails_above_children);
}

TR_MESSAGE(plan, (i32, workers), (u64, mix));
TR_MESSAGE(spin, (u64, rounds));

TR_ACTOR(seed_actor);
static tr_next seed_note(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(seed_actor, void, TR_ON(note, seed_note), TR_ON(tr_pre_start, link_start),
            TR_ON(tr_post_stop, link_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

/* Children here and elsewhere, and then a failure, or the answer that it is not needed. */
TR_ACTOR(doomed);
static tr_next doomed_set_up(tr_self *self, const struct plan *plan)
{
    for (int i = 0; i < 6; i++) {
        seed_actor_ref seed;
        int worker = (int)(tr_random(self) % (uint64_t)plan->workers);
        ck_assert_int_eq(tr_try_spawn_at(self, &seed, worker, seed_actor, i % 2 ? "odd" : NULL),
                         i > 1 && i % 2 ? TR_NAME_EXISTS : TR_OK);
    }
    return plan->mix % 2 ? TR_STOP : tr_fail(self, TR_FAILED, "as planned");
}
TR_BEHAVIOR(doomed, void, TR_SETUP_WITH(plan, doomed_set_up), TR_OPTIONS(.restart = TR_TEMPORARY));

TR_ACTOR(sower, spin, plan);
static tr_next sower_plan(tr_self *self, const struct plan *plan)
{
    doomed_ref doomed;
    tr_status status =
        tr_try_spawn(self, &doomed, doomed, NULL, plan, .workers = plan->workers, .mix = plan->mix);
    ck_assert_int_eq(status, plan->mix % 2 ? TR_OK : TR_INIT_FAILED);
    /* Slots are used again at once: what the dead left in a queue would show. */
    for (int i = 0; i < 3; i++)
        (void)tr_spawn(self, seed_actor, NULL);
    return plan->mix % 5 == 4 ? TR_STOP : TR_SAME;
}

static tr_next sower_spin(tr_self *self, const struct spin *spin)
{
    if (spin->rounds) {
        (void)tr_tell(self, tr_me(self), spin, .rounds = spin->rounds - 1);
        tr_stop(self, tr_spawn(self, seed_actor, NULL));
    }
    return TR_SAME;
}
TR_BEHAVIOR(sower, void, TR_ON(plan, sower_plan), TR_ON(spin, sower_spin),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_doomed(struct stage *stage)
{
    starts = stops = 0;
    sower_ref others;
    ck_assert_int_eq(tr_try_spawn(stage->client, &others, sower, "others"), TR_OK);
    tr_tell(stage->client, others, spin, .rounds = 500);
    for (uint64_t mix = 0; mix < 10; mix++) {
        sower_ref sower;
        ck_assert_int_eq(
            tr_try_spawn_at(stage->client, &sower, mix % 3 ? 0 : stage_far(stage), sower, NULL),
            TR_OK);
        tr_tell(stage->client, sower, plan, .workers = stage->workers, .mix = mix);
        for (uint64_t steps = stage->seed % 7; steps; steps--)
            tr_kit_step(stage->kit);
        if (mix % 4 == 1)
            tr_kill(stage->client, sower);
        else
            tr_stop(stage->client, sower);
    }
    tr_stop(stage->client, others);
    tr_kit_settle(stage->kit);
    ck_assert_uint_eq(stage_live(stage), 0);
    ck_assert_uint_eq(starts, stops);
}

TEST(a_set_up_may_fail_above_children_on_every_worker, "L-04", "L-06", "LC-04", "LC-05")
{
    stage_play(play_doomed);
}

SUITE("set-up", spawn_on_the_same_worker_tells_how_the_set_up_went,
      a_spawn_that_fails_ends_the_turn_and_one_not_needed_does_not,
      a_set_up_that_fails_on_another_worker_leaves_nothing,
      spawn_wait_tells_those_outside_how_the_set_up_went,
      spawn_wait_tells_other_threads_how_the_set_up_went, spawn_wait_without_time_gives_a_timeout,
      spawn_wait_behind_a_pill_has_its_answer, set_ups_nest_sixteen_deep_and_deeper_ones_run_later,
      children_of_a_set_up_that_fails_end_with_it, a_set_up_may_fail_above_children_on_every_worker)
