/* SPDX-License-Identifier: Apache-2.0 */
/** Calls on the large stack: see aside.h. */
#include "fiber/aside.h"

#include "fiber/jump.h"

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

tr_status tr__aside_init(struct aside *aside, struct fiber_pool *pool)
{
    if (aside->slab)
        return TR_OK;
    void *slab = tr__os_stack_slab(1, ASIDE_STACK_SIZE, &aside->guard);
    if (!slab)
        return TR_NO_MEMORY;
    aside->slab = slab;
    aside->fiber = (struct fiber){.pool = pool, .is_lent = true};
    struct fiber_side *side = &aside->fiber.side;
    side->low = tr__os_stack_low(slab, 0, ASIDE_STACK_SIZE);
    side->size = ASIDE_STACK_SIZE;
    side->is_bare = aside->guard == OS_GUARD_NONE;
#ifdef FIBER_TSAN
    side->shadow = __tsan_create_fiber(0);
#endif
#ifdef VALGRIND_STACK_REGISTER
    const char *low = side->low;
    aside->valgrind_id = VALGRIND_STACK_REGISTER(low, low + ASIDE_STACK_SIZE - 1);
#endif
    return TR_OK;
}

void tr__aside_deinit(struct aside *aside)
{
    if (!aside->slab)
        return;
#ifdef FIBER_TSAN
    __tsan_destroy_fiber(aside->fiber.side.shadow);
#endif
#ifdef VALGRIND_STACK_DEREGISTER
    VALGRIND_STACK_DEREGISTER(aside->valgrind_id);
#endif
    tr__os_stack_slab_free(aside->slab, 1, ASIDE_STACK_SIZE, aside->guard);
    *aside = (struct aside){0};
}

/*
 * Runs one call on the large stack, then switches back to the caller. Each call begins at the top of the large stack,
 * so the frames of an earlier call are never used again.
 */
static void aside_main(void *context)
{
    struct aside *aside = context;
    aside->call(aside->context);
    struct fiber_host *host = aside->host;
    TR_ASSERT(host->current == &aside->fiber);
    host->current = aside->caller;
    side_leave(host, &aside->fiber.side, &aside->caller->side, true);
    TR_NOT_REACHED("a call that has returned was continued");
}

void tr__aside_call(struct aside *aside, struct fiber_host *host, void (*call)(void *context),
                    void *context)
{
    TR_ASSERT(aside->slab);
    TR_ASSERT(host->current);
    TR_ASSERT(host->current != &aside->fiber);
    aside->host = host;
    aside->caller = host->current;
    aside->call = call;
    aside->context = context;
    tr__fiber_prepare(&aside->fiber, aside_main, aside);
    fiber_switch(host, &aside->fiber);
}
