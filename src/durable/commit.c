/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stretches: what a turn changes between two waits, and how it gets to the disk.
 */
#include <string.h>

#include "actor/turn/park.h"
#include "base/assert.h"
#include "durable/clock.h"
#include "durable/events.h"
#include "durable/shapes.h"
#include "wire/shape.h"

_Static_assert(SHAPE_FRONT <= STORE_FRONT_MAX, "the store has room for it");

/* ---- What has changed. ---- */

/* What the state was read from. */
static const struct state_block *block_of(const struct durable_actor *actor)
{
    bool has_snapshot = actor->events && actor->events->block.data;
    return has_snapshot ? &actor->events->block : &actor->block;
}

size_t tr__durable_state_pack(struct worker *worker, struct durable_actor *actor, tr_status *status)
{
    struct worker_context *context = host_context(actor->kind->host, worker);
    const tr_type *type = actor->kind->declared->state;
    const struct tail *tail = &block_of(actor)->tail;
    tr_wire_error error;
    for (;;) {
        size_t size = tr__pack_tail(
            type, actor->durable.cell->state, tail, context->bytes, context->size, &error);
        if (!size || size > TR_STATE_MAX) {
            *status = size ? TR_TOO_LARGE : error.status;
            return 0;
        }
        if (size <= context->size)
            return size;
        void *bytes = source_resize(&worker->source, context->bytes, 2 * size);
        if (!bytes) {
            *status = TR_NO_MEMORY;
            return 0;
        }
        context->bytes = bytes;
        context->size = 2 * size;
    }
}

tr_status tr__durable_state_copy(const struct durable_actor *actor, struct store_batch *batch,
                                 tr_bytes packed, tr_bytes *copy)
{
    const struct durable_kind *kind = actor->kind;
    const struct state_block *block = block_of(actor);
    uint64_t hash = block->has_shape ? block->shape : tr__shape_of(kind, kind->declared->state);
    size_t front = hash ? SHAPE_FRONT : 0;
    unsigned char *bytes = tr__store_batch_alloc(batch, front + packed.size);
    if (!bytes)
        return TR_NO_MEMORY;
    if (hash)
        tr__shape_front_write(bytes, hash);
    memcpy(bytes + front, packed.data, packed.size);
    *copy = (tr_bytes){bytes, front + packed.size};
    return TR_OK;
}

/* Copies the state that is packed at the context; false: no memory. */
static bool context_copy(struct worker *worker, const struct durable_actor *actor, size_t size,
                         unsigned char **bytes, size_t *room)
{
    if (size > *room) {
        void *grown = source_resize(&worker->source, *bytes, size);
        if (!grown)
            return false;
        *bytes = grown;
        *room = size;
    }
    if (size)
        memcpy(*bytes, host_context(actor->kind->host, worker)->bytes, size);
    return true;
}

bool tr__durable_state_is_stored(struct worker *worker, struct durable_actor *actor, size_t size)
{
    if (!context_copy(worker, actor, size, &actor->stored, &actor->stored_room))
        return false;
    actor->stored_size = size;
    return true;
}

/*
 * The commit has ended well, and is to be stored later: it is kept apart from what comes next, which may fail. The
 * state is packed at the context anyhow, to see whether it has changed.
 */
static tr_status finish(struct worker *worker, struct durable_actor *actor, size_t size)
{
    struct finished *finished = &actor->finished;
    if (!context_copy(worker, actor, size, &finished->state, &finished->room))
        return TR_NO_MEMORY;
    finished->size = size;
    finished->alarm_ns = actor->alarm_ns;
    finished->batch = (struct store_batch_mark){.last = NULL};
    if (actor->batch)
        finished->batch = tr__store_batch_mark(actor->batch);
    tr__durable_sql_finish(actor);
    if (actor->events)
        finished->event = actor->events->journal.highest;
    return TR_OK;
}

struct store_batch *tr__commit_batch(struct durable_actor *actor)
{
    if (!actor->batch && tr__store_batch_new(actor->entry, &actor->batch) != TR_OK)
        actor->batch = NULL;
    return actor->batch;
}

/* ---- The way to the disk. ---- */

/* On the store's thread. */
static void on_done(void *context, struct store_batch *batch, tr_status status)
{
    struct commit *commit = context;
    struct cell *cell = commit->actor->durable.cell;
    struct tr_system *system = commit->actor->kind->host->system;
    tr__store_batch_free(batch);
    commit->status = status;
    tr__stored_send(system, cell, commit->envelope);
}

static tr_status state_put(struct durable_actor *actor, tr_bytes packed)
{
    struct store_batch *batch = tr__commit_batch(actor);
    tr_bytes bytes;
    tr_status status = batch ? tr__durable_state_copy(actor, batch, packed, &bytes) : TR_NO_MEMORY;
    if (status != TR_OK)
        return status;
    actor->is_half = actor->is_creating;
    uint32_t version = actor->kind->version | (actor->is_half ? STATE_HALF : 0);
    return tr__store_put_state(batch, version, bytes);
}

/*
 * What an actor has told itself is not to find it asleep: nobody would hear that it was lost. So it stays until
 * that has arrived.
 */
static void hold_own_mail(struct worker *worker, struct durable_actor *actor, struct commit *commit)
{
    const struct outbox *outbox = &commit->outbox;
    if (wake_lock_is_raised(&commit->wake_lock))
        return;
    for (uint32_t i = 0; i < outbox->count; i++) {
        if (outbox->items[i].cell != actor->durable.cell)
            continue;
        commit->wake_lock.what = "a message to itself, in transit";
        (void)!tr__sleep_raise(
            &actor->machine, &commit->wake_lock, COUNTER_INTERNAL, worker->loop.now_ns);
        return;
    }
}

tr_status tr__commit_submit(struct worker *worker, struct durable_actor *actor)
{
    struct cell *cell = actor->durable.cell;
    bool has_shapes = !atom32_load(&actor->kind->are_shapes_stored, ATOM_RELAXED);
    tr_status status = has_shapes ? tr__shapes_put(actor->kind, actor->batch) : TR_OK;
    if (status != TR_OK)
        return status;
    struct commit *commit = source_resize(&worker->source, NULL, sizeof *commit);
    if (!commit)
        return TR_NO_MEMORY;
    struct envelope *envelope = tr__stored_new(worker, cell, (uint64_t)(uintptr_t)commit);
    if (!envelope) {
        source_resize(&worker->source, commit, 0);
        return TR_NO_MEMORY;
    }
    *commit = (struct commit){.actor = actor,
                              .outbox = actor->outbox,
                              .batch = actor->batch,
                              .envelope = envelope,
                              .number = actor->commit_last + 1,
                              .alarm_ns = actor->alarm_ns,
                              .has_shapes = has_shapes};
    list_init(&commit->savers);
    list_push_last(&actor->commits, &commit->link);
    status = tr__store_submit(actor->batch, on_done, commit);
    if (status != TR_OK) {
        list_remove(&commit->link);
        source_resize(&worker->source, commit, 0);
        tr__stored_end(worker, cell, envelope);
        return status;
    }
    if (commit->outbox.count) /* somebody waits for it */
        worker->loop.await_ns = tr__store_await_ns(actor->kind->host->store);
    hold_own_mail(worker, actor, commit);
    actor->outbox = (struct outbox){.is_open = actor->outbox.is_open};
    actor->batch = NULL;
    actor->commit_last++;
    tr__durable_sql_submitted(actor, actor->commit_last);
    actor->alarm_ns = TR_NEVER;
    actor->has_dirt = false;
    actor->save_ns = TR_NEVER;
    actor->is_new = false;
    if (actor->events)
        tr__events_submitted(worker, actor);
    return TR_OK;
}

/* Adds the state to the batch, if it has changed or more is to be said of the actor. */
static tr_status state_close(struct worker *worker, struct durable_actor *actor, size_t size,
                             bool has_changed, bool is_told)
{
    tr_status status = TR_OK;
    if (actor->events)
        return tr__events_close(worker, actor, true);
    if (has_changed || is_told || actor->is_creating || actor->is_half)
        status = state_put(actor, (tr_bytes){host_context(actor->kind->host, worker)->bytes, size});
    if (status == TR_OK && has_changed && !tr__durable_state_is_stored(worker, actor, size))
        status = TR_NO_MEMORY;
    return status;
}

/* What it sent goes behind what waits already. */
static tr_status outbox_join(struct worker *worker, struct outbox *to, struct outbox *from)
{
    if (!from->count)
        return TR_OK;
    uint32_t count = to->count + from->count;
    struct outbox_item *items =
        source_resize(&worker->source, to->items, count * sizeof to->items[0]);
    if (!items)
        return TR_NO_MEMORY;
    memcpy(items + to->count, from->items, from->count * sizeof items[0]);
    to->items = items;
    to->count = count;
    to->capacity = count;
    source_resize(&worker->source, from->items, 0);
    from->items = NULL;
    from->count = 0;
    from->capacity = 0;
    return TR_OK;
}

/* Whether changes are to go to the disk now, or may wait. */
static bool is_time(struct worker *worker, struct durable_actor *actor)
{
    switch (actor->kind->declared->options.durability) {
    case TR_SAVE_SYNC:
        return true;
    case TR_SAVE_INTERVAL:
        if (!actor->has_dirt)
            actor->save_ns = worker->loop.now_ns + actor->kind->interval_ns;
        actor->has_dirt = true;
        tr__durable_arm(worker, actor);
        return false;
    case TR_SAVE_ON_DEMAND:
        break;
    }
    actor->has_dirt = true;
    return false;
}

/*
 * The commit wants the end of the actor: a mark for that is stored with what else it did, before anything of it
 * leaves. The rest is removed when the grace is over (durable/drive.c), or by the next generation, or the next open of
 * the store.
 */
static tr_status doom(struct durable_actor *actor)
{
    struct store_batch *batch = tr__commit_batch(actor);
    return batch ? tr__store_doom(batch) : TR_NO_MEMORY;
}

static tr_status commit_submit(struct worker *worker, struct durable_actor *actor)
{
    tr_status status = tr__commit_submit(worker, actor);
    if (status != TR_OK || !actor->is_destroy_wanted)
        return status;
    actor->is_destroy_wanted = false;
    actor->is_doomed = true;
    /* If it is too late for that, since the actor falls asleep, the mark counts all the same. */
    (void)!tr__sleep_ask(&actor->machine, SLEEP_REASON_DESTROY, worker->loop.now_ns);
    return TR_OK;
}

tr_status tr__commit_end(struct worker *worker, struct durable_actor *actor, bool must)
{
    tr_status status = actor->broken;
    if (status != TR_OK)
        return status; /* what an earlier one did is not stored, and it knows of that */
    if (actor->is_destroy_wanted) {
        status = doom(actor);
        must = true;
    }
    if (status != TR_OK)
        return status;
    size_t size = 0;
    bool has_changed = false;
    if (!actor->events) { /* whose state is in its events */
        size = tr__durable_state_pack(worker, actor, &status);
        if (!size)
            return status;
        const void *bytes = host_context(actor->kind->host, worker)->bytes;
        has_changed = size != actor->stored_size || memcmp(bytes, actor->stored, size) != 0;
    }
    /* Whether it is stored, even if it has not changed: what is stored of it says that it is new, or half made. */
    bool is_told = must && (actor->is_new || actor->is_half);
    bool has_tables = tr__durable_sql_has_changed(actor);
    bool is_due = has_changed || has_tables || actor->batch || is_told;
    bool had_dirt = actor->has_dirt;
    if (is_due && (must || is_time(worker, actor))) {
        status = state_close(worker, actor, size, has_changed, is_told);
        if (status == TR_OK && has_tables)
            status = tr__durable_sql_put(actor);
        return status == TR_OK ? commit_submit(worker, actor) : status;
    }
    if (is_due) {
        status = finish(worker, actor, size);
    } else { /* What had changed, if anything, is again as it is stored. */
        actor->has_dirt = false;
        actor->save_ns = TR_NEVER;
    }
    if (status != TR_OK) {
        actor->has_dirt = had_dirt; /* what ended before is still there */
        return status;
    }
    struct list *last = list_last(&actor->commits);
    if (last && actor->outbox.count) {
        struct commit *commit = LIST_OWNER(last, struct commit, link);
        status = outbox_join(worker, &commit->outbox, &actor->outbox);
        hold_own_mail(worker, actor, commit);
        return status;
    }
    tr__outbox_release(worker, &actor->outbox);
    return TR_OK;
}

/* What the commit that runs has done is taken back, and all that is not submitted with it, unless `is_kept`. */
static void take_back(struct worker *worker, struct durable_actor *actor, tr_status reason,
                      bool is_kept)
{
    tr__outbox_drop(worker, &actor->outbox, reason);
    actor->is_destroy_wanted = false;
    if (is_kept && actor->batch)
        tr__store_batch_cut(actor->batch, actor->finished.batch);
    if (!is_kept || (actor->batch && tr__store_batch_is_empty(actor->batch))) {
        tr__store_batch_free(actor->batch);
        actor->batch = NULL;
    }
    actor->alarm_ns = is_kept ? actor->finished.alarm_ns : TR_NEVER;
    if (actor->events)
        tr__events_dropped(worker, actor, is_kept ? actor->finished.event : 0);
    tr__durable_sql_undo(actor);
}

void tr__commit_fail(struct worker *worker, struct durable_actor *actor, tr_status reason)
{
    const struct finished *finished = &actor->finished;
    /* Of a first start that fails nothing is kept. */
    if (!actor->has_dirt || actor->broken != TR_OK || actor->is_creating) {
        tr__commit_drop(worker, actor, reason);
        return;
    }
    take_back(worker, actor, reason, true);
    tr_status status = TR_OK;
    if (actor->events)
        status = tr__events_close(worker, actor, false);
    else
        status = state_put(actor, (tr_bytes){finished->state, finished->size});
    if (status == TR_OK && tr__durable_sql_has_changed(actor))
        status = tr__durable_sql_put(actor);
    if (status == TR_OK && actor->batch)
        status = tr__commit_submit(worker, actor);
    if (status != TR_OK)
        tr__commit_drop(worker, actor, status);
}

void tr__commit_drop(struct worker *worker, struct durable_actor *actor, tr_status reason)
{
    take_back(worker, actor, reason, false);
    tr__overlays_undo(worker, actor);
}

void tr__durable_break(struct worker *worker, struct durable_actor *actor, tr_status why)
{
    if (actor->broken != TR_OK)
        return;
    actor->broken = why;
    tr__durable_nudge(worker, actor);
}

void tr__commit_stored(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    const struct tr_stored *stored = envelope_data(envelope);
    struct commit *commit = (struct commit *)(uintptr_t)stored->token;
    struct durable_actor *actor = commit->actor;
    TR_ASSERT(list_first(&actor->commits) == &commit->link);
    list_remove(&commit->link);
    worker->loop.await_ns = 0; /* if it was another one that is waited for, that is soon over too */
    tr_status status = commit->status;
    if (status == TR_OK) {
        tr__overlays_drop(worker, actor, commit->number);
        tr__durable_sql_stored(actor, commit->number);
        tr__outbox_release(worker, &commit->outbox);
        if (commit->has_shapes)
            atom32_store(&actor->kind->are_shapes_stored, 1, ATOM_RELAXED);
        if (commit->alarm_ns < TR_NEVER)
            tr__clock_tell(worker, actor->kind->host, commit->alarm_ns);
    } else {
        /* What came behind one that failed is stale: it is that one's failure that says why. */
        tr__outbox_drop(worker, &commit->outbox, actor->broken != TR_OK ? actor->broken : status);
        if (cell->life < LIFE_STOPPING)
            tr__durable_break(worker, actor, status);
    }
    if (actor->events)
        tr__events_stored(worker, actor, commit->number, status);
    if (wake_lock_is_raised(&commit->wake_lock)) {
        tr__sleep_drop(&actor->machine, &commit->wake_lock, worker->loop.now_ns);
        tr__durable_nudge(worker, actor);
    }
    struct list *link;
    while ((link = list_pop_first(&commit->savers)))
        tr__turn_wake(LIST_OWNER(link, struct durable_frame, saver)->self, status);
    source_resize(&worker->source, commit, 0);
    if (actor->is_stored_awaited && list_is_empty(&actor->commits)) {
        actor->is_stored_awaited = false;
        (void)!tr__sleep_written(&actor->machine, status == TR_OK ? actor->erased : status);
        tr__durable_nudge(worker, actor);
    }
    tr__stored_end(worker, cell, envelope);
}
