/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fibers: a host gets control back from whoever runs, turns end at any depth, and stacks return.
 */
#include "fiber/jump.h"

#include "os/memory.h"
#include "os/virtual.h"
#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 9 };

struct world {
    struct virtual_platform *platform;
    struct fiber_host host;
    struct fiber_pool pool;
    struct fiber *other;
    uint64_t turns;
    uint64_t turns_max;
    unsigned steps;
};

static void world_init(struct world *world)
{
    *world = (struct world){.platform = tr__virtual_new(1)};
    ck_assert_ptr_nonnull(world->platform);
    tr__fiber_host_init(&world->host);
    ck_assert_int_eq(
        tr__fiber_pool_init(&world->pool, &world->platform->table, FIBER_STACK_SIZE, 0), TR_OK);
}

static void world_deinit(struct world *world)
{
    tr__fiber_pool_deinit(&world->pool);
    ck_assert_uint_eq(tr__virtual_live_blocks(world->platform), 0);
    tr__virtual_free(world->platform);
}

static struct fiber *world_fiber(struct world *world, void (*main)(void *context))
{
    struct fiber *fiber = NULL;
    ck_assert_int_eq(tr__fiber_new(&world->pool, main, world, &fiber), TR_OK);
    return fiber;
}

static void yield_twice(void *context)
{
    struct world *world = context;
    world->steps = 1;
    tr__fiber_yield(&world->host);
    world->steps = 2;
    tr__fiber_yield(&world->host);
    world->steps = 3;
}

TEST(resume_runs_until_the_next_yield, "")
{
    struct world world;
    world_init(&world);
    struct fiber *fiber = world_fiber(&world, yield_twice);
    ck_assert_uint_eq(world.steps, 0);
    ck_assert_ptr_eq(tr__fiber_resume(&world.host, fiber), fiber);
    ck_assert_uint_eq(world.steps, 1);
    ck_assert_ptr_eq(tr__fiber_resume(&world.host, fiber), fiber);
    ck_assert_uint_eq(world.steps, 2);
    ck_assert_ptr_null(tr__fiber_resume(&world.host, fiber));
    ck_assert_uint_eq(world.steps, 3);
    ck_assert_uint_eq(fiber_pool_lent(&world.pool), 0);
    world_deinit(&world);
}

static void loop(void *context);

/* Ends the turn from the bottom of DEPTH calls, whose frames are dropped. */
__attribute__((noinline)) static int descend(struct world *world, int depth)
{
    volatile char frame[100];
    memset((char *)frame, depth, sizeof frame);
    if (depth == 1 && world->turns_max > 0)
        tr__fiber_replace(&world->host, &world->pool, loop, world);
    return depth ? descend(world, depth - 1) + frame[50] : 0;
}

static void loop(void *context)
{
    struct world *world = context;
    while (world->turns < world->turns_max) {
        world->turns++;
        ck_assert_uint_le(fiber_pool_lent(&world->pool), 1);
        descend(world, DEPTH);
    }
    tr__fiber_yield(&world->host);
}

TEST(replace_ends_a_turn_from_any_depth_with_two_stacks, "U-03")
{
    struct world world;
    world_init(&world);
    world.turns_max = test_scale(100000, 1000000);
    struct fiber *first = world_fiber(&world, loop);
    struct fiber *second = world.pool.free;
    /* No stack can be had from the world any more: the spare is enough for all that follows. */
    tr__virtual_fail_allocation(world.platform, 1, true);
    struct fiber *last = tr__fiber_resume(&world.host, first);
    ck_assert_uint_eq(world.turns, world.turns_max);
    ck_assert_uint_eq(fiber_pool_lent(&world.pool), 1);
    ck_assert(last == first || last == second);
    ck_assert_ptr_eq(world.pool.free, last == first ? second : first);
    ck_assert_ptr_null(tr__fiber_resume(&world.host, last));
    ck_assert_uint_eq(fiber_pool_lent(&world.pool), 0);
    world_deinit(&world);
}

static void parked_turn(void *context);

static void loop_meanwhile(void *context)
{
    struct world *world = context;
    ck_assert_uint_eq(world->steps, 1);
    world->steps = 2;
    tr__fiber_yield(&world->host); /* The loop goes on between a turn's park and its reply. */
    ck_assert_uint_eq(world->steps, 3);
    world->steps = 4;
    tr__fiber_end(&world->host, world->other); /* The reply is there. */
}

static void parked_turn(void *context)
{
    struct world *world = context;
    world->steps = 1;
    world->other = world->host.current;
    struct fiber *next = world_fiber(world, loop_meanwhile);
    fiber_switch(&world->host, next);
    ck_assert_uint_eq(world->steps, 4);
    ck_assert_ptr_eq(world->host.current, world->other);
    ck_assert_uint_eq(fiber_pool_lent(&world->pool), 1);
    world->steps = 5;
    tr__fiber_yield(&world->host);
    world->steps = 6;
}

TEST(a_parked_fiber_goes_on_as_the_one_the_host_resumes, "")
{
    struct world world;
    world_init(&world);
    struct fiber *first = world_fiber(&world, parked_turn);
    struct fiber *second = tr__fiber_resume(&world.host, first);
    ck_assert_ptr_ne(second, first);
    ck_assert_uint_eq(world.steps, 2);
    ck_assert_uint_eq(fiber_pool_lent(&world.pool), 2);
    world.steps = 3;
    ck_assert_ptr_eq(tr__fiber_resume(&world.host, second), first);
    ck_assert_uint_eq(world.steps, 5);
    ck_assert_ptr_null(tr__fiber_resume(&world.host, first));
    ck_assert_uint_eq(world.steps, 6);
    ck_assert_uint_eq(fiber_pool_lent(&world.pool), 0);
    world_deinit(&world);
}

TEST(discard_gives_back_a_fiber_that_was_left, "")
{
    struct world world;
    world_init(&world);
    struct fiber *fresh = world_fiber(&world, yield_twice);
    struct fiber *left = world_fiber(&world, yield_twice);
    ck_assert_ptr_eq(tr__fiber_resume(&world.host, left), left);
    ck_assert_uint_eq(fiber_pool_lent(&world.pool), 2);
    tr__fiber_discard(left);
    tr__fiber_discard(fresh);
    tr__fiber_discard(NULL);
    ck_assert_uint_eq(fiber_pool_lent(&world.pool), 0);
    world_deinit(&world);
}

static void *resume_elsewhere(void *context)
{
    struct world *world = context;
    world->other = tr__fiber_resume(&world->host, world->other);
    return NULL;
}

TEST(another_thread_may_be_the_host_between_two_resumes, "")
{
    struct world world;
    world_init(&world);
    world.other = world_fiber(&world, yield_twice);
    for (unsigned i = 1; i <= 3; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, resume_elsewhere, &world), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_uint_eq(world.steps, i);
    }
    ck_assert_ptr_null(world.other);
    world_deinit(&world);
}

static void host_of_an_inner_world(void *context)
{
    struct world *world = context;
    struct world inner;
    world_init(&inner);
    struct fiber *fiber = world_fiber(&inner, yield_twice);
    fiber = tr__fiber_resume(&inner.host, fiber);
    tr__fiber_yield(&world->host);
    fiber = tr__fiber_resume(&inner.host, fiber);
    ck_assert_ptr_null(tr__fiber_resume(&inner.host, fiber));
    world->steps = inner.steps;
    world_deinit(&inner);
}

TEST(a_fiber_may_be_the_host_of_others, "")
{
    struct world world;
    world_init(&world);
    struct fiber *fiber = world_fiber(&world, host_of_an_inner_world);
    ck_assert_ptr_eq(tr__fiber_resume(&world.host, fiber), fiber);
    ck_assert_ptr_null(tr__fiber_resume(&world.host, fiber));
    ck_assert_uint_eq(world.steps, 3);
    world_deinit(&world);
}

static void resume_on_a_fiber(void *context)
{
    struct world *world = context;
    world->other = tr__fiber_resume(&world->host, world->other);
}

TEST_ABORTS(resume_on_a_fiber_of_the_same_host_is_refused, "")
{
    struct world world;
    world_init(&world);
    world.other = world_fiber(&world, yield_twice);
    struct fiber *fiber = world_fiber(&world, resume_on_a_fiber);
    fiber = tr__fiber_resume(&world.host, fiber);
}

/* Goes below the canary and comes back up. */
__attribute__((noinline)) static void overflow(struct world *world)
{
    memset((char *)(uintptr_t)world->host.current->side.low, 1, 64);
}

static void overflow_and_yield(void *context)
{
    struct world *world = context;
    overflow(world);
    tr__fiber_yield(&world->host);
}

static void overflow_and_switch(void *context)
{
    struct world *world = context;
    overflow(world);
    fiber_switch(&world->host, world->other);
}

static void name_it(const struct fiber_pool *pool, char *text, size_t size)
{
    (void)pool;
    snprintf(text, size, "%s", "the guilty one");
}

/* What is said of a fiber with a stack without a guard that uses too much of it. */
static void overflow_report(void (*main)(void *context), char report[512])
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        tr__os_guards_limit(OS_GUARD_NONE);
        struct world world;
        world_init(&world);
        world.pool.describe = name_it;
        world.other = world_fiber(&world, yield_twice);
        struct fiber *fiber = world_fiber(&world, main);
        _exit(tr__fiber_resume(&world.host, fiber) ? 0 : 1);
    }
    close(ends[1]);
    size_t size = 0;
    ssize_t count;
    while (size < 511 && (count = read(ends[0], report + size, 511 - size)) > 0)
        size += (size_t)count;
    report[size] = 0;
    close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(an_overflow_without_a_guard_is_found_when_the_stack_is_left, "")
{
    void (*const mains[])(void *context) = {overflow_and_yield, overflow_and_switch};
    for (size_t i = 0; i < 2; i++) {
        char report[512];
        overflow_report(mains[i], report);
        ck_assert_ptr_nonnull(strstr(report, "stack overflow"));
        ck_assert_ptr_nonnull(strstr(report, "the guilty one"));
    }
}

TEST(a_stack_without_a_guard_serves_as_well, "")
{
    tr__os_guards_limit(OS_GUARD_NONE);
    struct world world;
    world_init(&world);
    struct fiber *fiber = world_fiber(&world, yield_twice);
    ck_assert(fiber->side.is_bare);
    for (int i = 0; i < 3; i++)
        fiber = tr__fiber_resume(&world.host, fiber);
    ck_assert_ptr_null(fiber);
    world_deinit(&world);
}

SUITE("fiber switch", resume_runs_until_the_next_yield,
      replace_ends_a_turn_from_any_depth_with_two_stacks,
      a_parked_fiber_goes_on_as_the_one_the_host_resumes, discard_gives_back_a_fiber_that_was_left,
      another_thread_may_be_the_host_between_two_resumes, a_fiber_may_be_the_host_of_others,
      resume_on_a_fiber_of_the_same_host_is_refused,
      an_overflow_without_a_guard_is_found_when_the_stack_is_left,
      a_stack_without_a_guard_serves_as_well)
