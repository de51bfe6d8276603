/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits the number and the memory of actors that are awake.
 *
 * Each worker has its share of both limits, and its own list of awake actors in the order of their
 * last turns.
 *
 * 1. An actor that is to wake begins at once if it fits within the limits, or if an idle actor was
 *    asked to sleep for it. Otherwise its cell waits in the line of its worker, before its set-up.
 *    Such a cell already has a name and accepts mail.
 * 2. The line is served in order, whenever an actor of this worker has become idle or has ended.
 * 3. An actor that has work is never asked to sleep. So it handles the work for which it was woken
 *    before it sleeps again.
 * 4. If no cell of the line could begin for TR_AWAKE_WAIT_NS, the first cell begins beyond the
 *    limit, because the awake actors may wait for that cell. So each worker may exceed its share by
 *    one actor more in each such period.
 * 5. The number of actors that were asked to sleep and are still awake has a limit: the share of
 *    awake_max, or LEAVING_MIN if that is more. If these actors take long to fall asleep, the line
 *    waits.
 */
#include "durable/pressure.h"

#include "actor/cell/durable.h"
#include "actor/life/spawn.h"
#include "base/assert.h"
#include "durable/alarm.h"
#include "durable/drive.h"
#include "durable/events.h"
#include "durable/setup.h"
#include "durable/work.h"
#include "sleep/sleep.h"
#include "store/sql.h"
#include "mem/heap.h"

enum {
    EVICT_MAX = 8, /* how many actors one call asks to sleep, at most */
    LEAVING_MIN = 16
};

static uint64_t share_of(uint64_t limit, uint32_t workers)
{
    return limit / workers + (limit % workers != 0);
}

/* ---- The limits. ---- */

/* Whether the limits are exceeded if `more` actors begin. Actors that were asked to sleep do not count. */
static bool is_over_limit(const struct worker *worker, const struct worker_context *context,
                          uint32_t more)
{
    const struct tr_system *system = worker->system;
    uint32_t workers = system_open_workers(system);
    uint32_t count = context->awake_count + context->granted_count - context->evicted_count + more;
    if (system->durable.awake_max && count > share_of(system->durable.awake_max, workers))
        return true;
    /* A single actor that exceeds the memory limit may stay. Otherwise it would fall asleep after
     * each of its turns. */
    return system->durable.awake_bytes_max && count > 1 &&
           context->awake_bytes - context->evicted_bytes >
               share_of(system->durable.awake_bytes_max, workers);
}

static bool may_evict(const struct worker *worker, const struct worker_context *context)
{
    const struct tr_system *system = worker->system;
    uint32_t workers = system_open_workers(system);
    if (system->durable.awake_max &&
        context->evicted_count >= share_of(system->durable.awake_max, workers) &&
        context->evicted_count >= LEAVING_MIN)
        return false;
    return !system->durable.awake_bytes_max ||
           context->evicted_bytes <= share_of(system->durable.awake_bytes_max, workers);
}

/* Whether a message for this actor will probably come soon, from the caller that woke it. This is
 * so if the actor began recently and has had no turn. */
static bool is_expected(const struct worker *worker, const struct durable_actor *actor)
{
    return !actor->has_served && worker->loop.now_ns - actor->start_ns < TR_AWAKE_WAIT_NS;
}

static bool pressure_evict(struct worker *worker, struct worker_context *context,
                           struct durable_actor *actor)
{
    if (is_expected(worker, actor))
        return false;
    tr__work_look(worker, actor);
    if (!tr__sleep_evict(&actor->machine))
        return false;
    TR_ASSERT(!actor->is_evicted);
    actor->is_evicted = true;
    context->evicted_count++;
    context->evicted_bytes += actor->weight;
    tr__durable_drive(worker, actor, false);
    return true;
}

/* Asks idle actors to sleep until `more` new actors fit. Begins with the actor that has been idle
 * for longest. Returns whether an actor was asked. */
static bool pressure_evict_idle(struct worker *worker, struct worker_context *context,
                                uint32_t more)
{
    bool has_evicted = false;
    for (uint32_t i = 0; i < EVICT_MAX && i < context->awake_count; i++) {
        if (!is_over_limit(worker, context, more) || !may_evict(worker, context))
            break;
        /* Move the actor to the end of the list. So actors that were already asked, or that cannot
         * sleep, are tried last. */
        struct list *link = list_first(&context->awake);
        list_remove(link);
        list_push_last(&context->awake, link);
        has_evicted |=
            pressure_evict(worker, context, LIST_OWNER(link, struct durable_actor, awake));
    }
    return has_evicted;
}

/* Whether one more actor may begin. */
static bool may_begin(struct worker *worker, struct worker_context *context)
{
    return pressure_evict_idle(worker, context, 1) || !is_over_limit(worker, context, 1);
}

/* ---- The line of cells that wait to begin. ---- */

static bool is_stopping(const struct worker *worker)
{
    return atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED);
}

static void line_wait(struct worker *worker, struct worker_context *context, struct cell *cell)
{
    struct stack_node *node = &cell->door.ready;
    node->next = NULL;
    if (context->line_last)
        context->line_last->next = node;
    else
        context->line_first = node;
    context->line_last = node;
    atom32_fetch_add(&worker->system->durable.host->line_count, 1, ATOM_RELAXED);
    if (!timer_is_armed(&context->line.wake_timer))
        tr__wheel_arm(&worker->timers.wake_timers,
                      &context->line.wake_timer,
                      worker->loop.now_ns + TR_AWAKE_WAIT_NS);
}

/* Posts the first cell of the line to this worker again. The actor may begin now. */
static void line_grant(struct worker *worker, struct worker_context *context)
{
    struct cell *cell = cell_of_ready(context->line_first);
    context->line_first = context->line_first->next;
    if (!context->line_first)
        context->line_last = NULL;
    context->has_moved = true;
    context->granted_count++;
    atom32_fetch_sub(&worker->system->durable.host->line_count, 1, ATOM_RELAXED);
    cell->origin->has_place = true;
    tr__spawn_post(worker->system, &worker->counters, cell, worker->index);
}

/* Handles the timer of the line. If no cell of the line has begun since the timer was armed, the
 * first cell begins now, even if that exceeds a limit. */
static void on_line(struct worker *worker, struct cell *none)
{
    struct durable_host *host = worker->system->durable.host;
    struct worker_context *context = host_context(host, worker);
    (void)none;
    tr__pressure_serve(worker, host);
    if (context->line_first && !context->has_moved)
        line_grant(worker, context);
    context->has_moved = false;
    if (context->line_first)
        tr__wheel_arm(&worker->timers.wake_timers,
                      &context->line.wake_timer,
                      worker->loop.now_ns + TR_AWAKE_WAIT_NS);
}

void tr__pressure_init(struct worker_context *context)
{
    static const struct durable_hooks hooks = {.on_wake_timer = on_line};
    context->line.hooks = &hooks;
}

bool tr__pressure_admit(struct worker *worker, struct cell *cell)
{
    struct durable_host *host = worker->system->durable.host;
    struct worker_context *context = host_context(host, worker);
    struct cell_origin *origin = cell->origin;
    if (origin->behavior->setup.call != tr__durable_setup)
        return true;
    if (origin->has_place) {
        origin->has_place = false;
        TR_ASSERT(context->granted_count > 0);
        context->granted_count--;
        return true;
    }
    if (is_stopping(worker) || (!context->line_first && may_begin(worker, context)))
        return true;
    line_wait(worker, context, cell);
    return false;
}

void tr__pressure_serve(struct worker *worker, struct durable_host *host)
{
    struct worker_context *context = host_context(host, worker);
    if (!host->has_limits || context->is_serving)
        return;
    /* When an actor is asked to sleep, its tr__durable_drive may call this function again. That
     * call returns at once because of is_serving. */
    context->is_serving = true;
    while (context->line_first && (is_stopping(worker) || may_begin(worker, context)))
        line_grant(worker, context);
    if (!is_stopping(worker))
        (void)pressure_evict_idle(worker, context, 0);
    context->is_serving = false;
}

/* ---- Weights. ---- */

void tr__durable_unweigh(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    struct worker_context *context = host_context(actor->kind->host, worker);
    if (actor->is_evicted) {
        context->evicted_count--;
        context->evicted_bytes -= actor->weight;
    }
    context->awake_bytes -= actor->weight;
    actor->is_evicted = false;
    actor->weight = 0;
}

/* Returns how much memory an awake actor uses. Data that came from disk counts with its size on
 * disk. */
static size_t weight_of(const struct durable_actor *actor)
{
    size_t bytes = sizeof(struct cell) + sizeof(struct cell_extra) + sizeof *actor +
                   actor->key_size + actor->stored_capacity + actor->finished.capacity +
                   actor->shown_capacity + actor->block.size +
                   tr__heap_bytes(actor->durable.cell->heap);
    /* If the kind has events, the state is in the block of a snapshot and in the heap of the
     * actor. */
    if (actor->events)
        bytes += sizeof *actor->events + actor->events->block.size + actor->events->held;
    if (actor->sql)
        bytes += sizeof *actor->sql + actor->sql->bytes;
    LIST_EACH (link, &actor->alarms) {
        const struct alarm *alarm = LIST_OWNER(link, struct alarm, link);
        bytes += sizeof *alarm + alarm->name_size + alarm->bytes_size;
    }
    return bytes + actor->queues.bytes;
}

void tr__durable_weigh(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    struct worker_context *context = host_context(actor->kind->host, worker);
    if (!worker->system->durable.awake_bytes_max)
        return;
    size_t weight = weight_of(actor);
    if (actor->is_evicted)
        context->evicted_bytes += weight - actor->weight;
    context->awake_bytes += weight - actor->weight;
    actor->weight = weight;
}
