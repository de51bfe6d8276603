/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/stack.h"

#include "actor/cell/sched_state.h"
#include "actor/cell/upcalls.h"
#include "base/assert.h"
#include "fiber/fiber.h"

/*
 * How many free stacks of each pool keep their memory. The number is small, because these stacks
 * are large.
 */
enum { RESERVE = 1 };

tr_status tr__stacks_pool(struct worker *worker, size_t bytes, struct fiber_pool **pool)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct worker_stacks *stacks = &worker->stacks;
    size_t wanted = bytes * FIBER_STACK_FACTOR;
    *pool = NULL;
    if (bytes > TR_STACK_LARGEST)
        return TR_LIMIT;
    if (wanted <= stacks->pool.stack_size)
        return TR_OK;
    size_t size = FIBER_STACK_SIZE;
    size_t class = 0;
    while (size < wanted) {
        size *= 2;
        class ++;
    }
    TR_ASSERT(class < WORKER_STACK_CLASSES);
    if (!stacks->larger[class]) {
        struct fiber_pool *made = source_resize(&worker->source, NULL, sizeof *made);
        if (!made)
            return TR_NO_MEMORY;
        tr_status status = tr__fiber_pool_init(made, stacks->pool.platform, size, 0);
        if (status != TR_OK) {
            source_resize(&worker->source, made, 0);
            return status;
        }
        made->describe = stacks->pool.describe;
        made->owner = worker;
        made->reserve = RESERVE;
        stacks->larger[class] = made;
    }
    *pool = stacks->larger[class];
    return TR_OK;
}

bool tr__stacks_trim(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    bool has_more = false;
    for (size_t i = 0; i < WORKER_STACK_CLASSES; i++) {
        if (worker->stacks.larger[i])
            has_more |= tr__fiber_pool_trim(worker->stacks.larger[i]);
    }
    return has_more;
}

void tr__stacks_free(struct worker *worker)
{
    for (size_t i = 0; i < WORKER_STACK_CLASSES; i++) {
        struct fiber_pool *pool = worker->stacks.larger[i];
        if (!pool)
            continue;
        tr__fiber_pool_deinit(pool);
        source_resize(&worker->source, pool, 0);
        worker->stacks.larger[i] = NULL;
    }
}

/*
 * Main function of a larger fiber: runs one actor, and then continues the loop on a fiber of the
 * usual size.
 */
static void guest_main(void *context)
{
    struct worker *worker = context;
    struct worker_stacks *stacks = &worker->stacks;
    /*
     * This cannot fail, because the stack that the loop has just left is in the pool again, and the
     * spare stack is there too.
     */
    tr_status status = tr__fiber_new(&stacks->pool, tr__worker_fiber, worker, &stacks->home);
    TR_ASSERT(status == TR_OK);
    tr__loop_run(&worker->loop, &stacks->guest->task);
    tr__stack_restart(worker, tr__worker_fiber, worker);
}

void tr__stack_enter(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT(!worker->stacks.home);
    struct fiber_pool *pool = stack_pool(worker, cell);
    struct fiber *fiber = tr__fiber_pool_take(pool);
    if (!fiber) /* no other fiber is free, so take the spare one that tr__stack_keep has left */
        fiber = tr__fiber_pool_take_spare(pool);
    tr__fiber_prepare(fiber, guest_main, worker);
    cell_sched_change_from(cell, SCHED_RUNNING, SCHED_READY);
    worker->stacks.guest = cell;
    worker_set_running(worker, NULL);
    tr__loop_charge(&worker->loop, 0);
    tr__fiber_end(&worker->stacks.host, fiber);
}

struct fiber *tr__stack_keep(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct worker_stacks *stacks = &worker->stacks;
    struct fiber *fiber = stacks->home;
    if (fiber) {
        if (tr__fiber_pool_ensure(stacks->host.current->pool) != TR_OK)
            return NULL;
        stacks->home = NULL;
        return fiber;
    }
    if (tr__fiber_new(&stacks->pool, tr__worker_fiber, worker, &fiber) != TR_OK)
        return NULL;
    return fiber;
}

void tr__stack_restart(struct worker *worker, void (*main)(void *context), void *context)
{
    struct worker_stacks *stacks = &worker->stacks;
    struct fiber *home = stacks->home;
    if (!home)
        tr__fiber_replace(&stacks->host, &stacks->pool, main, context);
    stacks->home = NULL;
    tr__fiber_prepare(home, main, context);
    tr__fiber_end(&stacks->host, home);
}
