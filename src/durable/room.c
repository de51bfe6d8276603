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
static bool is_crowded(const struct worker *worker, const struct durable_desk *desk, uint32_t more)
{
    const struct tr_system *system = worker->system;
    uint32_t workers = system_open_workers(system);
    uint32_t count = desk->awake_count + desk->granted_count - desk->asked_count + more;
    if (system->awake_max && count > share(system->awake_max, workers))
        return true;
    /* One that is too large by itself would fall asleep after each of its turns. */
    return system->awake_bytes_max && count > 1 &&
           desk->awake_bytes - desk->asked_bytes > share(system->awake_bytes_max, workers);
}

static bool may_ask(const struct worker *worker, const struct durable_desk *desk)
{
    const struct tr_system *system = worker->system;
    uint32_t workers = system_open_workers(system);
    if (system->awake_max && desk->asked_count >= share(system->awake_max, workers) &&
        desk->asked_count >= LEAVING_MIN)
        return false;
    return !system->awake_bytes_max || desk->asked_bytes <= share(system->awake_bytes_max, workers);
}

/* Whether the caller that woke it is probably about to send to it: it has had no turn yet, and is young. */
static bool is_expected(const struct worker *worker, const struct durable_actor *actor)
{
    return !actor->has_served && worker->loop.now_ns - actor->start_ns < TR_AWAKE_WAIT_NS;
}

static bool ask(struct worker *worker, struct durable_desk *desk, struct durable_actor *actor)
{
    if (is_expected(worker, actor))
        return false;
    tr__work_look(worker, actor);
    if (!tr__sleep_evict(&actor->machine))
        return false;
    TR_ASSERT(!actor->is_asked);
    actor->is_asked = true;
    desk->asked_count++;
    desk->asked_bytes += actor->weight;
    tr__durable_drive(worker, actor, false);
    return true;
}

/* Asks those to sleep that have been idle for longest, until `more` fit. Whether one was asked. */
static bool make_room(struct worker *worker, struct durable_desk *desk, uint32_t more)
{
    bool has_asked = false;
    for (uint32_t i = 0; i < EVICT_MAX && i < desk->awake_count; i++) {
        if (!is_crowded(worker, desk, more) || !may_ask(worker, desk))
            break;
        /* It goes to the end of the list: who was asked, or cannot sleep, is not asked before the others. */
        struct list *link = list_first(&desk->awake);
        list_remove(link);
        list_push_last(&desk->awake, link);
        has_asked |= ask(worker, desk, LIST_OWNER(link, struct durable_actor, awake));
    }
    return has_asked;
}

/* Whether one more may begin. */
static bool may_begin(struct worker *worker, struct durable_desk *desk)
{
    return make_room(worker, desk, 1) || !is_crowded(worker, desk, 1);
}

/* ---- The line. ---- */

static bool is_stopping(const struct worker *worker)
{
    return atom32_load(&worker->system->is_stopping, ATOM_RELAXED);
}

static void line_wait(struct worker *worker, struct durable_desk *desk, struct cell *cell)
{
    struct stack_node *node = &cell->door.ready;
    node->next = NULL;
    if (desk->line_last)
        desk->line_last->next = node;
    else
        desk->line_first = node;
    desk->line_last = node;
    atom32_fetch_add(&worker->system->durable->line_count, 1, ATOM_RELAXED);
    if (!timer_is_armed(&desk->line.nap))
        tr__wheel_arm(&worker->naps, &desk->line.nap, worker->loop.now_ns + TR_AWAKE_WAIT_NS);
}

/* The first of the line comes to this worker once more, and begins. */
static void line_grant(struct worker *worker, struct durable_desk *desk)
{
    struct cell *cell = cell_of_ready(desk->line_first);
    desk->line_first = desk->line_first->next;
    if (!desk->line_first)
        desk->line_last = NULL;
    desk->has_moved = true;
    desk->granted_count++;
    atom32_fetch_sub(&worker->system->durable->line_count, 1, ATOM_RELAXED);
    cell->origin->has_room = true;
    tr__spawn_post(worker->system, &worker->counters, cell, worker->index);
}

/* The timer of the line: if none has begun since it was armed, the first one begins beyond the limit. */
static void on_line(struct worker *worker, struct cell *none)
{
    struct durable_host *host = worker->system->durable;
    struct durable_desk *desk = host_desk(host, worker);
    (void)none;
    tr__room_serve(worker, host);
    if (desk->line_first && !desk->has_moved)
        line_grant(worker, desk);
    desk->has_moved = false;
    if (desk->line_first)
        tr__wheel_arm(&worker->naps, &desk->line.nap, worker->loop.now_ns + TR_AWAKE_WAIT_NS);
}

void tr__room_init(struct durable_desk *desk)
{
    static const struct durable_hooks hooks = {.on_nap = on_line};
    desk->line.hooks = &hooks;
}

bool tr__room_admit(struct worker *worker, struct cell *cell)
{
    struct durable_host *host = worker->system->durable;
    struct durable_desk *desk = host_desk(host, worker);
    struct cell_origin *origin = cell->origin;
    if (origin->behavior->setup.call != tr__durable_setup)
        return true;
    if (origin->has_room) {
        origin->has_room = false;
        TR_ASSERT(desk->granted_count > 0);
        desk->granted_count--;
        return true;
    }
    if (is_stopping(worker) || (!desk->line_first && may_begin(worker, desk)))
        return true;
    line_wait(worker, desk, cell);
    return false;
}

void tr__room_serve(struct worker *worker, struct durable_host *host)
{
    struct durable_desk *desk = host_desk(host, worker);
    if (!host->has_limits || desk->is_serving)
        return;
    desk->is_serving =
        true; /* an actor that is asked to sleep is driven, which may call this again */
    while (desk->line_first && (is_stopping(worker) || may_begin(worker, desk)))
        line_grant(worker, desk);
    if (!is_stopping(worker))
        (void)make_room(worker, desk, 0);
    desk->is_serving = false;
}

/* ---- Weights. ---- */

void tr__durable_unweigh(struct worker *worker, struct durable_actor *actor)
{
    struct durable_desk *desk = host_desk(actor->kind->host, worker);
    if (actor->is_asked) {
        desk->asked_count--;
        desk->asked_bytes -= actor->weight;
    }
    desk->awake_bytes -= actor->weight;
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
    struct durable_desk *desk = host_desk(actor->kind->host, worker);
    if (!worker->system->awake_bytes_max)
        return;
    size_t weight = weight_of(actor);
    if (actor->is_asked)
        desk->asked_bytes += weight - actor->weight;
    desk->awake_bytes += weight - actor->weight;
    actor->weight = weight;
}
