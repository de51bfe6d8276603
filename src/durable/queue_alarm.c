/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/queue_alarm.h"

#include <string.h>

#include "calendar/alarm_bytes.h"
#include "durable/alarm.h"
#include "durable/alarm_move.h"
#include "durable/clock.h"
#include "durable/commit.h"
#include "durable/drive.h"
#include "durable/item_row.h"
#include "durable/queue.h"
#include "durable/turn.h"
#include "store/batch.h"

/* The type that the row of the alarm names. No behavior has a handler for this type, and no message of it is sent. */
static const char row_type[] = "tr_queue_due";

static tr_time wall_of(const struct durable_actor *actor)
{
    const tr_platform *platform = actor->kind->host->system->platform;
    return platform->wall_now(platform);
}

/* ---- Time. ---- */

bool tr__queues_pass(struct durable_actor *actor, tr_time wall_ns)
{
    struct queues *queues = &actor->queues;
    struct queue_item *first;
    bool has_any = false;
    while ((first = heap_first(&queues->waiting)) && first->due_ns <= wall_ns) {
        tr__item_move(queues, first, ITEM_READY);
        has_any = true;
    }
    return has_any;
}

/* ---- The run handler. ---- */

bool tr__queue_is_run(const struct durable_actor *actor, const struct queue *queue)
{
    const struct queues *queues = &actor->queues;
    if (!actor->kind->run || queues->has_run)
        return false;
    return queue->is_run || queues->takes_any || !queues->has_run_taken;
}

const char *tr__queue_pending(const struct durable_actor *actor)
{
    LIST_EACH (link, &actor->queues.all) {
        const struct queue *queue = LIST_OWNER(link, struct queue, link);
        /* Ignore the items as long as the run handler has not taken from any queue, because perhaps
         * it never will. */
        if (queue->ready.count && actor->queues.has_run_taken && tr__queue_is_run(actor, queue))
            return queue->name;
    }
    return NULL;
}

/* ---- The alarm. ---- */

/* Returns when the alarm must be due. Returns TR_NEVER if there must be no alarm. */
static tr_time alarm_wanted(const struct durable_actor *actor, tr_time wall_ns)
{
    const struct queues *queues = &actor->queues;
    if (!actor->kind->run)
        return TR_NEVER;
    LIST_EACH (link, &queues->all) {
        const struct queue *queue = LIST_OWNER(link, struct queue, link);
        if (queue->overdue && tr__queue_is_run(actor, queue))
            return queues->row_ns <= wall_ns ? queues->row_ns : wall_ns;
    }
    const struct queue_item *first = heap_first(&queues->waiting);
    return first ? first->due_ns : TR_NEVER;
}

bool tr__queue_alarm_is_old(const struct durable_actor *actor, tr_time wall_ns)
{
    return alarm_wanted(actor, wall_ns) != actor->queues.row_ns;
}

static tr_status alarm_put(struct durable_actor *actor, struct store_batch *batch, tr_time due_ns)
{
    const struct queue_item *first = heap_first(&actor->queues.waiting);
    struct alarm_plan plan = {.kind = ALARM_AFTER, .mark.id = 1, .due = due_ns, .seen = due_ns};
    plan.span = first && first->due_ns == due_ns ? first->span_ns : 0;
    plan.seen = due_ns > plan.span ? due_ns - plan.span : 0;
    const struct alarm_clock clock = tr__alarm_clock(actor->kind->host);
    tr__alarm_plan_set_clock(&plan, &clock);
    unsigned char *bytes =
        tr__store_batch_alloc(batch, ALARM_PLAN_AT + ALARM_BYTES_MAX + sizeof row_type);
    if (!bytes)
        return TR_NO_MEMORY;
    size_t size = tr__alarm_plan_write(&plan, bytes + ALARM_PLAN_AT);
    bytes[0] = (unsigned char)size;
    bytes[1] = (unsigned char)(size >> 8);
    memcpy(bytes + ALARM_PLAN_AT + size, row_type, sizeof row_type);
    if (due_ns < actor->alarm_ns)
        actor->alarm_ns = due_ns;
    return tr__store_alarm_set(
        batch, QUEUE_ALARM, due_ns, (tr_bytes){bytes, ALARM_PLAN_AT + size + sizeof row_type});
}

tr_status tr__queue_alarm_update(struct durable_actor *actor)
{
    tr_time wanted = alarm_wanted(actor, wall_of(actor));
    if (wanted == actor->queues.row_ns || actor->is_doomed)
        return TR_OK;
    struct store_batch *batch = tr__commit_batch(actor);
    if (!batch)
        return TR_NO_MEMORY;
    tr_status status = wanted == TR_NEVER ? tr__store_alarm_clear(batch, QUEUE_ALARM)
                                          : alarm_put(actor, batch, wanted);
    if (status == TR_OK)
        actor->queues.row_ns = wanted;
    return status;
}

/* Stores the items whose wait was shortened because the wall clock was set back. */
static tr_status retimed_put(struct durable_actor *actor)
{
    struct queues *queues = &actor->queues;
    if (!queues->has_retimed)
        return TR_OK;
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? TR_OK : TR_NO_MEMORY;
    for (size_t i = 0; i < queues->waiting.count && status == TR_OK; i++) {
        struct queue_item *item = queues->waiting.items[i];
        if (item->is_retimed)
            status = tr__item_row_put(batch, item);
        item->is_retimed = false;
    }
    queues->has_retimed = false;
    return status;
}

tr_next tr__queue_alarm_due(tr_self *self, struct durable_actor *actor, bool may_fire)
{
    struct worker *worker = self->worker;
    tr_time wall_ns = tr_wall_now(self);
    if (!may_fire)
        return tr__durable_skip(self);
    tr__items_follow(&actor->queues, wall_ns);
    if (tr__queues_pass(actor, wall_ns))
        tr__queues_wake(actor);
    if (!actor->queues.has_retimed && !tr__queue_alarm_is_old(actor, wall_ns)) {
        /* If the alarm is not due yet, notify the clock. If it is due, the items only wait for the
         * run handler, and the clock repeats its hint without a notification. */
        if (actor->queues.row_ns > wall_ns && actor->queues.row_ns < TR_NEVER)
            tr__clock_tell(worker, actor->kind->host, actor->queues.row_ns);
        return tr__durable_skip(self);
    }
    if (!tr__frame_begin(self, actor, "a queue", false))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
    actor->queues.has_changed = true; /* makes the end of the commit update the alarm */
    tr_status status = retimed_put(actor);
    tr_next next = status == TR_OK ? TR_SAME : tr_fail(self, status, "out of memory for a queue");
    next = tr__frame_done(self, actor, next, true);
    tr__frame_end(self, actor);
    tr__durable_drive(worker, actor, false);
    return next;
}
