/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Switching between the stacks of a host and its fibers.
 *
 * Every switch is one call of side_leave, which the leaver makes, and one of side_arrive, which the
 * arriver makes: at its first run in fiber_entry, else behind its own jump. The leaver cannot know
 * where it can be continued before it has left, so the arriver writes that down; and a stack that
 * was left for good is still in use until then, so the arriver gives it back.
 */
#include "fiber/fiber.h"

#include <string.h>

#include "base/assert.h"
#include "fiber/switch.h"

#ifdef FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#define FIBER_INLINE __attribute__((__always_inline__)) static inline

/* What the sanitizers must hear before the jump. `is_last`: the leaver never comes back. */
FIBER_INLINE void sanitizer_leave(struct fiber_side *leaver, struct fiber_side *next, bool is_last)
{
#ifdef FIBER_ASAN
    void **fake_stack = is_last ? NULL : &leaver->fake_stack;
    __sanitizer_start_switch_fiber(fake_stack, next->low, next->size);
#endif
#ifdef FIBER_TSAN
    __tsan_switch_to_fiber(next->shadow, 0);
#endif
    (void)leaver;
    (void)next;
    (void)is_last;
}

/* And after it. */
FIBER_INLINE void sanitizer_arrive(struct fiber_side *leaver, struct fiber_side *arriver)
{
#ifdef FIBER_ASAN
    /* Of a thread's own stack only the sanitizer knows the bounds; of a fiber's they are ours. */
    __sanitizer_finish_switch_fiber(arriver->fake_stack, &leaver->low, &leaver->size);
#endif
    (void)leaver;
    (void)arriver;
}

FIBER_INLINE void side_arrive(struct fiber_host *host, struct fiber_side *arriver,
                              struct fiber_transfer from)
{
    struct fiber_side *leaver = host->leaver;
    sanitizer_arrive(leaver, arriver);
    leaver->context = from.context;
    /* Only now that nobody stands on it: the report needs a stack as well. */
    if (__builtin_expect(leaver->is_bare, 0) && !fiber_canary_is_alive(leaver))
        tr__fiber_overflow((struct fiber *)(void *)leaver);
    struct fiber *ended = host->ended;
    if (__builtin_expect(ended != NULL, 0)) {
        host->ended = NULL;
        tr__fiber_pool_give(ended->pool, ended);
    }
}

FIBER_INLINE void side_leave(struct fiber_host *host, struct fiber_side *leaver,
                             struct fiber_side *next, bool is_last)
{
    TR_ASSERT(next->context);
    host->leaver = leaver;
    sanitizer_leave(leaver, next, is_last);
    struct fiber_transfer from = jump_fcontext(next->context, host);
    side_arrive(host, leaver, from);
}

static void fiber_entry(struct fiber_transfer from)
{
    struct fiber_host *host = from.data;
    struct fiber *fiber = host->current;
    side_arrive(host, &fiber->side, from);
    fiber->main(fiber->main_context);
    /* main may have been left and come back to; this is still its stack. */
    TR_ASSERT(host->current == fiber);
    tr__fiber_end(host, NULL);
}

static void fiber_prepare(struct fiber *fiber, void (*main)(void *context), void *context)
{
    fiber->main = main;
    fiber->main_context = context;
    fiber->user = NULL;
    char *top = (char *)(uintptr_t)fiber->side.low + fiber->side.size;
    fiber->side.context = make_fcontext(top, fiber->side.size, fiber_entry);
}

void tr__fiber_host_init(struct fiber_host *host)
{
    *host = (struct fiber_host){0};
}

tr_status tr__fiber_new(struct fiber_pool *pool, void (*main)(void *context), void *context,
                        struct fiber **fiber)
{
    struct fiber *made = tr__fiber_pool_take(pool);
    if (!made)
        return TR_NO_MEMORY;
    fiber_prepare(made, main, context);
    *fiber = made;
    return TR_OK;
}

void tr__fiber_discard(struct fiber *fiber)
{
    if (!fiber)
        return;
    TR_ASSERT(fiber->side.context); /* It does not run. */
    tr__fiber_pool_give(fiber->pool, fiber);
}

void tr__fiber_wipe(struct fiber *fiber)
{
    fiber->user = NULL;
    memset((void *)(uintptr_t)fiber->side.low, 0, FIBER_CANARY_WORDS * sizeof(uint64_t));
}

struct fiber *tr__fiber_resume(struct fiber_host *host, struct fiber *fiber)
{
    TR_ASSERT(!host->current);
    TR_ASSERT(fiber->is_lent);
    host->current = fiber;
#ifdef FIBER_TSAN
    host->side.shadow = __tsan_get_current_fiber();
#endif
    side_leave(host, &host->side, &fiber->side, false);
    TR_ASSERT(!host->current);
    struct fiber *yielded = host->yielded;
    host->yielded = NULL;
    return yielded;
}

void tr__fiber_yield(struct fiber_host *host)
{
    struct fiber *fiber = host->current;
    TR_ASSERT(fiber);
    host->current = NULL;
    host->yielded = fiber;
    side_leave(host, &fiber->side, &host->side, false);
}

void tr__fiber_switch(struct fiber_host *host, struct fiber *next)
{
    struct fiber *fiber = host->current;
    TR_ASSERT(fiber);
    TR_ASSERT(next != fiber);
    TR_ASSERT(next->is_lent);
    host->current = next;
    side_leave(host, &fiber->side, &next->side, false);
}

void tr__fiber_replace(struct fiber_host *host, struct fiber_pool *pool,
                       void (*main)(void *context), void *context)
{
    struct fiber *fiber = host->current;
    TR_ASSERT(fiber);
    TR_ASSERT(fiber->pool == pool);
    struct fiber *next = tr__fiber_pool_take_spare(pool);
    fiber_prepare(next, main, context);
    tr__fiber_end(host, next);
}

void tr__fiber_end(struct fiber_host *host, struct fiber *next)
{
    struct fiber *fiber = host->current;
    TR_ASSERT(fiber);
    TR_ASSERT(next != fiber);
    host->ended = fiber;
    host->current = next;
    side_leave(host, &fiber->side, next ? &next->side : &host->side, true);
    TR_UNREACHABLE("an ended fiber was continued");
}
