/* SPDX-License-Identifier: Apache-2.0 */
/** Events of an awake actor: tr_persist, the way to the disk, hooks, and snapshots. */
#include "durable/events.h"

#include <inttypes.h>
#include <string.h>

#include "actor/cell/names.h"
#include "base/assert.h"
#include "durable/changed.h"
#include "durable/commit.h"
#include "durable/drive.h"
#include "durable/event_page.h"
#include "durable/journal.h"
#include "durable/shapes.h"
#include "durable/state.h"
#include "durable/turn.h"
#include "sleep/sleep.h"
#include "wire/shape.h"
#include "wire/type.h"
#include "actor/cell/log.h"
#include "actor/cell/verb.h"
#include "durable/host.h"
#include "store/record.h"
#include "store/batch.h"
#include "durable/actor.h"
#include "base/list.h"
#include "actor/cell/worker.h"
#include "sleep/wake_locks.h"
#include "store/read.h"

_Static_assert(TR_SNAPSHOTS_MAX == JOURNAL_SNAPSHOTS_MAX, "what a kind may keep, a journal can");

/* ---- Checks of a kind. ---- */

static bool event_has(const tr_event_row *row, bool is_hook)
{
    return is_hook ? row->stored != NULL : row->apply != NULL;
}

static const tr_event_row *row_of(const tr_events *events, const tr_type *type, bool is_hook)
{
    /* Compare addresses first. A type is mostly declared in the same file as its kind, so the
     * addresses are equal. */
    for (size_t i = 0; i < events->row_count; i++) {
        if (events->rows[i].type == type && event_has(&events->rows[i], is_hook))
            return &events->rows[i];
    }
    for (size_t i = 0; i < events->row_count; i++) {
        const tr_event_row *row = &events->rows[i];
        if (event_has(row, is_hook) && tr_type_is_equal(row->type, type))
            return row;
    }
    return NULL;
}

static const char *row_fault(const tr_events *events, const tr_event_row *row)
{
    const char *why;
    if (!tr__type_is_valid(row->type, &why))
        return why;
    if (row_of(events, row->type, row->stored != NULL) != row)
        return "invalid events: an event has two functions";
    if (row->stored && !row_of(events, row->type, false))
        return "invalid events: TR_ON_STORED of an event without TR_APPLY";
    for (size_t i = 0; row->migrations && row->migrations[i]; i++) {
        const tr_migration *step = row->migrations[i];
        if (step->from < 1 || step->from >= row->version)
            return "invalid events: a migration must start from an earlier version";
        if (!tr__type_is_valid(step->from_type, &why) || !tr__type_is_valid(step->to_type, &why))
            return why;
    }
    return NULL;
}

const char *tr__events_fault(const tr_durable_kind *kind)
{
    const tr_events *events = kind->options.events;
    if (!events->state || !tr_type_is_equal(events->state, kind->state))
        return "invalid events: they belong to another state";
    if (events->snapshots.kept > TR_SNAPSHOTS_MAX)
        return "invalid events: more snapshots than TR_SNAPSHOTS_MAX";
    if (!events->row_count)
        return "invalid events: at least one event is needed";
    for (size_t i = 0; i < events->row_count; i++) {
        const char *why = row_fault(events, &events->rows[i]);
        if (why)
            return why;
    }
    return NULL;
}

/* ---- Hooks: keeping the actor awake for them, and calling them. ---- */

static void events_hold(struct worker *worker, struct durable_actor *actor)
{
    struct event_log *log = actor->events;
    bool is_needed =
        log->hooks_sent || log->is_hooking || log->is_flushing || !list_is_empty(&log->ready);
    if (is_needed == wake_lock_is_raised(&log->wake_lock))
        return;
    if (is_needed) {
        log->wake_lock = (struct wake_lock){.what = "TR_ON_STORED, not called yet"};
        (void)!tr__sleep_raise(
            &actor->machine, &log->wake_lock, COUNTER_INTERNAL, worker->loop.now_ns);
    } else {
        tr__sleep_drop(&actor->machine, &log->wake_lock, worker->loop.now_ns);
        tr__durable_nudge(worker, actor);
    }
}

/* Whether the generation is ending, so that no further turn may begin. */
static bool is_over(const struct durable_actor *actor)
{
    return actor->machine.state >= SLEEP_FINALIZE && actor->machine.state != SLEEP_DESTROY_GRACE;
}

static void events_post_turn(struct worker *worker, struct durable_actor *actor)
{
    static const struct tr_durable_happened happened;
    struct event_log *log = actor->events;
    if (log->is_turn_posted || log->is_hooking || (!log->is_flushing && list_is_empty(&log->ready)))
        return;
    if (actor->machine.state == SLEEP_LOADING || is_over(actor) ||
        actor->durable.cell->life >= LIFE_STOPPING)
        return;
    log->is_turn_posted = true;
    if (tr__durable_tell(worker, actor->durable.cell, &tr_type_tr_durable_happened, &happened) ==
        TR_OK)
        return;
    log->is_turn_posted = false;
    tr__durable_break(worker, actor, TR_NO_MEMORY); /* after the restart, the hooks are called */
}

void tr__events_wake(struct worker *worker, struct durable_actor *actor)
{
    struct event_log *log = actor->events;
    /* In a grace, submit finished commits now. If an event is stored after the grace, its hook is
     * not called. */
    if (actor->is_aborted && log->hooks_waiting)
        log->is_flushing = true;
    events_hold(worker, actor);
    events_post_turn(worker, actor);
}

static void item_free(struct worker *worker, struct event_item *item)
{
    list_remove(&item->link);
    source_resize(&worker->source, item, 0);
}

static void ready_drop(struct worker *worker, struct durable_actor *actor)
{
    struct list *link;
    while ((link = list_first(&actor->events->ready)))
        item_free(worker, LIST_OWNER(link, struct event_item, link));
}

void tr__events_erased(struct worker *worker, struct durable_actor *actor)
{
    ready_drop(worker, actor);
    events_hold(worker, actor);
}

/* Calls the hook of an event. The event is on disk. */
static tr_next events_call_hook(struct tr_self *self, struct tr_self *verb,
                                struct durable_actor *actor, void *state, struct event_item *item)
{
    struct worker *worker = self->worker;
    const tr_event_row *row = item->hook;
    const tr_handler handler = {.type = row->type, .call = row->stored, .name = row->name};
    tr_wire_error error;
    size_t header = strlen(row->type->name) + 1 + 4;
    uint64_t hash;
    if (!tr__frame_begin(self, actor, row->name, false)) {
        item_free(worker, item);
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a turn");
    }
    self->frame->message_type = row->type;
    tr_status status = tr_unpack(
        row->type,
        tr__shape_front_read((tr_bytes){item->bytes + header, item->size - header}, &hash),
        &self->frame->message,
        &error);
    item_free(worker, item);
    tr_next next;
    if (status == TR_OK)
        next = tr__durable_user(self, verb, &handler, state, self->frame->message);
    else
        next = tr_fail(
            self, status, "an event for TR_ON_STORED cannot be read: %s", tr_status_text(status));
    next = tr__durable_changed(self, verb, actor, next);
    next = tr__frame_done(self, actor, next, false);
    tr__frame_end(self, actor);
    return next;
}

tr_next tr__events_turn(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    struct durable_actor *actor = durable_of(self);
    struct worker *worker = self->worker;
    struct event_log *log = actor->events;
    (void)message;
    if (!log)
        return TR_SAME;
    log->is_turn_posted = false;
    /* If the actor restarts, it calls its hooks after the restart. */
    if (actor->broken != TR_OK || actor->machine.state == SLEEP_LOADING || is_over(actor))
        return TR_SAME;
    tr_next next = TR_SAME;
    if (log->is_flushing) {
        tr_status status = tr__commit_end(worker, actor, true);
        if (status != TR_OK)
            tr__durable_break(worker, actor, status);
        log->is_flushing = false;
    }
    struct list *first = log->is_hooking ? NULL : list_pop_first(&log->ready);
    if (first) {
        log->is_hooking = true;
        next = events_call_hook(
            self, verb_turn, actor, state, LIST_OWNER(first, struct event_item, link));
        log->is_hooking = false;
    }
    if (next.code != TR_NEXT_FAILED && !self->is_cancelled)
        events_post_turn(worker, actor);
    events_hold(worker, actor);
    tr__durable_drive(worker, actor, false);
    return next;
}

/* ---- Notifications from commits. ---- */

void tr__events_submitted(struct worker *worker, struct durable_actor *actor)
{
    struct event_log *log = actor->events;
    log->hooks_sent += log->hooks_waiting;
    log->hooks_waiting = 0;
    events_hold(worker, actor);
}

void tr__events_dropped(struct worker *worker, struct durable_actor *actor, uint64_t kept)
{
    struct event_log *log = actor->events;
    struct list *link;
    log->at = NULL;
    while ((link = list_last(&log->items))) {
        struct event_item *item = LIST_OWNER(link, struct event_item, link);
        if (item->commit <= actor->commit_last || item->sequence <= kept)
            break;
        log->held -= sizeof *item + item->size;
        log->hooks_waiting -= item->hook != NULL;
        item_free(worker, item);
    }
}

void tr__events_stored(struct worker *worker, struct durable_actor *actor, uint64_t commit,
                       tr_status status)
{
    struct event_log *log = actor->events;
    struct list *link;
    log->at = NULL;
    while ((link = list_first(&log->items))) {
        struct event_item *item = LIST_OWNER(link, struct event_item, link);
        if (item->commit > commit)
            break;
        log->held -= sizeof *item + item->size;
        log->hooks_sent -= item->hook != NULL;
        if (status != TR_OK || !item->hook) {
            item_free(worker, item);
            continue;
        }
        list_remove(link);
        list_push_last(&log->ready, link);
    }
    events_post_turn(worker, actor);
    events_hold(worker, actor);
}

void tr__events_reset(struct worker *worker, struct durable_actor *actor)
{
    struct event_log *log = actor->events;
    struct list *link;
    tr__sleep_drop(&actor->machine, &log->wake_lock, worker->loop.now_ns);
    while ((link = list_first(&log->items)))
        item_free(worker, LIST_OWNER(link, struct event_item, link));
    tr__event_page_free(worker, &log->page);
    tr__state_block_free(worker, &log->block);
    tr_message_free(log->event.block_type, log->event.block);
    source_resize(&worker->source, log->base, 0);
    struct event_log fresh = {.policy = log->policy};
    tr__journal_init(&fresh.journal);
    /* The incarnation has ended, which has freed its tr_alloc memory. So forget all pointers to
     * that memory. */
    struct list ready = log->ready;
    bool has_ready = !list_is_empty(&log->ready);
    *log = fresh;
    list_init(&log->items);
    list_init(&log->ready);
    if (has_ready) {
        log->ready = ready;
        ready.next->previous = &log->ready;
        ready.previous->next = &log->ready;
    }
}

void tr__events_free(struct worker *worker, struct durable_actor *actor)
{
    ready_drop(worker, actor);
    source_resize(&worker->source, actor->events, 0);
    actor->events = NULL;
}

/* ---- Snapshots. ---- */

/* Looks for snapshots that can be deleted. They are older than the snapshots that this generation
 * has made or started from. */
static tr_status events_find_snapshots(struct worker *worker, struct durable_actor *actor)
{
    struct event_log *log = actor->events;
    const struct durable_kind *kind = actor->kind;
    struct store_snapshot found;
    while (!log->has_looked && log->journal.snapshot_count < log->policy.keep) {
        uint64_t before = log->journal.snapshot_count ? log->journal.snapshots[0] : UINT64_MAX;
        tr_status status = tr__store_read_snapshot(host_context(kind->host, worker)->reader,
                                                   kind->declared->name,
                                                   actor_key(actor),
                                                   before - 1,
                                                   &found);
        /* A damaged snapshot does not count as kept. So stop the search here and keep all older
         * snapshots, because one of them may be needed. */
        log->has_looked = status != TR_OK;
        if (status != TR_OK)
            return status == TR_NOT_FOUND || status == TR_STORE_CORRUPT ? TR_OK : status;
        if (tr__journal_saved(&log->journal, found.sequence) != TR_OK)
            return TR_STORE_CORRUPT;
    }
    log->has_looked = true;
    return TR_OK;
}

static tr_status events_put_snapshot(struct worker *worker, struct durable_actor *actor)
{
    struct event_log *log = actor->events;
    uint64_t sequence = log->journal.highest;
    tr_status status = events_find_snapshots(worker, actor);
    size_t size = status == TR_OK ? tr__durable_state_pack(worker, actor, &status) : 0;
    if (!size)
        return status;
    struct store_batch *batch = tr__commit_batch(actor);
    tr_bytes bytes;
    tr_bytes packed = {host_context(actor->kind->host, worker)->bytes, size};
    status = batch ? tr__durable_state_copy(actor, batch, packed, &bytes) : TR_NO_MEMORY;
    if (status == TR_OK)
        status = tr__store_snapshot_put(batch, sequence, actor->kind->version, bytes);
    if (status == TR_OK)
        status = tr__journal_saved(&log->journal, sequence);
    if (status != TR_OK)
        return status;
    /* One transaction stores the snapshot and removes old events and snapshots. So nothing is removed before the
     * snapshot is stored. */
    struct journal_trim trim = tr__journal_trim(&log->journal, &log->policy);
    if (trim.events)
        status = tr__store_event_trim(batch, trim.events);
    if (status == TR_OK && trim.snapshots)
        status = tr__store_snapshot_trim(batch, trim.snapshots);
    if (status == TR_OK)
        tr__journal_trimmed(&log->journal, &trim);
    return status;
}

static bool is_new_since_snapshot(const struct journal *journal)
{
    uint32_t count = journal->snapshot_count;
    return journal->highest > (count ? journal->snapshots[count - 1] : 0);
}

/* Stores the mark that a first start has not finished. For a kind with events the mark is in the
 * version of a state without bytes. For other kinds it is a part of the stored state. */
static tr_status events_put_mark(struct durable_actor *actor)
{
    struct store_batch *batch = tr__commit_batch(actor);
    if (!batch)
        return TR_NO_MEMORY;
    actor->is_half = actor->is_creating;
    uint32_t version = actor->kind->version | (actor->is_half ? STATE_HALF : 0);
    return tr__store_put_state(batch, version, (tr_bytes){"", 0});
}

tr_status tr__events_close(struct worker *worker, struct durable_actor *actor, bool may_snapshot)
{
    struct event_log *log = actor->events;
    if (actor->is_creating || actor->is_half) {
        tr_status status = events_put_mark(actor);
        if (status != TR_OK)
            return status;
    }
    if (!actor->batch) {
        /* There is nothing to store, but the store needs a row for the key. A batch that deletes
         * nothing makes this row. */
        struct store_batch *batch = tr__commit_batch(actor);
        return batch ? tr__store_event_trim(batch, 0) : TR_NO_MEMORY;
    }
    if (!may_snapshot || log->journal.highest < log->again ||
        !tr__journal_wants_snapshot(&log->journal, &log->policy))
        return TR_OK;
    tr_status status = events_put_snapshot(worker, actor);
    if (status == TR_OK)
        return TR_OK;
    /* Log this and continue. No data is lost without a new snapshot, because the events are
     * stored. */
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, actor->durable.cell, path);
    tr__log(worker->system,
            TR_LEVEL_WARN,
            path,
            "no snapshot was written after event %" PRIu64 ": %s",
            log->journal.highest,
            tr_status_text(status));
    log->again = log->journal.highest + log->policy.snapshot_every;
    return TR_OK;
}

/* ---- The verbs. ---- */

static struct durable_actor *events_need(tr_self *self, const char *verb)
{
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    struct durable_actor *actor = durable_of(self);
    if (!actor || !actor->kind->declared->options.events)
        tr_crash(self, TR_NOT_SUPPORTED, "%s: this actor has no events", verb);
    if (!self->frame)
        tr_crash(self, TR_NOT_IN_A_TURN, "%s: not allowed in a set-up or a signal", verb);
    if (self->is_cancelled)
        tr_crash(self, TR_CANCELLED, "%s: the turn was cancelled", verb);
    return actor;
}

static struct event_item *item_new(struct worker *worker, const struct durable_actor *actor,
                                   const tr_event_row *row, const void *event, tr_status *status)
{
    const struct worker_context *context = host_context(actor->kind->host, worker);
    const struct event_log *log = actor->events;
    tr_wire_error error;
    size_t size = tr_pack(row->type, event, context->bytes, context->size, &error);
    size_t name_size = strlen(row->type->name) + 1;
    size_t header = name_size + 4;
    uint64_t hash = tr__shape_of(actor->kind, row->type);
    size_t shape = hash ? SHAPE_FRONT : 0;
    *status = !size                                         ? error.status
              : size > TR_EVENT_MAX - header                ? TR_TOO_LARGE
              : log->held > TR_EVENTS_HELD_BYTES_MAX        ? TR_LIMIT
              : size > TR_EVENTS_HELD_BYTES_MAX - log->held ? TR_LIMIT
                                                            : TR_OK;
    if (*status != TR_OK)
        return NULL;
    struct event_item *item =
        source_resize(&worker->source, NULL, sizeof *item + header + shape + size);
    if (!item) {
        *status = TR_NO_MEMORY;
        return NULL;
    }
    *item =
        (struct event_item){.commit = actor->commit_last + 1,
                            .sequence = log->journal.highest + 1,
                            .hook = row_of(actor->kind->declared->options.events, row->type, true),
                            .size = header + shape + size};
    list_init(&item->link);
    memcpy(item->bytes, row->type->name, name_size);
    uint32_t version = row->version ? row->version : 1;
    for (int i = 0; i < 4; i++)
        item->bytes[name_size + (size_t)i] = (unsigned char)(version >> 8 * i);
    if (hash)
        tr__shape_front_write(item->bytes + header, hash);
    header += shape;
    if (size <= context->size)
        memcpy(item->bytes + header, context->bytes, size);
    else
        (void)tr_pack(row->type, event, item->bytes + header, size, &error);
    return item;
}

static tr_status event_persist(tr_self *self, struct durable_actor *actor, const tr_type *type,
                               const void *event, uint64_t *sequence)
{
    struct worker *worker = self->worker;
    struct event_log *log = actor->events;
    tr_status status;
    const tr_event_row *row = row_of(actor->kind->declared->options.events, type, false);
    if (!row)
        return TR_WRONG_TYPE;
    struct event_item *item = item_new(worker, actor, row, event, &status);
    if (!item)
        return status;
    struct store_batch *batch = tr__commit_batch(actor);
    status = TR_NO_MEMORY;
    if (batch)
        status = tr__store_event_append(
            batch, log->journal.highest, (tr_bytes){item->bytes, item->size});
    if (status == TR_OK)
        status = tr__journal_append(&log->journal, log->journal.highest, 1, sequence);
    if (status != TR_OK) {
        item_free(worker, item);
        return status;
    }
    list_push_last(&log->items, &item->link);
    log->held += sizeof *item + item->size;
    log->hooks_waiting += item->hook != NULL;
    if (actor->is_aborted && actor->outbox.is_open)
        tr__events_wake(worker, actor);
    row->apply(actor->durable.cell->state, event, (tr_memory *)self);
    return TR_OK;
}

tr_status tr_self_try_persist(tr_self *self, const tr_type *type, const void *event)
{
    TURN_VERB(self);
    uint64_t sequence;
    struct durable_actor *actor = self ? durable_of(self) : NULL;
    if (!self || !type || !event)
        return TR_INVALID_ARGUMENT;
    if (!actor || !actor->kind->declared->options.events)
        return TR_NOT_SUPPORTED;
    if (!self->frame)
        return TR_NOT_IN_A_TURN;
    if (self->is_cancelled)
        return TR_CANCELLED;
    return event_persist(self, actor, type, event, &sequence);
}

uint64_t tr_self_persist(tr_self *self, const tr_type *type, const void *event)
{
    TURN_VERB(self);
    uint64_t sequence = 0;
    struct durable_actor *actor = events_need(self, "tr_persist");
    tr_status status =
        type && event ? event_persist(self, actor, type, event, &sequence) : TR_INVALID_ARGUMENT;
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "tr_persist of %s: %s",
                 type ? type->name : "nothing",
                 tr_status_text(status));
    return sequence;
}

uint64_t tr_event_last(tr_self *self)
{
    TURN_VERB(self);
    return events_need(self, "tr_event_last")->events->journal.highest;
}

void tr_snapshot(tr_self *self)
{
    TURN_VERB(self);
    struct durable_actor *actor = events_need(self, "tr_snapshot");
    if (!is_new_since_snapshot(&actor->events->journal))
        return;
    tr_status status = events_put_snapshot(self->worker, actor);
    if (status != TR_OK)
        tr_crash(self, status, "tr_snapshot: %s", tr_status_text(status));
}
