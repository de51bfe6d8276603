/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Room for those that are awake: how many they are, how much memory they have, and who sleeps when it is too much.
 *
 * Each worker has its share of both limits, and its own list of who is awake, in the order of their last turns.
 */
#include "durable/alarm.h"

#include "durable/events.h"
#include "durable/queue.h"
#include "store/sql.h"

enum { EVICT_MAX = 8 }; /* of those that have been idle for longest, as many are asked at a time */

static uint64_t share(uint64_t limit, uint32_t workers)
{
    return limit / workers + (limit % workers != 0);
}

/* Those that were asked to sleep are on their way, and do not count. */
static bool is_crowded(const struct worker *worker, const struct durable_desk *desk)
{
    const struct tr_system *system = worker->system;
    uint32_t workers = system_open_workers(system);
    uint32_t awake = desk->awake_count - desk->asked_count;
    if (system->awake_max && awake > share(system->awake_max, workers))
        return true;
    /* One that is too large by itself would fall asleep after each of its turns. */
    return system->awake_bytes_max && awake > 1 &&
           desk->awake_bytes - desk->asked_bytes > share(system->awake_bytes_max, workers);
}

static void ask(struct worker *worker, struct durable_desk *desk, struct durable_actor *actor)
{
    if (!tr__sleep_evict(&actor->machine))
        return;
    if (!actor->is_asked) {
        actor->is_asked = true;
        desk->asked_count++;
        desk->asked_bytes += actor->weight;
    }
    tr__durable_drive(worker, actor, false);
}

void tr__durable_make_room(struct worker *worker, struct durable_host *host)
{
    struct durable_desk *desk = host_desk(host, worker);
    for (uint32_t i = 0; i < EVICT_MAX && i < desk->awake_count && is_crowded(worker, desk); i++) {
        /* It goes to the end of the list: who was asked, or cannot sleep, is not asked before the others. */
        struct list *link = list_first(&desk->awake);
        list_remove(link);
        list_push_last(&desk->awake, link);
        ask(worker, desk, LIST_OWNER(link, struct durable_actor, awake));
    }
}

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
    tr__durable_make_room(worker, actor->kind->host);
}
