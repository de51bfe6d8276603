/* SPDX-License-Identifier: Apache-2.0 */
/** Commits. They bring the changes of a part of a turn to the disk. See durable/commit.h. */
#include "durable/connections.h"
#include "durable/commit.h"

#include <string.h>

#include "actor/turn/park.h"
#include "base/assert.h"
#include "durable/clock.h"
#include "durable/drive.h"
#include "durable/events.h"
#include "durable/overlay.h"
#include "durable/queue.h"
#include "durable/queue_alarm.h"
#include "durable/request.h"
#include "durable/message_shape.h"
#include "durable/shapes.h"
#include "durable/sql.h"
#include "durable/state.h"
#include "durable/ttl.h"
#include "durable/turn.h"
#include "sleep/sleep.h"
#include "store/store.h"
#include "store/batch.h"
#include "actor/mail/outbox.h"
#include "os/probe.h"
#include "actor/ask/batch.h"
#include "actor/ask/turn_asks.h"
#include "mem/envelope.h"
#include "wire/copy.h"
#include "wire/fault.h"
#include "wire/type.h"

/* Makes the open commit a finished commit, which is stored later. Keeps a copy of the state, and
 * the end of the commit's changes in the batch, because the next commit may fail and must then be
 * undone alone. The worker's context has the packed state already, because the caller has compared
 * it. */
static tr_status commit_finish(struct worker *worker, struct durable_actor *actor, size_t size)
{
    struct finished *finished = &actor->finished;
    if (!tr__durable_state_keep(worker, actor, size, &finished->state, &finished->capacity))
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

/* ---- Submitting commits to the store. ---- */

/* Takes the status of a submitted batch and sends the envelope of its commit. The store's thread
 * calls it. */
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

/* Keeps the actor awake while the outbox of a submitted commit has messages to the actor itself.
 * Otherwise the actor might fall asleep before these messages arrive, and they would be lost. */
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
    struct worker_context *context = host_context(actor->kind->host, worker);
    uint32_t message_shapes;
    tr_status status = has_shapes ? tr__shapes_put(actor->kind, actor->batch) : TR_OK;
    if (status == TR_OK)
        status = tr__message_shapes_put(context, actor->batch, &message_shapes);
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
                              .has_shapes = has_shapes,
                              .context = context,
                              .message_shapes = message_shapes};
    list_init(&commit->savers);
    list_push_last(&actor->commits, &commit->link);
    status = tr__store_submit(actor->batch, on_done, commit);
    if (status != TR_OK) {
        list_remove(&commit->link);
        source_resize(&worker->source, commit, 0);
        tr__stored_end(worker, cell, envelope);
        return status;
    }
    /* the message's receiver may wait for it, so let the worker poll for the end of the commit
     * before it sleeps */
    if (commit->outbox.count)
        worker->loop.await_ns = tr__store_await_ns(actor->kind->host->store);
    hold_own_mail(worker, actor, commit);
    actor->outbox = (struct outbox){.is_open = actor->outbox.is_open};
    actor->batch = NULL;
    actor->commit_last++;
    if (actor->requests)
        tr__requests_submitted(actor, actor->commit_last);
    tr__durable_sql_submitted(actor, actor->commit_last);
    actor->alarm_ns = TR_NEVER;
    actor->is_dirty = false;
    actor->save_ns = TR_NEVER;
    actor->is_new = false;
    if (actor->events)
        tr__events_submitted(worker, actor);
    return TR_OK;
}

/*
 * Adds the state to the batch if it has changed, if the mark STATE_HALF of the stored state must
 * change, or if `is_forced`. For a kind with events, adds no state, but what tr__events_close adds.
 */
static tr_status state_close(struct worker *worker, struct durable_actor *actor, size_t size,
                             bool has_changed, bool is_forced)
{
    tr_status status = TR_OK;
    if (actor->events)
        return tr__events_close(worker, actor, true);
    if (has_changed || is_forced || actor->is_creating || actor->is_half)
        status = state_put(actor, (tr_bytes){host_context(actor->kind->host, worker)->bytes, size});
    if (status == TR_OK && has_changed && !tr__durable_state_is_stored(worker, actor, size))
        status = TR_NO_MEMORY;
    return status;
}

/* Moves the messages of the open commit to the end of the outbox of a submitted commit. */
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

/* Returns whether the kind's durability requires that the changes are stored now. */
static bool commit_is_due(struct worker *worker, struct durable_actor *actor)
{
    switch (actor->kind->declared->options.durability) {
    case TR_SAVE_SYNC:
        return true;
    case TR_SAVE_INTERVAL:
        if (!actor->is_dirty)
            actor->save_ns = worker->loop.now_ns + actor->kind->interval_ns;
        actor->is_dirty = true;
        tr__durable_arm(worker, actor);
        return false;
    case TR_SAVE_ON_DEMAND:
        break;
    }
    actor->is_dirty = true;
    return false;
}

/* The open commit has called tr_destroy. Adds the mark of tr_destroy to its batch. So the mark is
 * stored together with the commit's other changes, before any message of the commit leaves. The
 * rows of the actor are removed later: when the grace ends (durable/drive.c), by the next
 * generation, or when the store is opened next. */
static tr_status commit_doom(struct durable_actor *actor)
{
    struct store_batch *batch = tr__commit_batch(actor);
    return batch ? tr__store_doom(batch) : TR_NO_MEMORY;
}

static tr_status commit_submit_open(struct worker *worker, struct durable_actor *actor)
{
    tr_status status = tr__commit_submit(worker, actor);
    if (status != TR_OK || !actor->is_destroy_wanted)
        return status;
    actor->is_destroy_wanted = false;
    actor->is_doomed = true;
    /* If the actor is already falling asleep, the sleep machine refuses the destroy. The mark in
     * the store still counts. */
    (void)!tr__sleep_ask(&actor->machine, SLEEP_REASON_DESTROY, worker->loop.now_ns);
    return TR_OK;
}

static tr_status commit_close(struct worker *worker, struct durable_actor *actor, bool must)
{
    tr_status status = TR_OK;
    if (actor->is_destroy_wanted) {
        status = commit_doom(actor);
        must = true;
    }
    if (status != TR_OK)
        return status;
    if (actor->requests)
        status = tr__requests_close(worker, actor);
    if (status != TR_OK)
        return status;
    size_t size = 0;
    bool has_changed = false;
    if (!actor->events) { /* the state of a kind with events is stored as snapshots, not here */
        size = tr__durable_state_pack(worker, actor, &status);
        if (!size)
            return status;
        const void *bytes = host_context(actor->kind->host, worker)->bytes;
        has_changed = size != actor->stored_size || memcmp(bytes, actor->stored, size) != 0;
    }
    /* Two cases need the state in the store even if it has not changed. The store may say that the
     * actor is half created. Or tr_created has run, and must not run again. A new key without any
     * change is not stored. */
    bool is_created = actor->is_new && actor->kind->created;
    bool is_forced = must && (is_created || actor->is_half);
    bool has_tables = tr__durable_sql_has_changed(actor);
    bool is_due = has_changed || has_tables || actor->batch || is_forced;
    bool was_dirty = actor->is_dirty;
    if (actor->kind->ttl_ns)
        status = tr__ttl_close(actor, is_due);
    is_due |= actor->batch != NULL;
    if (status == TR_OK && is_due && actor->requests)
        status = tr__requests_begin(worker, actor);
    if (status != TR_OK)
        return status;
    if (is_due && (must || commit_is_due(worker, actor))) {
        is_forced |= actor->is_new; /* the rows of a key are found only if its state is stored */
        status = state_close(worker, actor, size, has_changed, is_forced);
        if (status == TR_OK && has_tables)
            status = tr__durable_sql_put(actor);
        return status == TR_OK ? commit_submit_open(worker, actor) : status;
    }
    if (is_due) {
        status = commit_finish(worker, actor, size);
    } else { /* Nothing has changed, or the state is as it was stored. */
        actor->is_dirty = false;
        actor->save_ns = TR_NEVER;
    }
    if (status != TR_OK) {
        actor->is_dirty = was_dirty; /* finished commits from before still wait to be submitted */
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

tr_status tr__commit_end(struct worker *worker, struct durable_actor *actor, bool must)
{
    tr_status status = actor->broken;
    if (status != TR_OK)
        /* An earlier commit could not be stored, so the actor is about to restart. */
        return status;
    bool has_queues = actor->queues.has_changed;
    if (has_queues)
        status = tr__queue_alarm_update(actor);
    if (status == TR_OK)
        status = commit_close(worker, actor, must);
    if (status == TR_OK && has_queues)
        tr__queues_committed(worker, actor);
    return status;
}

/* ---- A state that points into memory of the turn. ---- */

struct memory_range {
    uintptr_t begin;
    size_t size;
};

/* The memory of a turn. */
struct turn_memory {
    const struct tr_self *self;
    struct memory_range message;
    struct memory_range
        inner; /* a message of the runtime is around this one; see durable_frame.message */
    struct memory_range stack;
    tr_wire_error *error;
};

static inline bool range_has(struct memory_range span, const void *memory)
{
    return (uintptr_t)memory - span.begin < span.size;
}

/* Returns the memory of the message in an envelope. */
static struct memory_range envelope_range(struct envelope *envelope)
{
    if (!envelope)
        return (struct memory_range){0, 0};
    bool is_inside = envelope->block_class == ENVELOPE_NO_BLOCK;
    return (struct memory_range){(uintptr_t)envelope_data(envelope),
                                 is_inside ? ENVELOPE_INLINE : envelope->payload.block.size};
}

static bool is_in_batch(const struct batch *batch, const void *memory)
{
    for (uint32_t i = 0; batch && i < batch->count; i++) {
        if (range_has(envelope_range(batch->items[i].envelope), memory))
            return true;
    }
    return false;
}

static bool is_in_replies(const struct turn_asks *asks, const void *memory)
{
    for (uint32_t i = 0; i < asks->count; i++) {
        uintptr_t place = asks->places[i];
        if (place_is_answered(place) && range_has(envelope_range(place_answer(place)), memory))
            return true;
    }
    return false;
}

static bool is_in_kept(const struct kept_message *kept, const void *memory)
{
    for (; kept; kept = kept->next) {
        size_t size = tr__copy_size(kept->type, kept->message);
        if (range_has((struct memory_range){(uintptr_t)kept->message, size}, memory))
            return true;
    }
    return false;
}

/* Returns the name of the memory of the turn in which `memory` is, or NULL if it is not there. */
static const char *turn_memory_name(const struct turn_memory *turn, const void *memory)
{
    const struct tr_self *self = turn->self;
    if (range_has(turn->message, memory) || range_has(turn->inner, memory) ||
        is_in_batch(self->batch, memory))
        return "the message";
    if (range_has(turn->stack, memory))
        return "the stack of the handler";
    if (tr__scratch_has(self->scratch.current, memory))
        return "memory of the turn";
    if (is_in_replies(&self->asks, memory))
        return "a reply";
    return is_in_kept(self->frame->read, memory) ? "a message of tr_connection_kept" : NULL;
}

/* Checks a pointer. Sets the error if it points into memory of the turn. `verb` makes a copy. */
static bool pointer_is_own(const struct turn_memory *turn, const void *memory, const char *verb)
{
    const char *name = turn_memory_name(turn, memory);
    if (LIKELY(!name))
        return true;
    tr__fault_set(turn->error, TR_BAD_DATA, 0, "points into %s; copy it: %s", name, verb);
    return false;
}

static bool pointers_check_message(const struct turn_memory *turn, const tr_type *type,
                                   const void *message, unsigned depth);

static bool pointers_check_value(const struct turn_memory *turn, const tr_field *field,
                                 const void *value, unsigned depth)
{
    if (field->kind == TR_KIND_STR) {
        const char *text;
        memcpy(&text, value, sizeof text);
        return !text || pointer_is_own(turn, text, "tr_strdup");
    }
    if (field->kind == TR_KIND_BYTES) {
        tr_bytes bytes;
        memcpy(&bytes, value, sizeof bytes);
        return !bytes.size || pointer_is_own(turn, bytes.data, "tr_alloc and memcpy");
    }
    /* A buffer is counted, and is in none of these memories. */
    return field->kind != TR_KIND_MESSAGE ||
           pointers_check_message(turn, field->message, value, depth + 1);
}

static bool pointers_check_field(const struct turn_memory *turn, const tr_field *field,
                                 const void *message, unsigned depth)
{
    struct field_values values = tr__field_values(field, message);
    if (!values.count || !values.items)
        return true; /* a list without items that has a count is refused when it is packed */
    if (field->shape == TR_SHAPE_LIST && !pointer_is_own(turn, values.items, "tr_append"))
        return false;
    if (!tr__field_is_deep(field))
        return true;
    for (size_t i = 0; i < values.count; i++) {
        if (pointers_check_value(turn, field, values.items + i * field->item_size, depth))
            continue;
        if (field->shape == TR_SHAPE_LIST || field->shape == TR_SHAPE_ARRAY)
            tr__fault_in_item(turn->error, i);
        return false;
    }
    return true;
}

static bool pointers_check_message(const struct turn_memory *turn, const tr_type *type,
                                   const void *message, unsigned depth)
{
    if (type->is_flat || depth > TR_DEPTH_MAX) /* messages that are too deep cannot be packed */
        return true;
    const tr_field *field = type->fields;
    for (size_t i = 0; i < type->field_count; i++) {
        bool is_plain = field->shape != TR_SHAPE_LIST && !tr__field_is_deep(field);
        if (!is_plain && !pointers_check_field(turn, field, message, depth)) {
            tr__fault_in_field(turn->error, field->name);
            return false;
        }
        field = tr__field_next(field, type->field_size);
    }
    return true;
}

static tr_status borrowed_check(struct tr_self *self, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const struct durable_frame *frame = self->frame;
    const tr_type *type = actor->kind->declared->state;
    const struct fiber *fiber = self->worker->stacks.host.current;
    if (type->is_flat || (actor->events && !actor->batch))
        return TR_OK; /* events alone change a state of a kind with events */
    struct turn_memory turn = {
        .self = self,
        .message = envelope_range(self->envelope),
        .error = &host_context(actor->kind->host, self->worker)->fault,
    };
    if (frame->message)
        turn.inner = (struct memory_range){(uintptr_t)frame->message,
                                           tr__copy_size(frame->message_type, frame->message)};
    if (fiber)
        turn.stack = (struct memory_range){(uintptr_t)fiber->side.low, fiber->side.size};
    return pointers_check_message(&turn, type, actor->durable.cell->state, 0) ? TR_OK : TR_BAD_DATA;
}

tr_status tr__stretch_end(struct tr_self *self, struct durable_actor *actor, bool must)
{
    tr_status status = actor->broken == TR_OK ? borrowed_check(self, actor) : TR_OK;
    return status == TR_OK ? tr__commit_end(self->worker, actor, must) : status;
}

/* ---- Commits that fail. ---- */

/* Undoes what the open commit has done. If `is_kept` is false, also undoes the finished commits. */
static void commit_take_back(struct worker *worker, struct durable_actor *actor, tr_status reason,
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
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    const struct finished *finished = &actor->finished;
    /* After a first start that has failed nothing may be left of the key, so the finished commits
     * are dropped too. */
    if (!actor->is_dirty || actor->broken != TR_OK || actor->is_creating) {
        tr__commit_drop(worker, actor, reason);
        return;
    }
    commit_take_back(worker, actor, reason, true);
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
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    commit_take_back(worker, actor, reason, false);
    tr__overlays_undo(worker, actor);
}

void tr__durable_break(struct worker *worker, struct durable_actor *actor, tr_status why)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    if (actor->broken != TR_OK)
        return;
    actor->broken = why;
    tr__durable_nudge(worker, actor);
}

void tr__commit_stored(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct tr_stored *stored = envelope_data(envelope);
    struct commit *commit = (struct commit *)(uintptr_t)stored->token;
    struct durable_actor *actor = commit->actor;
    TR_ASSERT(list_first(&actor->commits) == &commit->link);
    list_remove(&commit->link);
    /* Stop polling for the end of a commit. If the worker polls for another commit than this one,
     * that one will end soon too. */
    worker->loop.await_ns = 0;
    tr_status status = commit->status;
    PROBE2(commit, cell->identity, status);
    if (status == TR_OK) {
        tr__overlays_drop(worker, actor, commit->number);
        tr__durable_sql_stored(actor, commit->number);
        if (actor->requests)
            tr__requests_stored(worker, actor, commit->number);
        tr__outbox_release(worker, &commit->outbox);
        if (commit->has_shapes)
            atom32_store(&actor->kind->are_shapes_stored, 1, ATOM_RELAXED);
        struct worker_context *context = host_context(actor->kind->host, worker);
        if (commit->context == context) /* the actor has not moved to another worker since */
            tr__message_shapes_stored(context, commit->message_shapes);
        if (commit->alarm_ns < TR_NEVER)
            tr__clock_tell(worker, actor->kind->host, commit->alarm_ns);
    } else {
        /* When a commit fails, all later commits of the actor fail too. Report the status of the
         * first. */
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
    tr__connections_settle(worker, actor);
    if (actor->is_stored_awaited && list_is_empty(&actor->commits)) {
        actor->is_stored_awaited = false;
        (void)!tr__sleep_written(&actor->machine, status == TR_OK ? actor->erased : status);
        tr__durable_nudge(worker, actor);
    }
    tr__stored_end(worker, cell, envelope);
}
