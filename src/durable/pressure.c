/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits of those that are awake: how many they are, and how much memory they have.
 *
 * Each worker has its share of both limits, and its own list of who is awake, in the order of their last turns.
 *
 * 1. A key that is to wake begins when it fits within the limits, or when one that is idle was asked to sleep for it.
 *    Otherwise its cell, which has its name and takes mail, waits in the line of its worker, before its set-up.
 * 2. The line is served in its order: whenever an actor of this worker has become idle, or has ended.
 * 3. An actor with work is never asked to sleep. So what a key was woken for is handled before it sleeps again, and the
 *    number of starts is that of the wakes.
 * 4. If no actor could be asked for TR_AWAKE_WAIT_NS, the first of the line begins all the same: those that are awake may
 *    wait for one in the line. So the limits are soft, by one actor in that time and worker.
 * 5. As many may be on their way to sleep as the share says, or LEAVING_MIN: if they take long, the line waits.
 */
#include "durable/alarm.h"

#include "actor/life/spawn.h"
#include "base/assert.h"
#include "durable/events.h"
#include "durable/queue.h"
#include "store/sql.h"

enum {
    EVICT_MAX = 8, /* of those that have been idle for longest, as many are asked at a time */
    LEAVING_MIN = 16
};

static uint64_t share(uint64_t limit, uint32_t workers)
{
    return limit / workers + (limit % workers != 0);
}

/* ---- The limits. ---- */

/* Whether `more` are too many besides those that are awake. Those that were asked to sleep do not count. */
static bool is_crowded(const struct worker *worker, const struct worker_context *context,
                       uint32_t more)
{
    const struct tr_system *system = worker->system;
    uint32_t workers = system_open_workers(system);
    uint32_t count = context->awake_count + context->granted_count - context->asked_count + more;
    if (system->durable.awake_max && count > share(system->durable.awake_max, workers))
        return true;
    /* One that is too large by itself would fall asleep after each of its turns. */
    return system->durable.awake_bytes_max && count > 1 &&
           context->awake_bytes - context->asked_bytes >
               share(system->durable.awake_bytes_max, workers);
}

static bool may_ask(const struct worker *worker, const struct worker_context *context)
{
    const struct tr_system *system = worker->system;
    uint32_t workers = system_open_workers(system);
    if (system->durable.awake_max &&
        context->asked_count >= share(system->durable.awake_max, workers) &&
        context->asked_count >= LEAVING_MIN)
        return false;
    return !system->durable.awake_bytes_max ||
           context->asked_bytes <= share(system->durable.awake_bytes_max, workers);
}

/* Whether the caller that woke it is probably about to send to it: it has had no turn yet, and is young. */
static bool is_expected(const struct worker *worker, const struct durable_actor *actor)
{
    return !actor->has_served && worker->loop.now_ns - actor->start_ns < TR_AWAKE_WAIT_NS;
}

static bool ask(struct worker *worker, struct worker_context *context, struct durable_actor *actor)
{
    if (is_expected(worker, actor))
        return false;
    tr__work_look(worker, actor);
    if (!tr__sleep_evict(&actor->machine))
        return false;
    TR_ASSERT(!actor->is_asked);
    actor->is_asked = true;
    context->asked_count++;
    context->asked_bytes += actor->weight;
    tr__durable_drive(worker, actor, false);
    return true;
}

/* Asks those to sleep that have been idle for longest, until `more` fit. Whether one was asked. */
static bool make_room(struct worker *worker, struct worker_context *context, uint32_t more)
{
    bool has_asked = false;
    for (uint32_t i = 0; i < EVICT_MAX && i < context->awake_count; i++) {
        if (!is_crowded(worker, context, more) || !may_ask(worker, context))
            break;
        /* It goes to the end of the list: who was asked, or cannot sleep, is not asked before the others. */
        struct list *link = list_first(&context->awake);
        list_remove(link);
        list_push_last(&context->awake, link);
        has_asked |= ask(worker, context, LIST_OWNER(link, struct durable_actor, awake));
    }
    return has_asked;
}

/* Whether one more may begin. */
static bool may_begin(struct worker *worker, struct worker_context *context)
{
    return make_room(worker, context, 1) || !is_crowded(worker, context, 1);
}

/* ---- The line. ---- */

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

/* The first of the line comes to this worker once more, and begins. */
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

/* The timer of the line: if none has begun since it was armed, the first one begins beyond the limit. */
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
    context->is_serving =
        true; /* an actor that is asked to sleep is driven, which may call this again */
    while (context->line_first && (is_stopping(worker) || may_begin(worker, context)))
        line_grant(worker, context);
    if (!is_stopping(worker))
        (void)make_room(worker, context, 0);
    context->is_serving = false;
}

/* ---- Weights. ---- */

void tr__durable_unweigh(struct worker *worker, struct durable_actor *actor)
{
    struct worker_context *context = host_context(actor->kind->host, worker);
    if (actor->is_asked) {
        context->asked_count--;
        context->asked_bytes -= actor->weight;
    }
    context->awake_bytes -= actor->weight;
    actor->is_asked = false;
    actor->weight = 0;
}

/* What it costs that it is awake. Of what was read from the disk its size there is counted. */
static size_t weight_of(const struct durable_actor *actor)
{
    size_t bytes = sizeof(struct cell) + sizeof(struct cell_extra) + sizeof *actor +
                   actor->key_size + actor->stored_room + actor->finished.room + actor->shown_room +
                   actor->block.size + tr__heap_bytes(actor->durable.cell->heap);
    if (actor->events) /* its state is that of a snapshot, and of what its heap has */
        bytes += sizeof *actor->events + actor->events->block.size + actor->events->held;
    if (actor->sql)
        bytes += sizeof *actor->sql + actor->sql->bytes;
    LIST_EACH (link, &actor->alarms) {
        const struct alarm *alarm = LIST_OWNER(link, struct alarm, link);
        bytes += sizeof *alarm + alarm->name_size + alarm->bytes_size;
    }
    LIST_EACH (link, &actor->queued) {
        const struct queue_item *item = LIST_OWNER(link, struct queue_item, link);
        bytes += sizeof *item + item->name_size + item->type_size + item->bytes_size;
    }
    return bytes;
}

void tr__durable_weigh(struct worker *worker, struct durable_actor *actor)
{
    struct worker_context *context = host_context(actor->kind->host, worker);
    if (!worker->system->durable.awake_bytes_max)
        return;
    size_t weight = weight_of(actor);
    if (actor->is_asked)
        context->asked_bytes += weight - actor->weight;
    context->awake_bytes += weight - actor->weight;
    actor->weight = weight;
}
