/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/queue.h"

#include <string.h>
#include <troupe/wire.h>

#include "actor/turn/park.h"
#include "base/assert.h"
#include "durable/changed.h"
#include "durable/commit.h"
#include "durable/drive.h"
#include "durable/retry_backoff.h"
#include "durable/turn.h"
#include "durable/waker.h"
#include "sleep/sleep.h"
#include "wire/copy.h"
#include "actor/cell/verb.h"
#include "store/batch.h"
#include "store/read.h"
#include "base/list.h"

/*
 * Ids increase over all generations, so that an id of an earlier generation names no item of this one. To know the last
 * id when all queues are empty, ids are reserved in blocks. The end of the block is the id of an item without a
 * message, in the queue QUEUE_IDS. No queue of an application begins with that byte.
 */
static const char reserved[] = QUEUE_IDS;
enum { PUT_BY = 1000 };

/* ---- Items. ---- */

static char *type_of(struct queue_item *item)
{
    return item->name + item->name_size;
}

static char *bytes_of(struct queue_item *item)
{
    return item->name + item->name_size + item->type_size;
}

static struct queue_item *item_new(struct worker *worker, const char *queue, const char *type,
                                   uint64_t id, size_t bytes_size)
{
    size_t name_size = strlen(queue) + 1;
    size_t type_size = strlen(type) + 1;
    struct queue_item *item =
        source_resize(&worker->source, NULL, sizeof *item + name_size + type_size + bytes_size);
    if (!item)
        return NULL;
    *item = (struct queue_item){
        .id = id, .name_size = name_size, .type_size = type_size, .bytes_size = bytes_size};
    list_init(&item->link);
    memcpy(item->name, queue, name_size);
    memcpy(type_of(item), type, type_size);
    return item;
}

static void item_free(struct worker *worker, struct queue_item *item)
{
    list_remove(&item->link);
    source_resize(&worker->source, item, 0);
}

/* What is stored of an item is the name of its message's type with its NUL, and the packed message. */
struct loading {
    struct worker *worker;
    struct durable_actor *actor;
    tr_status status;
};

static bool on_queue_row(void *context, const struct store_row *row)
{
    struct loading *loading = context;
    struct durable_actor *actor = loading->actor;
    if (strcmp(row->name, reserved) == 0) {
        if (row->id > actor->queue_reserved)
            actor->queue_reserved = row->id;
        return true;
    }
    const char *type = row->bytes.data;
    size_t type_size = strnlen(type, row->bytes.size) + 1;
    if (type_size > row->bytes.size) {
        loading->status = TR_STORE_CORRUPT;
        return false;
    }
    size_t size = row->bytes.size - type_size;
    struct queue_item *item = item_new(loading->worker, row->name, type, row->id, size);
    if (!item) {
        loading->status = TR_NO_MEMORY;
        return false;
    }
    memcpy(bytes_of(item), type + type_size, size);
    /* The store gives queue after queue. Insert each item at the place of its id. */
    struct list *before = &actor->queued;
    while (before->previous != &actor->queued &&
           LIST_OWNER(before->previous, struct queue_item, link)->id > item->id)
        before = before->previous;
    list_insert_before(before, &item->link);
    if (item->id > actor->queue_last)
        actor->queue_last = item->id;
    return true;
}

tr_status tr__queues_load(struct worker *worker, struct durable_actor *actor)
{
    const struct durable_kind *kind = actor->kind;
    struct loading loading = {.worker = worker, .actor = actor};
    tr_status status = tr__store_list_queue(host_context(kind->host, worker)->reader,
                                            kind->declared->name,
                                            actor_key(actor),
                                            NULL,
                                            0,
                                            0,
                                            on_queue_row,
                                            &loading);
    if (status == TR_NOT_FOUND)
        return TR_OK;
    if (actor->queue_reserved > actor->queue_last)
        actor->queue_last = actor->queue_reserved;
    return status == TR_OK ? loading.status : status;
}

void tr__queues_drop(struct worker *worker, struct durable_actor *actor)
{
    LIST_EACH (link, &actor->queued)
        item_free(worker, LIST_OWNER(link, struct queue_item, link));
    actor->queue_last = 0;
    actor->queue_reserved = 0;
}

void tr__queues_return(struct durable_actor *actor, const struct tr_self *self)
{
    LIST_EACH (link, &actor->queued) {
        struct queue_item *item = LIST_OWNER(link, struct queue_item, link);
        if (item->taker == self)
            item->taker = NULL;
    }
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

static struct queue_item *first_of(const struct durable_actor *actor, const char *queue)
{
    LIST_EACH (link, &actor->queued) {
        struct queue_item *item = LIST_OWNER(link, struct queue_item, link);
        if (!item->taker && strcmp(item->name, queue) == 0)
            return item;
    }
    return NULL;
}

/* Waits for a change of any queue. While the run handler waits it does not keep the actor awake. */
static tr_status queue_wait(tr_self *self, struct durable_actor *actor, tr_time deadline_ns)
{
    struct durable_frame *frame = self->frame;
    if (frame->is_run)
        tr__sleep_move(
            &actor->machine, &frame->wake_lock, COUNTER_RUN_WAITS, self->worker->loop.now_ns);
    /* Drive the sleep machine before the wait, because that may abort all waits. */
    tr__durable_drive(self->worker, actor, false);
    tr_status status = TR_ABORTED;
    if (!actor->is_aborted) {
        list_push_last(&actor->takers, &frame->taker);
        status = turn_park_at(self, deadline_ns, NULL);
        list_remove(&frame->taker);
    }
    if (frame->is_run && wake_lock_is_raised(&frame->wake_lock))
        tr__sleep_move(&actor->machine, &frame->wake_lock, COUNTER_RUN, self->worker->loop.now_ns);
    return status;
}

/* ---- The verbs. ---- */

static tr_status remove_item(struct worker *worker, struct durable_actor *actor,
                             struct queue_item *item)
{
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? tr__store_queue_remove(batch, item->name, item->id) : TR_NO_MEMORY;
    if (status != TR_OK)
        return status;
    item_free(worker, item);
    actor->has_queue_moved = true;
    tr__backoff_done(actor);
    return TR_OK;
}

static tr_status queue_give(tr_self *self, struct durable_actor *actor, struct queue_item *item,
                            const tr_type *type, const void **message, tr_queued *taken)
{
    tr_wire_error error;
    if (strcmp(type_of(item), type->name) != 0)
        return TR_WRONG_TYPE;
    void *unpacked;
    tr_status status =
        tr_unpack(type, (tr_bytes){bytes_of(item), item->bytes_size}, &unpacked, &error);
    if (status != TR_OK)
        return status;
    size_t size = tr__copy_size(type, unpacked);
    void *copy = tr_try_scratch(self, size);
    if (copy)
        tr__copy_into(type, unpacked, copy, size);
    tr_message_free(type, unpacked);
    if (!copy)
        return TR_NO_MEMORY;
    if (taken) {
        taken->id = item->id;
        item->taker = self;
    } else {
        status = remove_item(self->worker, actor, item);
    }
    if (status == TR_OK)
        *message = copy;
    return status;
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
        tr__run_takes(actor, queue);
    tr_time now_ns = tr_now(self);
    tr_time deadline_ns = timeout_ns > TR_NEVER - now_ns ? TR_NEVER : now_ns + timeout_ns;
    for (;;) {
        if (self->is_cancelled)
            return TR_CANCELLED;
        if (actor->is_aborted)
            return TR_ABORTED;
        struct queue_item *first = first_of(actor, queue);
        if (first)
            return queue_give(self, actor, first, type, message, item);
        tr_status status = queue_wait(self, actor, deadline_ns);
        if (status != TR_OK)
            return status;
    }
}

bool tr_queue_done(tr_self *self, tr_queued done)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!actor || !self->frame || self->is_cancelled)
        return false;
    LIST_EACH (link, &actor->queued) {
        struct queue_item *item = LIST_OWNER(link, struct queue_item, link);
        if (item->id != done.id)
            continue;
        tr_status status = remove_item(self->worker, actor, item);
        if (status != TR_OK)
            tr_crash(self, status, "tr_queue_done: %s", tr_status_text(status));
        return true;
    }
    return false;
}

size_t tr_queue_count(const tr_self *self, const char *queue)
{
    TURN_VERB(self);
    const struct durable_actor *actor = self ? durable_of(self) : NULL;
    size_t count = 0;
    if (!actor || !queue)
        return 0;
    LIST_EACH (link, &actor->queued)
        count += strcmp(LIST_OWNER(link, struct queue_item, link)->name, queue) == 0;
    return count;
}

/* Reserves more ids if the reserved ones are used up. */
static tr_status ids_reserve(struct durable_actor *actor)
{
    if (actor->queue_last < actor->queue_reserved)
        return TR_OK;
    uint64_t more = actor->queue_last + PUT_BY;
    struct store_batch *batch = tr__commit_batch(actor);
    tr_status status = batch ? TR_OK : TR_NO_MEMORY;
    if (status == TR_OK && actor->queue_reserved)
        status = tr__store_queue_remove(batch, reserved, actor->queue_reserved);
    if (status == TR_OK)
        status = tr__store_queue_push(batch, reserved, more, (tr_bytes){"", 0});
    if (status == TR_OK)
        actor->queue_reserved = more;
    return status;
}

static tr_status queue_push(struct worker *worker, struct durable_actor *actor, const char *queue,
                            const tr_type *type, const void *message)
{
    tr_wire_error error;
    size_t size = tr_pack(type, message, NULL, 0, &error);
    if (!size)
        return error.status;
    size_t type_size = strlen(type->name) + 1;
    if (size + type_size > TR_QUEUE_ITEM_MAX)
        return TR_TOO_LARGE;
    tr_status status = ids_reserve(actor);
    if (status != TR_OK)
        return status;
    struct queue_item *item = item_new(worker, queue, type->name, actor->queue_last + 1, size);
    struct store_batch *batch = item ? tr__commit_batch(actor) : NULL;
    char *bytes = batch ? tr__store_batch_alloc(batch, type_size + size) : NULL;
    status = TR_NO_MEMORY;
    if (bytes) {
        (void)tr_pack(type, message, bytes_of(item), size, &error);
        memcpy(bytes, type_of(item), type_size);
        memcpy(bytes + type_size, bytes_of(item), size);
        status = tr__store_queue_push(batch, queue, item->id, (tr_bytes){bytes, type_size + size});
    }
    if (status != TR_OK) {
        if (item)
            item_free(worker, item);
        return status;
    }
    actor->queue_last++;
    actor->has_queue_moved = true;
    list_push_last(&actor->queued, &item->link);
    takers_wake(actor, TR_OK);
    return TR_OK;
}

tr_status tr_self_try_queue_push(tr_self *self, const char *queue, const tr_type *type,
                                 const void *message)
{
    TURN_VERB(self);
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!self || !queue || !*queue || *queue == reserved[0] || !type || !message)
        return TR_INVALID_ARGUMENT;
    if (!actor)
        return TR_NOT_SUPPORTED;
    if (!self->frame)
        return TR_NOT_IN_A_TURN;
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (strnlen(queue, TR_QUEUE_NAME_MAX + 1) > TR_QUEUE_NAME_MAX)
        return TR_TOO_LARGE;
    if (tr_queue_count(self, queue) >= TR_QUEUE_MAX)
        return TR_LIMIT;
    return queue_push(self->worker, actor, queue, type, message);
}

void tr_self_queue_push(tr_self *self, const char *queue, const tr_type *type, const void *message)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* without a turn there is nothing to end */
    tr_status status = tr_self_try_queue_push(self, queue, type, message);
    if (status != TR_OK)
        tr_crash(self, status, "tr_queue_push: %s", tr_status_text(status));
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
    (void)!tr__sleep_raise(
        &actor->machine, &self->frame->wake_lock, COUNTER_RUN, self->worker->loop.now_ns);
    tr_next next = tr__durable_user(self, verb_turn, handler, state, &run);
    next = tr__durable_changed(self, verb_turn, actor, next);
    next = tr__frame_done(self, actor, next, false);
    actor->has_run = next.code != TR_NEXT_FAILED && !actor->is_aborted && !self->is_cancelled;
    tr__frame_end(self, actor);
    tr__durable_drive(self->worker, actor, false);
    return next;
}
