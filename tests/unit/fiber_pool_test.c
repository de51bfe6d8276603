/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pool of stacks: the spare stays, memory may run out, an overrun is found.
 */
#include "fiber/fiber.h"

#include "os/memory.h"
#include "os/virtual.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, FIBER_STACK_SIZE, 20), TR_OK);
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
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, FIBER_STACK_SIZE, 0),
                     TR_NO_MEMORY);
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, FIBER_STACK_SIZE, 0), TR_OK);
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

TEST_ABORTS(a_dead_canary_is_found_when_the_stack_comes_back, "")
{
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    struct fiber *fiber = NULL;
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, FIBER_STACK_SIZE, 0), TR_OK);
    ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fiber), TR_OK);
    ((char *)(uintptr_t)fiber->side.low)[7] = 1;
    tr__fiber_discard(fiber);
}

static void touch_the_guard(enum os_guard best)
{
    tr__os_guards_limit(best);
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    struct fiber *fiber = NULL;
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, FIBER_STACK_SIZE, 0), TR_OK);
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

TEST(the_page_below_a_stack_is_a_guard, "")
{
    touch_the_guard(OS_GUARD_MARK);
}

TEST(the_page_below_a_stack_is_a_guard_on_older_kernels, "")
{
    touch_the_guard(OS_GUARD_PAGE);
}

static size_t resident_pages(const struct fiber *fiber)
{
    unsigned char pages[FIBER_STACK_SIZE / 4096];
    size_t count = 0;
    ck_assert_uint_eq(tr__os_page_size(), 4096);
    ck_assert_int_eq(mincore((void *)(uintptr_t)fiber->side.low, FIBER_STACK_SIZE, pages), 0);
    for (size_t i = 0; i < sizeof pages; i++)
        count += pages[i] & 1;
    return count;
}

static void stack_touch(const struct fiber *fiber)
{
    memset((char *)(uintptr_t)fiber->side.low + FIBER_STACK_SIZE - 8192, 1, 8192);
}

enum { STORM = 1000 };

TEST(a_trim_gives_back_what_a_storm_has_left, "U-03")
{
    static struct fiber *fibers[STORM];
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, FIBER_STACK_SIZE, 0), TR_OK);
    size_t blocks = tr__virtual_live_blocks(platform);
    ck_assert(!tr__fiber_pool_trim(&pool));
    ck_assert_uint_eq(pool.stacks_count, FIBER_SLAB_STACKS);
    for (size_t i = 0; i < STORM; i++) {
        ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fibers[i]), TR_OK);
        stack_touch(fibers[i]);
    }
    /* In every other slab one stays. */
    for (size_t i = 0; i < STORM; i++) {
        if (i % (2 * FIBER_SLAB_STACKS) != 3)
            tr__fiber_discard(fibers[i]);
    }
    size_t lent = fiber_pool_lent(&pool);
    while (tr__fiber_pool_trim(&pool))
        ;
    ck_assert_uint_eq(fiber_pool_lent(&pool), lent);
    ck_assert_uint_eq(pool.stacks_count, lent * FIBER_SLAB_STACKS);
    size_t resident = 0;
    for (struct fiber *fiber = pool.free; fiber; fiber = fiber->next)
        resident += resident_pages(fiber);
    ck_assert_uint_le(resident, FIBER_RESERVE * 3);
    /* Those that stay are as they were, and so is the pool. */
    for (size_t i = 3; i < STORM; i += 2 * FIBER_SLAB_STACKS) {
        ck_assert_int_eq(((const char *)fibers[i]->side.low)[FIBER_STACK_SIZE - 8192], 1);
        tr__fiber_discard(fibers[i]);
    }
    while (tr__fiber_pool_trim(&pool))
        ;
    ck_assert_uint_eq(pool.free_count, pool.stacks_count);
    ck_assert_uint_le(pool.free_count, FIBER_RESERVE + FIBER_SLAB_STACKS);
    ck_assert_uint_le(tr__virtual_live_blocks(platform), blocks + 2);
    for (size_t i = 0; i < STORM; i++) {
        ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fibers[i]), TR_OK);
        stack_touch(fibers[i]);
    }
    tr__fiber_pool_deinit(&pool);
    ck_assert_uint_eq(tr__virtual_live_blocks(platform), 0);
    tr__virtual_free(platform);
}

static size_t mappings(void)
{
    size_t count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(file);
    for (int c; (c = getc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

TEST(guard_pages_end_before_the_mappings_do, "U-03")
{
    enum { MANY = OS_GUARD_PAGES_MAX + 4000 };
    static struct fiber *fibers[MANY];
    struct virtual_platform *platform = tr__virtual_new(1);
    struct fiber_pool pool;
    if (TEST_HAS_SANITIZER)
        test_skip("its stacks are too large for so many");
    tr__os_guards_limit(OS_GUARD_PAGE);
    size_t before = mappings();
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, FIBER_STACK_SIZE, 0), TR_OK);
    for (size_t i = 0; i < MANY; i++)
        ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fibers[i]), TR_OK);
    size_t bare = 0;
    for (size_t i = 0; i < MANY; i++)
        bare += fibers[i]->side.is_bare;
    ck_assert(!fibers[0]->side.is_bare);
    ck_assert(fibers[MANY - 2]->side.is_bare);
    ck_assert_uint_ge(bare, MANY - OS_GUARD_PAGES_MAX);
    ck_assert_uint_le(bare, MANY - OS_GUARD_PAGES_MAX + FIBER_SLAB_STACKS);
    ck_assert_uint_le(mappings() - before, 2 * OS_GUARD_PAGES_MAX + 100);
    /* What goes back is there for the next. */
    tr__fiber_pool_deinit(&pool);
    ck_assert_int_eq(tr__fiber_pool_init(&pool, &platform->table, FIBER_STACK_SIZE, 0), TR_OK);
    ck_assert_int_eq(tr__fiber_new(&pool, nothing, NULL, &fibers[0]), TR_OK);
    ck_assert(!fibers[0]->side.is_bare);
    tr__fiber_pool_deinit(&pool);
    tr__virtual_free(platform);
}

SUITE("fiber pool", a_pool_of_n_stacks_lends_all_but_the_spare,
      out_of_memory_is_a_status_and_the_pool_goes_on, the_page_below_a_stack_is_a_guard,
      the_page_below_a_stack_is_a_guard_on_older_kernels,
      a_dead_canary_is_found_when_the_stack_comes_back, a_trim_gives_back_what_a_storm_has_left,
      guard_pages_end_before_the_mappings_do)
