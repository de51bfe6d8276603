/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The test kit: steps, time, chance, memory that runs out, and the trace.
 */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>
#include <unistd.h>

TR_MESSAGE(tick, (u64, n));
TR_MESSAGE(tock, (u64, n));
TR_MESSAGE(start_mesh, (list(ref), peers));

struct clock {
    uint64_t ticks;
};
static int running;
static tr_next on_tick(tr_self *self, struct clock *c, const struct tick *m)
{
    ck_assert_int_eq(running, 0);
    running = 1;
    c->ticks++;
    tr_tell(self, tr_sender(self), tock, .n = m->n);
    running = 0;
    return TR_SAME;
}
TR_BEHAVIOR(clock, struct clock, TR_ON(tick, on_tick));
TR_ACTOR(clock, tick);

static uint64_t handled(tr_kit *kit)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.handled;
}

TEST(a_step_is_one_turn_of_one_actor, "V-02")
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.workers = 3});
    tr_client *test = tr_kit_client(kit);
    clock_ref clocks[6];
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &clocks[i], i % 3, clock, NULL), TR_OK);
    tr_kit_settle(kit);
    ck_assert(!tr_kit_step(kit));
    tr_time before_ns = tr_kit_now(kit);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k <= i; k++)
            tr_tell(test, clocks[i], tick);
    }
    uint64_t last = handled(kit);
    int turns = 0;
    while (tr_kit_step(kit)) {
        uint64_t now = handled(kit);
        ck_assert_uint_le(now, last + 1);
        turns += now > last;
        last = now;
        tr_kit_check(kit);
    }
    ck_assert_int_eq(turns, 21);
    ck_assert_int_eq(tr_kit_now(kit), before_ns);
    ck_assert(!tr_kit_step(kit));
    tr_kit_free(kit);
}

TEST(settle_says_how_many_steps_it_took, "V-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_client *test = tr_kit_client(kit);
    clock_ref clock = {0};
    ck_assert_int_eq(tr_try_spawn(test, &clock, clock, NULL), TR_OK);
    ck_assert_uint_ge(tr_kit_settle(kit), 1);
    ck_assert_uint_eq(tr_kit_settle(kit), 0);
    for (int i = 0; i < 10; i++)
        tr_tell(test, clock, tick);
    ck_assert_uint_eq(handled(kit), 0);
    size_t steps = tr_kit_settle(kit);
    ck_assert_uint_ge(steps, 10);
    ck_assert_uint_eq(handled(kit), 10);
    tr_kit_free(kit);
}

TEST(time_moves_only_when_it_is_told_to, "V-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_client *test = tr_kit_client(kit);
    tr_time start_ns = tr_kit_now(kit);
    clock_ref clock = {0};
    ck_assert_int_eq(tr_try_spawn(test, &clock, clock, NULL), TR_OK);
    tr_tell(test, clock, tick, .n = 3);
    ck_assert_ptr_nonnull(tr_receive(test, tock, TR_HOUR));
    ck_assert_int_eq(tr_kit_now(kit), start_ns);
    tr_kit_advance(kit, 12345);
    ck_assert_int_eq(tr_kit_now(kit), start_ns + 12345);
    tr_kit_advance(kit, 0);
    ck_assert_int_eq(tr_kit_now(kit), start_ns + 12345);
    /* An advance runs what is ready. */
    tr_tell(test, clock, tick);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(tr_kit_now(kit), start_ns + 12345 + TR_HOUR);
    ck_assert_ptr_nonnull(tr_receive(test, tock, 0));
    /* Who waits in vain waits exactly as long as it said. */
    start_ns = tr_kit_now(kit);
    ck_assert_ptr_null(tr_receive(test, tock, 7 * TR_SECOND));
    ck_assert_int_eq(tr_kit_now(kit), start_ns + 7 * TR_SECOND);
    tr_kit_free(kit);
}

static tr_time wall_of_handler;

static tr_next on_wall(tr_self *self)
{
    wall_of_handler = tr_wall_now(self);
    return TR_SAME;
}
TR_ACTOR(reader, tick);
TR_BEHAVIOR(reader, void, TR_ON(tick, on_wall));

TEST(a_test_reads_the_wall_clock_and_sets_its_beginning, "V-02")
{
    tr_time start_ns = 1704067200 * TR_SECOND; /* 2024-01-01 00:00 UTC */
    tr_kit *kit = tr_kit_new(NULL);
    ck_assert_int_eq(tr_kit_wall_now(kit), start_ns);
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_int_eq(tr_kit_wall_now(kit), start_ns + TR_HOUR);
    ck_assert_ptr_null(tr_receive(tr_kit_client(kit), tock, 7 * TR_SECOND));
    ck_assert_int_eq(tr_kit_wall_now(kit), start_ns + TR_HOUR + 7 * TR_SECOND);
    reader_ref reader;
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &reader, reader, NULL), TR_OK);
    tr_tell(tr_kit_client(kit), reader, tick);
    tr_kit_settle(kit);
    ck_assert_int_eq(wall_of_handler, tr_kit_wall_now(kit));
    tr_kit_free(kit);
    kit = tr_kit_new(NULL); /* without a directory, each kit begins at the same time */
    ck_assert_int_eq(tr_kit_wall_now(kit), start_ns);
    tr_kit_free(kit);
    start_ns = 1900000000 * TR_SECOND;
    kit = tr_kit_new(&(tr_kit_options){.wall_ns = start_ns});
    ck_assert_int_eq(tr_kit_wall_now(kit), start_ns);
    tr_kit_advance(kit, 24 * TR_HOUR);
    ck_assert_int_eq(tr_kit_wall_now(kit), start_ns + 24 * TR_HOUR);
    tr_kit_free(kit);
    ck_assert_ptr_null(tr_kit_new(&(tr_kit_options){.wall_ns = -1}));
}

TEST(allocations_fail_as_they_were_told_to, "V-02", "U-03")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_client *client = NULL;
    tr_system *system = tr_kit_system(kit);
    uint64_t before = tr_kit_allocations(kit);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    uint64_t needed = tr_kit_allocations(kit) - before;
    ck_assert_uint_gt(needed, 0);
    tr_client *more = NULL;
    tr_kit_fail_allocation(kit, 1, false);
    ck_assert_int_eq(tr_client_new(system, &more), TR_NO_MEMORY);
    /* Once was enough. */
    ck_assert_int_eq(tr_client_new(system, &more), TR_OK);
    tr_client *third = NULL;
    tr_kit_fail_allocation(kit, 1, true);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(tr_client_new(system, &third), TR_NO_MEMORY);
    tr_kit_fail_allocation(kit, 0, false);
    ck_assert_int_eq(tr_client_new(system, &third), TR_OK);
    tr_kit_fail_allocation(kit, 1000, true);
    tr_client *fourth = NULL;
    ck_assert_int_eq(tr_client_new(system, &fourth), TR_OK);
    tr_client_free(client);
    tr_client_free(more);
    tr_client_free(third);
    tr_client_free(fourth);
    tr_kit_free(kit);
}

/* ---- The trace. ---- */

struct mesh {
    tr_ref peers[8];
    uint64_t left;
};
static tr_next on_start(tr_self *self, struct mesh *m, const struct start_mesh *start)
{
    memcpy(m->peers, start->peers.items, sizeof m->peers);
    m->left = 50;
    tr_tell(self, tr_me(self), tick);
    return TR_SAME;
}
static tr_next on_mesh_tick(tr_self *self, struct mesh *m)
{
    if (m->left == 0)
        return TR_SAME;
    m->left--;
    tr_ref peer = m->peers[tr_random(self) % 8];
    if (tr_random(self) % 2)
        tr_tell(self, peer, tick);
    else
        tr_tell(self, peer, tock);
    tr_tell(self, tr_me(self), tick);
    return TR_SAME;
}
static tr_next on_mesh_tock(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(mesh, struct mesh, TR_ON(start_mesh, on_start), TR_ON(tick, on_mesh_tick),
            TR_ON(tock, on_mesh_tock));
TR_ACTOR(mesh, start_mesh, tick, tock);

static uint64_t played_allocations; /* of the last play */

static uint64_t play(uint64_t seed, int workers, bool is_longer)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.seed = seed, .workers = workers});
    tr_client *test = tr_kit_client(kit);
    mesh_ref all[8];
    tr_ref refs[8];
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(tr_try_spawn_at(test, &all[i], i % workers, mesh, NULL), TR_OK);
        refs[i] = tr_any(all[i]);
    }
    for (int i = 0; i < 8; i++)
        tr_tell(test, all[i], start_mesh, .peers = {refs, 8});
    if (is_longer)
        tr_tell(test, all[3], tock);
    tr_kit_settle(kit);
    uint64_t trace = tr_kit_trace(kit);
    played_allocations = tr_kit_allocations(kit);
    tr_kit_free(kit);
    return trace;
}

TEST(the_same_seed_gives_the_same_trace, "V-01", "V-02")
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t trace = play(seed, 4, false);
        ck_assert_uint_eq(play(seed, 4, false), trace);
        ck_assert_uint_ne(play(seed + 100, 4, false), trace);
        ck_assert_uint_ne(play(seed, 3, false), trace);
        ck_assert_uint_ne(play(seed, 4, true), trace);
    }
    /* 0 is 1. */
    ck_assert_uint_eq(play(0, 2, false), play(1, 2, false));
}

/* What depended on addresses would differ with another heap. */
TEST(the_same_seed_makes_the_same_allocations, "V-01", "V-02")
{
    void *shifts[8];
    (void)play(7, 4, true);
    uint64_t first = played_allocations;
    ck_assert_uint_gt(first, 0);
    for (size_t i = 0; i < 8; i++) {
        shifts[i] = malloc(16 + 80 * i * i); /* another heap, as another run has */
        ck_assert_ptr_nonnull(shifts[i]);
        (void)play(7, 4, true);
        ck_assert_uint_eq(played_allocations, first);
    }
    for (size_t i = 0; i < 8; i++)
        free(shifts[i]);
}

TEST(kits_do_not_know_of_each_other, "V-02")
{
    tr_kit *kits[3];
    clock_ref clocks[3];
    for (int i = 0; i < 3; i++) {
        kits[i] = tr_kit_new(&(tr_kit_options){.seed = (uint64_t)i + 1});
        ck_assert_int_eq(tr_try_spawn(tr_kit_client(kits[i]), &clocks[i], clock, "c"), TR_OK);
    }
    tr_kit_advance(kits[1], TR_HOUR);
    ck_assert_int_eq(tr_kit_now(kits[1]) - tr_kit_now(kits[0]), TR_HOUR);
    tr_kit_fail_allocation(kits[2], 1, true);
    for (int i = 0; i < 3; i++) {
        tr_client *client = NULL;
        tr_status status = tr_client_new(tr_kit_system(kits[i]), &client);
        ck_assert_int_eq(status, i == 2 ? TR_NO_MEMORY : TR_OK);
        tr_client_free(client);
        ck_assert_ptr_eq(tr_client_system(tr_kit_client(kits[i])), tr_kit_system(kits[i]));
    }
    for (int i = 0; i < 3; i++)
        tr_kit_free(kits[i]);
}

/* ---- What the kit does not allow. ---- */

static tr_kit *outer;
static tr_next on_nested(void)
{
    (void)tr_kit_step(outer);
    return TR_SAME;
}
TR_BEHAVIOR(nested, void, TR_ON(tick, on_nested));
TR_ACTOR(nested, tick);

static tr_status told[4];
static tr_next on_run_it(tr_self *self)
{
    told[0] = tr_system_wait(tr_system_of(self));
    told[1] = tr_system_run_once(tr_system_of(self), 0);
    told[2] = tr_system_start(tr_system_of(self));
    told[3] = tr_system_run(tr_system_of(self));
    return TR_SAME;
}
TR_BEHAVIOR(runner, void, TR_ON(tick, on_run_it));
TR_ACTOR(runner, tick);

/* The same as in a handler of a system that runs on threads, or in a loop. */
TEST(a_handler_may_not_run_its_system, "V-02", "X-01")
{
    tr_kit *kit = tr_kit_new(NULL);
    runner_ref ref;
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &ref, runner, NULL), TR_OK);
    ck_assert_int_eq(tr_tell(tr_kit_client(kit), ref, tick), TR_OK);
    tr_kit_settle(kit);
    ck_assert_int_eq(told[0], TR_WOULD_DEADLOCK);
    ck_assert_int_eq(told[1], TR_WOULD_DEADLOCK);
    ck_assert_int_eq(told[2], TR_INVALID_TRANSITION);
    ck_assert_int_eq(told[3], TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_start(tr_kit_system(kit)), TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr_system_wait(tr_kit_system(kit)), TR_INVALID_TRANSITION);
    tr_kit_free(kit);
}

TEST_ABORTS(a_handler_may_not_step, "V-02")
{
    outer = tr_kit_new(NULL);
    nested_ref n = {0};
    if (tr_try_spawn(tr_kit_client(outer), &n, nested, NULL) == TR_OK)
        tr_tell(tr_kit_client(outer), n, tick);
    tr_kit_settle(outer);
}

TEST_ABORTS(nobody_waits_for_ever_for_nothing, "V-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    (void)tr_receive(tr_kit_client(kit), tick, TR_NEVER);
}

/* ---- The log on standard error. ---- */

TR_ACTOR(faller, tick);
static tr_next fall(tr_self *self)
{
    tr_log_info(self, "about to fall");
    return tr_fail(self, TR_BAD_DATA, "as the test wants it");
}
TR_BEHAVIOR(faller, void, TR_ON(tick, fall));
TR_ACTOR(deaf, tick, tock);
TR_BEHAVIOR(deaf, void, TR_ON(tick, fall));

/* Has an actor fail and one get a message for which it has no handler. Returns in `text` what the kit wrote. */
static void log_of(tr_kit_log log, char *text, size_t size)
{
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    faller_ref faller;
    deaf_ref deaf;
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.log = log});
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &faller, faller, "faller"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &deaf, deaf, "deaf"), TR_OK);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 1500 * TR_MILLISECOND);
    tr_tell(tr_kit_client(kit), faller, tick);
    tr_tell(tr_kit_client(kit), deaf, tock);
    tr_kit_settle(kit);
    tr_kit_free(kit);
    (void)fflush(stderr);
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
    (void)close(saved);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    (void)fclose(file);
}

TEST(a_kit_writes_warnings_and_more_if_it_is_told, "V-02")
{
    char text[4096];
    ck_assert_int_eq(unsetenv("TROUPE_KIT_LOG"), 0);
    log_of(TR_KIT_LOG_WARNINGS, text, sizeof text);
    ck_assert_msg(strstr(text, "kit 1.500s ERROR /user/faller: ") &&
                      strstr(text, "as the test wants it"),
                  "%s",
                  text);
    ck_assert_msg(strstr(text, "WARN  dead letter: tock"), "%s", text);
    ck_assert_ptr_null(strstr(text, "about to fall"));
    log_of(TR_KIT_LOG_ALL, text, sizeof text);
    ck_assert_msg(strstr(text, "INFO  /user/faller: about to fall"), "%s", text);
    log_of(TR_KIT_LOG_NONE, text, sizeof text);
    ck_assert_str_eq(text, "");
}

TEST(a_variable_says_what_a_kit_writes, "V-02")
{
    char text[4096];
    ck_assert_int_eq(setenv("TROUPE_KIT_LOG", "info", 1), 0);
    log_of(TR_KIT_LOG_WARNINGS, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "about to fall"));
    log_of(TR_KIT_LOG_NONE, text, sizeof text); /* the program knows better */
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(setenv("TROUPE_KIT_LOG", "off", 1), 0);
    log_of(TR_KIT_LOG_WARNINGS, text, sizeof text);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(setenv("TROUPE_KIT_LOG", "loud", 1), 0);
    log_of(TR_KIT_LOG_WARNINGS, text, sizeof text);
    ck_assert_ptr_eq(strstr(text, "TROUPE_KIT_LOG has no effect: \"loud\" is none of"), text);
    ck_assert_ptr_nonnull(strstr(text, "as the test wants it"));
}

SUITE("kit", a_kit_writes_warnings_and_more_if_it_is_told, a_variable_says_what_a_kit_writes,
      a_handler_may_not_run_its_system, a_step_is_one_turn_of_one_actor,
      settle_says_how_many_steps_it_took, time_moves_only_when_it_is_told_to,
      a_test_reads_the_wall_clock_and_sets_its_beginning, allocations_fail_as_they_were_told_to,
      the_same_seed_gives_the_same_trace, the_same_seed_makes_the_same_allocations,
      kits_do_not_know_of_each_other, a_handler_may_not_step, nobody_waits_for_ever_for_nothing)
