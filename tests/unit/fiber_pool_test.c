/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pool of stacks: the spare stays, memory may run out, an overrun is found.
 */
#include "fiber/fiber.h"

#include "os/virtual.h"
#include "support/test.h"

#include <sys/wait.h>
#include <unistd.h>

static void nothing(void *context)
{
    (void)context;
}

TEST(a_pool_of_n_stacks_lends_all_but_the_spare, "")
{
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    struct fiber *fiber = NULL;
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, 20), TR_OK);
    for (size_t i = 0; i < 19; i++)
        ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_OK);
    struct fiber *last = fiber;
    ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_NO_MEMORY);
    ck_assert_ptr_eq(fiber, last);
    ck_assert_uint_eq(fiber_pool_lent(&pool), 19);
    ck_assert_uint_eq(pool.free_count, 1);
    tr__fiber_discard(last);
    ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_OK);
    ck_assert_ptr_eq(fiber, last);
    tr__fiber_pool_deinit(&pool);
    ck_assert_uint_eq(tr__virtual_live_blocks(platform), 0);
    tr__virtual_free(platform);
}

TEST(out_of_memory_is_a_status_and_the_pool_goes_on, "U-03")
{
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    struct fiber *fiber = NULL;
    tr__virtual_fail_allocation(platform, 1, false);
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, 0), TR_NO_MEMORY);
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, 0), TR_OK);
    for (size_t i = 0; i < FIBER_SLAB_STACKS - 1; i++)
        ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_OK);
    tr__virtual_fail_allocation(platform, 1, false);
    ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_NO_MEMORY);
    ck_assert_uint_eq(pool.free_count, 1);
    ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_OK);
    ck_assert_uint_eq(pool.stacks_count, 2 * FIBER_SLAB_STACKS);
    tr__fiber_pool_deinit(&pool);
    ck_assert_uint_eq(tr__virtual_live_blocks(platform), 0);
    tr__virtual_free(platform);
}

TEST(a_pool_gives_back_what_a_crowd_has_left, "")
{
    enum { CROWD = 1000 };
    static struct fiber *crowd[CROWD];
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, 0), TR_OK);
    for (size_t i = 0; i < CROWD; i++)
        ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &crowd[i]), TR_OK);
    tr__fiber_pool_trim(&pool);
    ck_assert_uint_eq(fiber_pool_lent(&pool), CROWD);
    /* One of each slab stays out: nothing can go. */
    for (size_t i = 0; i < CROWD; i++) {
        if (i % FIBER_SLAB_STACKS)
            tr__fiber_discard(crowd[i]);
    }
    size_t made = pool.stacks_count;
    tr__fiber_pool_trim(&pool);
    ck_assert_uint_ge(pool.stacks_count, made - FIBER_SLAB_STACKS);
    for (size_t i = 0; i < CROWD; i += FIBER_SLAB_STACKS)
        tr__fiber_discard(crowd[i]);
    tr__fiber_pool_trim(&pool);
    ck_assert_uint_eq(fiber_pool_lent(&pool), 0);
    ck_assert_uint_ge(pool.free_count, FIBER_KEEP);
    ck_assert_uint_lt(pool.free_count, FIBER_KEEP + FIBER_SLAB_STACKS);
    ck_assert_uint_eq(tr__virtual_live_blocks(platform), pool.stacks_count / FIBER_SLAB_STACKS);
    /* And it goes on. */
    for (size_t i = 0; i < CROWD; i++)
        ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &crowd[i]), TR_OK);
    tr__fiber_pool_deinit(&pool);
    ck_assert_uint_eq(tr__virtual_live_blocks(platform), 0);
    tr__virtual_free(platform);
}

TEST_ABORTS(a_dead_canary_is_found_when_the_stack_comes_back, "")
{
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    struct fiber *fiber = NULL;
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, 0), TR_OK);
    ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_OK);
    ((char *)(uintptr_t)fiber->side.low)[7] = 1;
    tr__fiber_discard(fiber);
}

TEST(the_page_below_a_stack_is_a_guard, "")
{
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    struct fiber *fiber = NULL;
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, 0), TR_OK);
    ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_OK);
    pid_t child = fork();
    if (child == 0) {
        ((volatile char *)(uintptr_t)fiber->side.low)[-1] = 1;
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    /* A sanitizer reports the fault and ends the process in its own way. */
    ck_assert(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) != 0);
    tr__fiber_pool_deinit(&pool);
    tr__virtual_free(platform);
}

SUITE("fiber pool", a_pool_of_n_stacks_lends_all_but_the_spare,
      out_of_memory_is_a_status_and_the_pool_goes_on, a_pool_gives_back_what_a_crowd_has_left,
      the_page_below_a_stack_is_a_guard, a_dead_canary_is_found_when_the_stack_comes_back)
