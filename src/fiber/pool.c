/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pool of stacks: slabs, the free list, canaries, and what sanitizers and valgrind must know
 * about stacks.
 */
#include "fiber/pool.h"

#include <stdio.h>

#include "base/assert.h"
#include "fiber/switch.h"
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
 * How many runs of a stack share one shadow, which is ThreadSanitizer's record of a stack. Making a
 * shadow takes a millisecond.
 */
enum { SHADOW_USES = 256 };

struct fiber_slab {
    struct fiber_slab *next;
    void *stacks;
    enum os_guard guard;
    bool is_doomed;        /* while trimming */
    uint32_t stacks_count; /* number of stacks that the pool uses */
    struct fiber fibers[FIBER_SLAB_STACKS];
    unsigned valgrind_ids[FIBER_SLAB_STACKS];
};

void tr__fiber_overflow(const struct fiber *fiber)
{
    const struct fiber_pool *pool = fiber->pool;
    char who[512] = "a fiber";
    char text[768];
    if (pool->describe)
        pool->describe(pool, who, sizeof who);
    (void)snprintf(text,
                   sizeof text,
                   "troupe: stack overflow: a stack of %zu bytes was exceeded, found after %s; set "
                   "a larger stack_bytes in the actor's or the system's options",
                   fiber->side.size,
                   who);
    tr__panic(text);
}

/* Poisons a free stack, so that AddressSanitizer reports uses of frames of an ended turn. */
static void stack_poison(struct fiber *fiber)
{
#ifdef FIBER_ASAN
    __asan_poison_memory_region(fiber->side.low, fiber->side.size);
#else
    (void)fiber;
#endif
}

/*
 * Unpoisons a stack: dropped frames have not removed the red zones that AddressSanitizer put around
 * their variables.
 */
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
    slab->valgrind_ids[index] =
        VALGRIND_STACK_REGISTER(low, low + slab->fibers[index].side.size - 1);
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
    fiber->is_touched = true;
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
    slab->stacks = tr__os_stack_slab(FIBER_SLAB_STACKS, pool->stack_size, &slab->guard);
    if (!slab->stacks) {
        pool->platform->resize(pool->platform, slab, 0);
        return false;
    }
    pool->slabs = slab;
    /* Begin with the last stack of the slab, so that the first stack is lent first. */
    for (size_t i = FIBER_SLAB_STACKS; i-- > 0;) {
        struct fiber *fiber = &slab->fibers[i];
        fiber->pool = pool;
        fiber->side.low = tr__os_stack_low(slab->stacks, i, pool->stack_size);
        fiber->side.size = pool->stack_size;
        fiber->side.is_bare = slab->guard == OS_GUARD_NONE;
        valgrind_register(slab, i);
        if (pool->stacks_max && pool->stacks_count >= pool->stacks_max)
            continue;
        stack_poison(fiber);
        free_push(pool, fiber);
        pool->stacks_count++;
        slab->stacks_count++;
    }
    return true;
}

tr_status tr__fiber_pool_init(struct fiber_pool *pool, const tr_platform *platform,
                              size_t stack_size, size_t stacks_max)
{
    TR_ASSERT(stack_size > 0);
    TR_ASSERT(stacks_max != 1);
    if (!switch_is_possible())
        return TR_NOT_SUPPORTED;
    *pool = (struct fiber_pool){.platform = platform,
                                .stack_size = stack_size,
                                .stacks_max = stacks_max,
                                .reserve = FIBER_RESERVE};
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
    tr__os_stack_slab_free(slab->stacks, FIBER_SLAB_STACKS, pool->stack_size, slab->guard);
    pool->platform->resize(pool->platform, slab, 0);
}

void tr__fiber_pool_deinit(struct fiber_pool *pool)
{
    while (pool->slabs) {
        struct fiber_slab *slab = pool->slabs;
        pool->slabs = slab->next;
        slab_free(pool, slab);
    }
    *pool = (struct fiber_pool){.platform = pool->platform, .stack_size = pool->stack_size};
}

struct fiber *tr__fiber_pool_take(struct fiber_pool *pool)
{
    if (pool->free_count < 2 && !pool_grow(pool))
        return NULL;
    /* rule 1: only the spare is left, and stacks_max allows no more stacks */
    if (pool->free_count < 2)
        return NULL;
    struct fiber *fiber = free_pop(pool);
    TR_ASSERT(pool->free_count >= 1);
    return fiber;
}

tr_status tr__fiber_pool_ensure(struct fiber_pool *pool)
{
    return pool->free_count || pool_grow(pool) ? TR_OK : TR_NO_MEMORY;
}

struct fiber *tr__fiber_pool_take_spare(struct fiber_pool *pool)
{
    return free_pop(pool);
}

void tr__fiber_pool_give(struct fiber_pool *pool, struct fiber *fiber)
{
    TR_ASSERT(fiber->pool == pool);
    TR_ASSERT(fiber->is_lent);
    if (__builtin_expect(!fiber_canary_is_alive(&fiber->side), 0))
        tr__fiber_overflow(fiber);
#ifdef FIBER_TSAN
    /*
     * Replace the shadow from time to time: for the shadow, dropped frames are still open, and it
     * has space for only some thousands of open frames.
     */
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

/* ---- Giving memory back. ---- */

static bool slab_is_free(const struct fiber_slab *slab)
{
    for (size_t i = 0; i < FIBER_SLAB_STACKS; i++) {
        if (slab->fibers[i].is_lent)
            return false;
    }
    return true;
}

/* Marks slabs that can be freed. Returns how many it has marked. */
static size_t slabs_doom(struct fiber_pool *pool)
{
    size_t left = pool->free_count;
    size_t doomed = 0;
    for (struct fiber_slab *slab = pool->slabs; slab; slab = slab->next) {
        if (doomed == FIBER_TRIM_STEP || left < slab->stacks_count + pool->reserve)
            break;
        if (!slab_is_free(slab))
            continue;
        for (size_t i = 0; i < FIBER_SLAB_STACKS; i++)
            slab->fibers[i].is_doomed = true;
        slab->is_doomed = true;
        left -= slab->stacks_count;
        doomed++;
    }
    return doomed;
}

static void slabs_free_doomed(struct fiber_pool *pool)
{
    struct fiber **place = &pool->free;
    while (*place) {
        if ((*place)->is_doomed) {
            *place = (*place)->next;
            pool->free_count--;
        } else {
            place = &(*place)->next;
        }
    }
    struct fiber_slab **link = &pool->slabs;
    while (*link) {
        struct fiber_slab *slab = *link;
        if (!slab->is_doomed) {
            link = &slab->next;
            continue;
        }
        *link = slab->next;
        pool->stacks_count -= slab->stacks_count;
        slab_free(pool, slab);
    }
}

/*
 * Gives the memory of free stacks back to the kernel. Leaves out the stacks that were given back to
 * the pool last, because their pages are warm.
 */
static size_t stacks_clean(struct fiber_pool *pool)
{
    size_t kept = 0;
    size_t cleaned = 0;
    for (struct fiber *fiber = pool->free; fiber && cleaned < FIBER_TRIM_STEP;
         fiber = fiber->next) {
        if (!fiber->is_touched || kept++ < pool->reserve)
            continue;
        tr__os_stack_clean(fiber->side.low, fiber->side.size);
        fiber->is_touched = false;
        cleaned++;
    }
    return cleaned;
}

bool tr__fiber_pool_trim(struct fiber_pool *pool)
{
    if (pool->free_count <= pool->reserve)
        return false;
    size_t doomed = slabs_doom(pool);
    if (doomed)
        slabs_free_doomed(pool);
    if (doomed == FIBER_TRIM_STEP)
        return true;
    return stacks_clean(pool) == FIBER_TRIM_STEP;
}
