/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pool of stacks: slabs, the free list, canaries, and what sanitizers and valgrind must know.
 */
#include "fiber/pool.h"

#include "base/assert.h"
#include "os/memory.h"

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

/*
 * The lowest words of a stack are its canary: nobody may get that far down. They are zero, as the
 * kernel made them, because to write another value would cost each stack a page of memory, while
 * reading untouched pages costs none.
 */
enum { CANARY_WORDS = 8 };

/* How often one shadow of ThreadSanitizer serves: to make one takes it a millisecond. */
enum { SHADOW_USES = 256 };

struct fiber_slab {
    struct fiber_slab *next;
    void *stacks;
    uint32_t free_count; /* of its stacks; counted by tr__fiber_pool_trim */
    struct fiber fibers[FIBER_SLAB_STACKS];
    unsigned valgrind_ids[FIBER_SLAB_STACKS];
};

static bool canary_is_alive(const struct fiber *fiber)
{
    const uint64_t *words = fiber->side.low;
    uint64_t sum = 0;
    for (size_t i = 0; i < CANARY_WORDS; i++)
        sum |= words[i];
    return sum == 0;
}

/* A free stack is poisoned: pointers into the frames of a turn that has ended are found. */
static void stack_poison(struct fiber *fiber)
{
#ifdef FIBER_ASAN
    __asan_poison_memory_region(fiber->side.low, fiber->side.size);
#else
    (void)fiber;
#endif
}

/* Dropped frames never removed their red zones; this does. */
static void stack_unpoison(struct fiber *fiber)
{
#ifdef FIBER_ASAN
    __asan_unpoison_memory_region(fiber->side.low, fiber->side.size);
#else
    (void)fiber;
#endif
}

static void valgrind_register(struct fiber_slab *slab, size_t index)
{
#ifdef VALGRIND_STACK_REGISTER
    const char *low = slab->fibers[index].side.low;
    slab->valgrind_ids[index] = VALGRIND_STACK_REGISTER(low, low + FIBER_STACK_SIZE - 1);
#else
    (void)slab;
    (void)index;
#endif
}

static void valgrind_deregister(struct fiber_slab *slab, size_t index)
{
#ifdef VALGRIND_STACK_DEREGISTER
    VALGRIND_STACK_DEREGISTER(slab->valgrind_ids[index]);
#else
    (void)slab;
    (void)index;
#endif
}

static void free_push(struct fiber_pool *pool, struct fiber *fiber)
{
    fiber->next = pool->free;
    pool->free = fiber;
    pool->free_count++;
}

static struct fiber *free_pop(struct fiber_pool *pool)
{
    struct fiber *fiber = pool->free;
    TR_ASSERT(fiber);
    TR_ASSERT(!fiber->is_lent);
    pool->free = fiber->next;
    pool->free_count--;
    stack_unpoison(fiber);
    fiber->next = NULL;
    fiber->is_lent = true;
#ifdef FIBER_TSAN
    if (!fiber->side.shadow)
        fiber->side.shadow = __tsan_create_fiber(0);
#endif
    return fiber;
}

static bool pool_grow(struct fiber_pool *pool)
{
    if (pool->stacks_max && pool->stacks_count >= pool->stacks_max)
        return false;
    struct fiber_slab *slab = pool->platform->resize(pool->platform, NULL, sizeof *slab);
    if (!slab)
        return false;
    *slab = (struct fiber_slab){.next = pool->slabs};
    slab->stacks = tr__os_stack_slab(FIBER_SLAB_STACKS, FIBER_STACK_SIZE);
    if (!slab->stacks) {
        pool->platform->resize(pool->platform, slab, 0);
        return false;
    }
    pool->slabs = slab;
    /* From the end, so that the first stack is lent first. */
    for (size_t i = FIBER_SLAB_STACKS; i-- > 0;) {
        struct fiber *fiber = &slab->fibers[i];
        fiber->pool = pool;
        fiber->slab = slab;
        fiber->side.low = tr__os_stack_low(slab->stacks, i, FIBER_STACK_SIZE);
        fiber->side.size = FIBER_STACK_SIZE;
        valgrind_register(slab, i);
        if (pool->stacks_max && pool->stacks_count >= pool->stacks_max)
            continue;
        stack_poison(fiber);
        free_push(pool, fiber);
        pool->stacks_count++;
    }
    return true;
}

tr_status tr__fiber_pool_init(struct fiber_pool *pool, const tr_platform *platform,
                              size_t stacks_max)
{
    TR_ASSERT(stacks_max != 1);
    *pool = (struct fiber_pool){.platform = platform, .stacks_max = stacks_max};
    return pool_grow(pool) ? TR_OK : TR_NO_MEMORY;
}

static void slab_free(struct fiber_pool *pool, struct fiber_slab *slab)
{
    for (size_t i = 0; i < FIBER_SLAB_STACKS; i++) {
        stack_unpoison(&slab->fibers[i]);
        valgrind_deregister(slab, i);
#ifdef FIBER_TSAN
        if (slab->fibers[i].side.shadow)
            __tsan_destroy_fiber(slab->fibers[i].side.shadow);
#endif
    }
    tr__os_stack_slab_free(slab->stacks, FIBER_SLAB_STACKS, FIBER_STACK_SIZE);
    pool->platform->resize(pool->platform, slab, 0);
}

void tr__fiber_pool_deinit(struct fiber_pool *pool)
{
    while (pool->slabs) {
        struct fiber_slab *slab = pool->slabs;
        pool->slabs = slab->next;
        slab_free(pool, slab);
    }
    *pool = (struct fiber_pool){.platform = pool->platform};
}

/* Whether all stacks of a slab are free; with a limit some of them may not be in use at all. */
static bool slab_is_free(const struct fiber_slab *slab)
{
    return slab->free_count == FIBER_SLAB_STACKS;
}

void tr__fiber_pool_trim(struct fiber_pool *pool)
{
    if (pool->free_count < FIBER_KEEP + FIBER_SLAB_STACKS)
        return;
    for (struct fiber_slab *slab = pool->slabs; slab; slab = slab->next)
        slab->free_count = 0;
    for (struct fiber *fiber = pool->free; fiber; fiber = fiber->next)
        fiber->slab->free_count++;
    /* Those that stay, the warm ones first. */
    size_t left = pool->free_count;
    for (struct fiber_slab *slab = pool->slabs; slab; slab = slab->next) {
        if (!slab_is_free(slab))
            continue;
        if (left < FIBER_KEEP + FIBER_SLAB_STACKS)
            slab->free_count = 0;
        else
            left -= FIBER_SLAB_STACKS;
    }
    struct fiber **link = &pool->free;
    while (*link) {
        if (slab_is_free((*link)->slab))
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
    struct fiber_slab **slabs = &pool->slabs;
    while (*slabs) {
        struct fiber_slab *slab = *slabs;
        if (!slab_is_free(slab)) {
            slabs = &slab->next;
            continue;
        }
        *slabs = slab->next;
        pool->stacks_count -= FIBER_SLAB_STACKS;
        slab_free(pool, slab);
    }
    pool->free_count = left;
}

struct fiber *tr__fiber_pool_take(struct fiber_pool *pool)
{
    if (pool->free_count < 2 && !pool_grow(pool))
        return NULL;
    if (pool->free_count < 2) /* Rule 1: the limit leaves the spare only. */
        return NULL;
    struct fiber *fiber = free_pop(pool);
    TR_ASSERT(pool->free_count >= 1);
    return fiber;
}

struct fiber *tr__fiber_pool_take_spare(struct fiber_pool *pool)
{
    return free_pop(pool);
}

void tr__fiber_pool_give(struct fiber_pool *pool, struct fiber *fiber)
{
    TR_ASSERT(fiber->pool == pool);
    TR_ASSERT(fiber->is_lent);
    TR_ASSERT(canary_is_alive(fiber));
#ifdef FIBER_TSAN
    /* Frames that were dropped are still open in it, and there is room for some thousands. */
    if (++fiber->uses % SHADOW_USES == 0) {
        __tsan_destroy_fiber(fiber->side.shadow);
        fiber->side.shadow = NULL;
    }
#endif
    fiber->is_lent = false;
    fiber->side.context = NULL;
    fiber->side.fake_stack = NULL;
    stack_poison(fiber);
    free_push(pool, fiber);
}
