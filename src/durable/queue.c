/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/queue.h"

#include <string.h>
#include <troupe/wire.h>

#include "actor/turn/park.h"
#include "base/assert.h"
#include "durable/changed.h"
#include "durable/commit.h"
#include "durable/connections.h"
#include "durable/drive.h"
#include "durable/item_row.h"
#include "durable/message_shape.h"
#include "durable/queue_alarm.h"
#include "durable/retry_backoff.h"
#include "durable/running.h"
#include "durable/turn.h"
#include "durable/waker.h"
#include "sleep/sleep.h"
#include "wire/copy.h"
#include "actor/cell/verb.h"
#include "store/batch.h"
#include "store/read.h"
#include "base/list.h"

/* Ids increase over all generations. So an id of an earlier generation belongs to no item of this
 * generation. Ids are reserved in blocks, so that the store knows the last id even when all queues
 * are empty. The last id of a block is stored as the id of an item without a message, in the queue
 * QUEUE_IDS. The name of an application's queue never begins with the byte of QUEUE_IDS. */
static const char reserved[] = QUEUE_IDS;
enum { PUT_BY = 1000 };

/* ---- Loading. ---- */

struct loading {
    struct worker *worker;
    struct durable_actor *actor;
    tr_status status;
};

static bool on_queue_row(void *context, const struct store_row *row)
{
    struct loading *loading = context;
    struct queues *queues = &loading->actor->queues;
    struct queue_item *item;
    if (strcmp(row->name, reserved) == 0) {
        if (row->id > queues->reserved)
            queues->reserved = row->id;
        return true;
    }
    bool is_other;
    loading->status = tr__connections_load(loading->worker, loading->actor, row, &is_other);
    if (loading->status != TR_OK || !is_other)
        return loading->status == TR_OK;
    loading->status = tr__item_row_read(loading->worker, queues, row, &item);
    if (loading->status != TR_OK)
        return false;
    if (item->class != ITEM_DEAD)
        tr__item_move(queues, item, item->class == ITEM_TIMED ? ITEM_WAITING : ITEM_READY);
    if (item->id > queues->last)
        queues->last = item->id;
    return true;
}

tr_status tr__queues_load(tr_self *self, struct durable_actor *actor)
{
    struct worker *worker = self->worker;
    struct queues *queues = &actor->queues;
    const struct durable_kind *kind = actor->kind;
    struct loading loading = {.worker = worker, .actor = actor};
    tr_status status = tr__store_list_queues(host_context(kind->host, worker)->reader,
                                             kind->declared->name,
                                             actor_key(actor),
                                             NULL,
                                             0,
                                             0,
                                             on_queue_row,
                                             &loading);
    if (status == TR_NOT_FOUND)
        return TR_OK;
    if (queues->reserved > queues->last)
        queues->last = queues->reserved;
    queues->committed = queues->last;
    if (status == TR_OK)
        status = loading.status;
    if (status != TR_OK)
        return status;
    tr_time wall_ns = tr_wall_now(self);
    tr__items_follow(queues, wall_ns);
    (void)tr__queues_pass(actor, wall_ns);
    /* The stored alarm may be outdated, because a turn has failed or the wall clock was set. If so,
     * store it again. */
    if (queues->has_retimed || tr__queue_alarm_is_old(actor, wall_ns))
        tr_tell(self, tr_me(self), tr_durable_due, .name = QUEUE_ALARM);
    return TR_OK;
}

void tr__queues_drop(struct worker *worker, struct durable_actor *actor)
{
    tr__items_deinit(worker, &actor->queues);
}

void tr__queues_return(struct durable_actor *actor, const struct tr_self *self)
{
    LIST_EACH (link, &actor->queues.taken) {
        struct queue_item *item = LIST_OWNER(link, struct queue_item, taken);
        if (item->taker != self)
            continue;
        item->taker = NULL;
        tr__item_move(&actor->queues, item, ITEM_READY);
    }
}

/* ---- Changes of items. ---- */

void tr__queue_note(struct durable_actor *actor, struct queue_item *item)
{
    actor->queues.has_changed = true;
    if (!list_is_empty(&item->changed))
        return;
    item->stored_class = item->class;
    item->stored_attempts = item->attempts;
    list_push_last(&actor->queues.changed, &item->changed);
}

tr_status tr__queue_remove(struct durable_actor *actor, struct queue_item *item)
{
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? tr__item_row_remove(batch, item, item->class) : TR_NO_MEMORY;
    if (status != TR_OK)
        return status;
    tr__queue_note(actor, item);
    tr__items_remove(&actor->queues, item);
    /* the item is freed when the commit has ended, because the commit may fail */
    item->is_removed = true;
    return TR_OK;
}

void tr__queues_committed(struct worker *worker, struct durable_actor *actor)
{
    struct queues *queues = &actor->queues;
    struct list *link;
    bool has_removed = false;
    queues->has_changed = false;
    queues->has_moved |= queues->committed < queues->last || !list_is_empty(&queues->changed);
    queues->committed = queues->last;
    while ((link = list_pop_first(&queues->changed))) {
        struct queue_item *item = LIST_OWNER(link, struct queue_item, changed);
        has_removed |= item->is_removed;
        if (item->is_removed)
            tr__item_free(worker, item);
        else if (item->place != ITEM_TAKEN)
            item->taker = NULL;
    }
    if (has_removed)
        tr__backoff_done(actor);
}

/* ---- Waiting. ---- */

static void takers_wake(struct durable_actor *actor, tr_status outcome)
{
    struct list *link;
    while ((link = list_pop_first(&actor->takers)))
        tr__turn_wake(LIST_OWNER(link, struct durable_frame, taker)->self, outcome);
}

void tr__queues_abort(struct durable_actor *actor)
{
    takers_wake(actor, TR_ABORTED);
}

void tr__queues_wake(struct durable_actor *actor)
{
    takers_wake(actor, TR_OK);
}

/* Returns when the first waiting item can be taken, by the monotonic clock. If `deadline_ns` is
 * earlier, returns that. */
static tr_time until_next(tr_self *self, const struct durable_actor *actor, tr_time deadline_ns)
{
    const struct queue_item *first = heap_first(&actor->queues.waiting);
    if (!first)
        return deadline_ns;
    tr_time now_ns = tr_now(self);
    tr_time delay_ns = first->due_ns - tr_wall_now(self);
    if (delay_ns < 0)
        delay_ns = 0;
    return delay_ns < deadline_ns - now_ns ? now_ns + delay_ns : deadline_ns;
}

/* Waits until any queue changes. While a run handler waits here, it does not keep the actor
 * awake. */
static tr_status queue_wait(tr_self *self, struct durable_actor *actor, tr_time deadline_ns)
{
    struct durable_frame *frame = self->frame;
    tr_status status = tr__whole_may_wait(self);
    if (status != TR_OK)
        return status;
    tr__sleep_drop(&actor->machine, &frame->receive, self->worker->loop.now_ns);
    if (frame->is_run)
        tr__sleep_move(
            &actor->machine, &frame->wake_lock, COUNTER_RUN_WAITS, self->worker->loop.now_ns);
    /* Drive the sleep machine before the wait. The machine may perform FIRE_ABORT, which ends all
     * waits. */
    tr__durable_drive(self->worker, actor, false);
    status = TR_ABORTED;
    if (!actor->is_aborted) {
        tr_time until_ns = until_next(self, actor, deadline_ns);
        list_push_last(&actor->takers, &frame->taker);
        status = turn_park_at(self, until_ns, NULL);
        list_remove(&frame->taker);
        if (status == TR_TIMEOUT && until_ns < deadline_ns)
            status = TR_OK; /* the item that waited for its time can be taken now */
    }
    if (frame->is_run && wake_lock_is_raised(&frame->wake_lock))
        tr__sleep_move(&actor->machine, &frame->wake_lock, COUNTER_RUN, self->worker->loop.now_ns);
    return status;
}

/* ---- Taking. ---- */

struct queue_item *tr__queue_first(tr_self *self, struct durable_actor *actor, const char *queue)
{
    if (actor->queues.waiting.count)
        (void)tr__queues_pass(actor, tr_wall_now(self));
    const struct queue *found = tr__items_queue(&actor->queues, queue);
    return found ? heap_first(&found->ready) : NULL;
}

tr_status tr__queue_copy(tr_self *self, struct queue_item *item, const tr_type *type,
                         const void **message)
{
    tr_wire_error error;
    void *unpacked;
    if (strcmp(item->type, type->name) != 0)
        return TR_WRONG_TYPE;
    tr_status status =
        tr__message_shape_check(self->worker, durable_of(self), type, item->shape, error.text);
    if (status != TR_OK)
        return status;
    status = tr_unpack(type, (tr_bytes){item_message(item), item->bytes_size}, &unpacked, &error);
    if (status != TR_OK)
        return status;
    size_t size = tr__copy_size(type, unpacked);
    void *copy = tr_try_scratch(self, size);
    if (copy)
        tr__copy_into(type, unpacked, copy, size);
    tr_message_free(type, unpacked);
    *message = copy;
    return copy ? TR_OK : TR_NO_MEMORY;
}

static tr_status queue_give(tr_self *self, struct durable_actor *actor, struct queue_item *item,
                            const tr_type *type, const void **message, tr_queued *taken)
{
    const void *copy;
    struct durable_frame *frame = self->frame;
    tr_status status = tr__queue_copy(self, item, type, &copy);
    if (status != TR_OK)
        return status;
    if (taken) {
        taken->id = item->id;
        item->taker = self;
        tr__item_move(&actor->queues, item, ITEM_TAKEN);
    } else {
        status = tr__queue_remove(actor, item);
    }
    if (status != TR_OK)
        return status;
    tr__running_add(self, item, taken);
    *message = copy;
    frame->receive.what = item->queue->name;
    if (!wake_lock_is_raised(&frame->receive))
        (void)!tr__sleep_raise(
            &actor->machine, &frame->receive, COUNTER_INTERNAL, self->worker->loop.now_ns);
    return TR_OK;
}

tr_status tr_self_queue_take(tr_self *self, const char *queue, const tr_type *type,
                             tr_time timeout_ns, const void **message, tr_queued *item)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!self || !queue || !type || !message || timeout_ns < 0)
        return TR_INVALID_ARGUMENT;
    if (!actor)
        return TR_NOT_SUPPORTED;
    if (!self->frame)
        return TR_NOT_IN_A_TURN;
    if (self->frame->is_run)
        tr__run_takes(self->worker, actor, queue);
    tr_time now_ns = tr_now(self);
    tr_time deadline_ns = timeout_ns > TR_NEVER - now_ns ? TR_NEVER : now_ns + timeout_ns;
    for (;;) {
        if (self->is_cancelled)
            return TR_CANCELLED;
        if (actor->is_aborted)
            return TR_ABORTED;
        struct queue_item *first = tr__queue_first(self, actor, queue);
        if (first)
            return queue_give(self, actor, first, type, message, item);
        tr_status status = queue_wait(self, actor, deadline_ns);
        if (status != TR_OK)
            return status;
    }
}

tr_status tr_abort_wait(tr_self *self, tr_time timeout_ns)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!self || timeout_ns < 0)
        return TR_INVALID_ARGUMENT;
    if (!actor)
        return TR_NOT_SUPPORTED;
    if (!self->frame)
        return TR_NOT_IN_A_TURN;
    tr_time now_ns = tr_now(self);
    tr_time deadline_ns = timeout_ns > TR_NEVER - now_ns ? TR_NEVER : now_ns + timeout_ns;
    for (tr_status status = TR_OK; status == TR_OK;) {
        if (self->is_cancelled)
            return TR_CANCELLED;
        status = actor->is_aborted ? TR_ABORTED : queue_wait(self, actor, deadline_ns);
        if (status != TR_OK)
            return status;
    }
    return TR_ABORTED;
}

bool tr_queue_done(tr_self *self, tr_queued done)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!actor || !self->frame || self->is_cancelled)
        return false;
    struct queue_item *item = tr__items_find(&actor->queues, done.id);
    if (!item || item->class == ITEM_DEAD)
        return false;
    tr_status status = tr__queue_remove(actor, item);
    if (status != TR_OK)
        tr_crash(self, status, "tr_queue_done: %s", tr_status_text(status));
    tr__running_drop(self->frame, done.id);
    return true;
}

/* ---- Pushing. ---- */

/* If all reserved ids are used, reserves more. */
static tr_status ids_reserve(struct durable_actor *actor)
{
    struct queues *queues = &actor->queues;
    if (queues->last < queues->reserved)
        return TR_OK;
    uint64_t more = queues->last + PUT_BY;
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? TR_OK : TR_NO_MEMORY;
    if (status == TR_OK && queues->reserved)
        status = tr__store_queue_remove(batch, reserved, queues->reserved);
    if (status == TR_OK)
        status = tr__store_queue_push(batch, reserved, more, (tr_bytes){"", 0});
    if (status == TR_OK)
        queues->reserved = more;
    return status;
}

/* Adds an item to its queue. On success the queues own the item. On failure the caller still owns
 * it. */
static tr_status item_push(struct worker *worker, struct durable_actor *actor,
                           struct queue_item *item, tr_time delay_ns, tr_time wall_ns)
{
    struct queues *queues = &actor->queues;
    if (delay_ns > 0) {
        item->class = ITEM_TIMED;
        item->due_ns = wall_ns + delay_ns;
        item->span_ns = delay_ns;
    }
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? tr__items_add(worker, queues, item) : TR_NO_MEMORY;
    if (status != TR_OK)
        return status;
    status = tr__item_row_put(batch, item);
    if (status != TR_OK) {
        tr__items_remove(queues, item);
        return status;
    }
    tr__item_move(queues, item, delay_ns > 0 ? ITEM_WAITING : ITEM_READY);
    queues->last++;
    queues->has_changed = true;
    return TR_OK;
}

static tr_status queue_push(tr_self *self, struct durable_actor *actor, const char *name,
                            tr_time delay_ns, const tr_type *type, const void *message)
{
    struct worker *worker = self->worker;
    tr_wire_error error;
    size_t size = tr_pack(type, message, NULL, 0, &error);
    if (!size)
        return error.status;
    size_t type_size = strlen(type->name) + 1;
    if (size + type_size > TR_QUEUE_ITEM_MAX)
        return TR_TOO_LARGE;
    struct queue *queue = tr__items_queue_make(worker, &actor->queues, name);
    if (!queue)
        return TR_NO_MEMORY;
    if (queue->bytes + TR_QUEUE_ITEM_COST + type_size + size > TR_QUEUE_BYTES_MAX)
        return TR_LIMIT;
    uint64_t shape;
    tr_status status =
        tr__message_shape(worker, actor->kind->host, tr__commit_batch(actor), type, &shape);
    if (status == TR_OK)
        status = ids_reserve(actor);
    if (status != TR_OK)
        return status;
    struct queue_item *item = tr__item_new(worker, queue, type->name, actor->queues.last + 1, size);
    if (!item)
        return TR_NO_MEMORY;
    item->shape = shape;
    (void)tr_pack(type, message, item_message(item), size, &error);
    status = item_push(worker, actor, item, delay_ns, tr_wall_now(self));
    if (status != TR_OK)
        tr__item_free(worker, item);
    else
        tr__queues_wake(actor);
    return status;
}

tr_status tr_self_try_queue_push(tr_self *self, const char *queue, tr_time delay_ns,
                                 const tr_type *type, const void *message, tr_queued *item)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!self || !queue || !*queue || *queue == reserved[0] || !type || !message || delay_ns < 0)
        return TR_INVALID_ARGUMENT;
    if (!actor)
        return TR_NOT_SUPPORTED;
    if (!self->frame)
        return TR_NOT_IN_A_TURN;
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (strnlen(queue, TR_QUEUE_NAME_MAX + 1) > TR_QUEUE_NAME_MAX)
        return TR_TOO_LARGE;
    if (delay_ns > TR_QUEUE_DELAY_MAX)
        return TR_LIMIT;
    tr_status status = queue_push(self, actor, queue, delay_ns, type, message);
    if (status == TR_OK && item)
        item->id = actor->queues.last;
    return status;
}

tr_queued tr_self_queue_push(tr_self *self, const char *queue, tr_time delay_ns,
                             const tr_type *type, const void *message)
{
    TURN_VERB(self);
    tr_queued item = {0};
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    tr_status status = tr_self_try_queue_push(self, queue, delay_ns, type, message, &item);
    if (status != TR_OK)
        tr_crash(self, status, "tr_queue_push: %s", tr_status_text(status));
    return item;
}

/* ---- The run handler. ---- */

tr_next tr__durable_run(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    static const struct tr_run run;
    struct durable_actor *actor = durable_of(self);
    const tr_handler *handler = actor->kind->run;
    (void)message;
    if (actor->broken != TR_OK || actor->machine.state > SLEEP_STARTED)
        return tr__durable_skip(self);
    if (!tr__frame_begin(self, actor, "tr_run", true))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
    self->frame->is_run = true;
    self->frame->counter = COUNTER_RUN;
    (void)!tr__sleep_raise(
        &actor->machine, &self->frame->wake_lock, COUNTER_RUN, self->worker->loop.now_ns);
    tr_next next = tr__durable_user(self, verb_turn, handler, state, &run);
    next = tr__durable_changed(self, verb_turn, actor, next);
    next = tr__frame_done(self, actor, next, false);
    actor->queues.has_run =
        next.code != TR_NEXT_FAILED && !actor->is_aborted && !self->is_cancelled;
    tr__frame_end(self, actor);
    tr__durable_drive(self->worker, actor, false);
    return next;
}
