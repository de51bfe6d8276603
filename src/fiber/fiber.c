/* SPDX-License-Identifier: Apache-2.0 */
/** Fibers that begin, yield and end. How they switch is in fiber/jump.h. */
#include <string.h>

#include "fiber/jump.h"

TR_NO_RETURN static void fiber_entry(void *data)
{
    struct fiber_host *host = data;
    struct fiber *fiber = host->current;
    side_arrive(host, &fiber->side);
    fiber->main(fiber->main_context);
    /*
     * fiber->main may have switched to other fibers and back, but it returns on the stack of this
     * fiber.
     */
    TR_ASSERT(host->current == fiber);
    tr__fiber_end(host, NULL);
}

/*
 * The function in which a new stack begins: the `entry` of switch_prepare. boost.context passes a
 * transfer to it instead of the data.
 */
#ifdef SWITCH_IS_BOOST
#define FIBER_ENTRY fiber_entry_boost
TR_NO_RETURN static void fiber_entry_boost(struct switch_transfer transfer)
{
    fiber_entry(switch_unpack(transfer));
}
#else
#define FIBER_ENTRY fiber_entry
#endif

void tr__fiber_prepare(struct fiber *fiber, void (*main)(void *context), void *context)
{
    fiber->main = main;
    fiber->main_context = context;
    fiber->user = NULL;
    char *top = (char *)(uintptr_t)fiber->side.low + fiber->side.size;
    fiber->side.context = switch_prepare(top, fiber->side.size, FIBER_ENTRY);
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
    tr__fiber_prepare(made, main, context);
    *fiber = made;
    return TR_OK;
}

void tr__fiber_discard(struct fiber *fiber)
{
    if (!fiber)
        return;
    TR_ASSERT(fiber->side.context); /* the fiber must not be running */
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

void tr__fiber_replace(struct fiber_host *host, struct fiber_pool *pool,
                       void (*main)(void *context), void *context)
{
    struct fiber *fiber = host->current;
    TR_ASSERT(fiber);
    TR_ASSERT(fiber->pool == pool);
    struct fiber *next = tr__fiber_pool_take_spare(pool);
    tr__fiber_prepare(next, main, context);
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
    TR_NOT_REACHED("an ended fiber was continued");
}
