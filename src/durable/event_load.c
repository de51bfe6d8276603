/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the state of an actor with events comes back: the newest snapshot that can be read, and the events after
 * it. Which they are is decided by durable/journal.h; this reads and applies them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "durable/events.h"
#include "durable/shapes.h"
#include "wire/shape.h"

enum { MADE_FRONT = 16 }; /* before what a migration makes; keeps its alignment */

/* ---- One event. ---- */

static const tr_event_row *row_named(const tr_events *events, const char *name)
{
    for (size_t i = 0; i < events->row_count; i++) {
        if (events->rows[i].apply && strcmp(events->rows[i].type->name, name) == 0)
            return &events->rows[i];
    }
    return NULL;
}

static uint32_t version_of(const tr_event_row *row)
{
    return row->version ? row->version : 1;
}

void tr__event_read_free(tr_self *self, struct event_read *read)
{
    tr_message_free(read->block_type, read->block);
    while (read->made) {
        void *made = read->made;
        memcpy(&read->made, made, sizeof read->made);
        tr_free(self, made);
    }
    *read = (struct event_read){.block = NULL};
}

/* What a migration has made becomes what comes after it expects. */
static tr_status event_convert(tr_self *self, const struct durable_actor *actor,
                               const tr_type *made_type, const tr_type *wanted,
                               struct event_read *read, const void **data)
{
    void *converted;
    size_t size;
    tr_wire_error error = {.status = TR_OK};
    if (tr_type_is_equal(made_type, wanted))
        return TR_OK;
    tr_status status = tr__shape_convert(
        self->worker, actor->kind->host, made_type, *data, wanted, &converted, &size, &error);
    if (status != TR_OK)
        return status;
    tr__event_read_free(self, read); /* all that it points to was copied */
    read->block = converted;
    read->block_type = wanted;
    *data = converted;
    return TR_OK;
}

static tr_status migrate(tr_self *self, const struct durable_actor *actor, const tr_event_row *row,
                         uint32_t version, struct event_read *read, const void **data, char *text)
{
    const tr_migration *step = tr__migration_from(row->migrations, version);
    while (step) {
        char *made = tr_alloc(self, MADE_FRONT + step->to_type->size);
        memcpy(made, &read->made, sizeof read->made);
        read->made = made;
        tr_status status = step->call(self, *data, made + MADE_FRONT);
        const tr_type *made_type = step->to_type;
        uint32_t from = step->from;
        *data = made + MADE_FRONT;
        version = tr__migration_readable(row->migrations, version + 1, version_of(row));
        step = tr__migration_from(row->migrations, version);
        if (status == TR_OK)
            status = event_convert(
                self, actor, made_type, step ? step->from_type : row->type, read, data);
        if (status != TR_OK) {
            snprintf(text,
                     EVENT_TEXT_SIZE,
                     "%s: the migration from version %u failed: %s",
                     row->type->name,
                     from,
                     tr_status_text(status));
            return status;
        }
    }
    return TR_OK;
}

/* Reads the document of an event as the type that its migrations, or the code, begin with. */
static tr_status event_unpack(tr_self *self, const struct durable_actor *actor, const char *name,
                              tr_bytes bytes, bool is_migrated, struct event_read *read, char *text)
{
    uint64_t hash;
    bool is_longer;
    struct tail tail;
    tr_wire_error error = {.status = TR_OK};
    tr_bytes document = tr__shape_front_read(bytes, &hash);
    tr_status status =
        tr__shape_check(actor->kind, read->block_type, hash, tr_path(self), &is_longer, error.text);
    if (status == TR_OK)
        status = tr__unpack_tail(read->block_type, document, &read->block, &tail, &error);
    /* It stays as it is on disk, so that fields which are not known to the code are not lost by that. */
    if (status == TR_OK && hash && is_migrated && (tail.count || tail.is_nested)) {
        snprintf(error.text,
                 sizeof error.text,
                 "the stored data has fields that its migration does not have");
        tr__shape_log(actor->kind, read->block_type, hash, tr_path(self));
        status = TR_WRONG_SHAPE;
    }
    if (status != TR_OK)
        snprintf(text, EVENT_TEXT_SIZE, "%.64s: %.50s %.130s", name, error.path, error.text);
    return status;
}

tr_status tr__event_read(tr_self *self, const struct durable_actor *actor, tr_bytes bytes,
                         struct event_read *read, const tr_event_row **row, const void **data,
                         char *text)
{
    const char *name = bytes.data;
    const unsigned char *front = bytes.data;
    size_t name_size = strnlen(name, bytes.size) + 1;
    if (name_size + 4 > bytes.size) {
        snprintf(text, EVENT_TEXT_SIZE, "not an event");
        return TR_BAD_DATA;
    }
    front += name_size;
    uint32_t version =
        front[0] | (uint32_t)front[1] << 8 | (uint32_t)front[2] << 16 | (uint32_t)front[3] << 24;
    const tr_event_row *found = row_named(actor->kind->declared->options.events, name);
    if (!found) {
        snprintf(text, EVENT_TEXT_SIZE, "%.128s: the kind has no such event", name);
        return TR_WRONG_TYPE;
    }
    if (version > version_of(found)) {
        snprintf(text,
                 EVENT_TEXT_SIZE,
                 "%.128s: version %u is newer than version %u of the code",
                 name,
                 version,
                 version_of(found));
        return TR_STALE;
    }
    version = tr__migration_readable(found->migrations, version, version_of(found));
    const tr_migration *step = tr__migration_from(found->migrations, version);
    read->block_type = step ? step->from_type : found->type;
    tr_bytes rest = {front + 4, bytes.size - name_size - 4};
    tr_status status = event_unpack(self, actor, name, rest, step != NULL, read, text);
    if (status != TR_OK)
        return status;
    *row = found;
    *data = read->block;
    return migrate(self, actor, found, version, read, data, text);
}

/* ---- All of them. ---- */

struct loading {
    tr_self *self;
    struct durable_actor *actor;
    void *state;
    uint32_t version; /* of the snapshot that is read */
    bool is_damaged;  /* it cannot be trusted */
    bool is_newer;    /* than the code */
    char text[EVENT_TEXT_SIZE];
};

static tr_status source_snapshot(void *context, uint64_t most, journal_sink on_snapshot, void *sink)
{
    struct loading *loading = context;
    const struct durable_kind *kind = loading->actor->kind;
    struct store_snapshot snapshot;
    tr_status status =
        tr__store_read_snapshot(host_context(kind->host, loading->self->worker)->reader,
                                kind->declared->name,
                                actor_key(loading->actor),
                                most,
                                &snapshot);
    loading->is_damaged = status == TR_STORE_CORRUPT;
    if (loading->is_damaged)
        return snapshot.sequence ? on_snapshot(sink, snapshot.sequence, NULL, 0) : TR_NOT_FOUND;
    if (status != TR_OK)
        return status;
    loading->version = snapshot.version;
    return on_snapshot(sink, snapshot.sequence, snapshot.bytes.data, snapshot.bytes.size);
}

static tr_status source_events(void *context, uint64_t from, uint64_t to, journal_sink on_event,
                               void *sink)
{
    struct loading *loading = context;
    struct event_log *log = loading->actor->events;
    while (from <= to) {
        uint64_t sequence;
        tr_bytes bytes;
        tr_status status =
            tr__event_page_fill(loading->self->worker, loading->actor, &log->page, from, to);
        if (status != TR_OK || !log->page.next)
            return status;
        while (tr__event_page_take(&log->page, &sequence, &bytes)) {
            status = on_event(sink, sequence, bytes.data, bytes.size);
            if (status != TR_OK)
                return status;
            from = sequence + 1;
        }
    }
    return TR_OK;
}

static void target_reset(void *context)
{
    struct loading *loading = context;
    struct event_log *log = loading->actor->events;
    size_t size = loading->actor->kind->declared->state->size;
    tr__state_block_free(loading->self->worker, &log->block);
    if (log->base)
        memcpy(loading->state, log->base, size);
    else if (size)
        memset(loading->state, 0, size);
}

static tr_status target_snapshot(void *context, uint64_t sequence, const void *bytes, size_t size)
{
    struct loading *loading = context;
    tr_self *self = loading->self;
    const struct durable_kind *kind = loading->actor->kind;
    tr_wire_error error = {.status = TR_OK};
    tr_status status = TR_BAD_DATA;
    if (loading->is_damaged)
        snprintf(error.text, sizeof error.text, "the checksum does not match");
    else if (loading->version > kind->version)
        status = TR_STALE;
    else
        status = tr__durable_state_read(self,
                                        loading->actor,
                                        loading->version,
                                        (tr_bytes){bytes, size},
                                        loading->state,
                                        &loading->actor->events->block,
                                        &error);
    if (status == TR_STALE) {
        loading->is_newer = true;
        if (error.text[0])
            snprintf(loading->text, sizeof loading->text, "%s", error.text);
        else
            snprintf(loading->text,
                     sizeof loading->text,
                     "version %u is stored, the code has version %u",
                     loading->version,
                     kind->version);
    }
    if (status == TR_WRONG_SHAPE || status == TR_STORE_CORRUPT)
        status = TR_BAD_DATA; /* the events are there */
    if (status != TR_BAD_DATA)
        return status;
    tr__log(self->worker->system,
            TR_LEVEL_WARN,
            tr_path(self),
            "the snapshot after event %" PRIu64
            " cannot be used: %s %s; the actor starts from its events",
            sequence,
            error.path,
            error.text);
    return status;
}

static tr_status target_event(void *context, uint64_t sequence, const void *bytes, size_t size)
{
    struct loading *loading = context;
    struct event_log *log = loading->actor->events;
    tr_self *self = loading->self;
    const tr_event_row *row;
    const void *data;
    (void)sequence;
    tr_status status = tr__event_read(
        self, loading->actor, (tr_bytes){bytes, size}, &log->event, &row, &data, loading->text);
    if (status == TR_OK)
        row->apply(loading->state, data, (tr_memory *)self);
    tr__event_read_free(self, &log->event);
    return status;
}

static struct event_log *log_new(struct worker *worker, const struct durable_kind *kind)
{
    const tr_snapshots *snapshots = &kind->declared->options.events->snapshots;
    struct event_log *log = source_resize(&worker->source, NULL, sizeof *log);
    if (!log)
        return NULL;
    uint32_t every = snapshots->every ? snapshots->every : TR_SNAPSHOT_EVERY;
    *log = (struct event_log){
        .policy = {.snapshot_every = every == TR_NO_SNAPSHOTS ? 0 : every,
                   .keep = snapshots->kept ? snapshots->kept : 2,
                   .keeps_events = !snapshots->drops_events},
    };
    tr__journal_init(&log->journal);
    list_init(&log->items);
    list_init(&log->ready);
    return log;
}

/* The state that was stored before the kind had events is what they begin with. */
static tr_status load_base(struct loading *loading, const struct store_state *stored)
{
    struct durable_actor *actor = loading->actor;
    struct event_log *log = actor->events;
    size_t size = actor->kind->declared->state->size;
    tr_wire_error error;
    if (stored->version > actor->kind->version) {
        loading->version = stored->version;
        loading->is_newer = true;
        return TR_STALE;
    }
    tr_status status = tr__durable_state_read(loading->self,
                                              actor,
                                              stored->version,
                                              stored->bytes,
                                              loading->state,
                                              &actor->block,
                                              &error);
    if (status != TR_OK) {
        snprintf(loading->text, sizeof loading->text, "%.64s %.150s", error.path, error.text);
        return status;
    }
    log->base = source_resize(&loading->self->worker->source, NULL, size);
    if (!log->base)
        return TR_NO_MEMORY;
    memcpy(log->base, loading->state, size);
    return TR_OK;
}

static tr_status recover(struct loading *loading, struct journal_result *result)
{
    struct worker *worker = loading->self->worker;
    struct event_log *log = loading->actor->events;
    const struct journal_source source = {loading, source_snapshot, source_events};
    const struct journal_target target = {loading, target_reset, target_snapshot, target_event};
    tr_status status = tr__journal_recover(&log->journal, &source, &target, UINT64_MAX, result);
    if (status == TR_OK && result->snapshot)
        status = tr__journal_saved(&log->journal, result->snapshot);
    /* Those that are of no use are not to be counted among those that are kept. */
    log->has_looked = result->damaged > 0 || loading->is_damaged;
    source_resize(&worker->source, log->base, 0);
    log->base = NULL;
    tr__event_page_free(worker, &log->page);
    return status;
}

tr_next tr__events_load(tr_self *self, struct durable_actor *actor, void *state,
                        const struct store_state *stored)
{
    struct loading loading = {.self = self, .actor = actor, .state = state};
    struct journal_result result = {.snapshot = 0};
    if (!actor->events)
        actor->events = log_new(self->worker, actor->kind);
    if (!actor->events)
        return tr_fail(self, TR_NO_MEMORY, "out of memory for the events");
    if (!stored)
        return TR_SAME;
    uint64_t highest = stored->sequence;
    tr_status status = tr__journal_open(&actor->events->journal, 1, highest);
    /* One without bytes is the mark of a first start, and no state. */
    bool has_base = stored->has_state && stored->bytes.size;
    if (has_base)
        actor->is_half = false; /* of a kind that had no events: it stays as it is */
    if (status == TR_OK && has_base)
        status = load_base(&loading, stored);
    if (status != TR_OK)
        return tr_fail(
            self, status, "the state before the first event cannot be read: %s", loading.text);
    if (!highest)
        return TR_SAME;
    status = recover(&loading, &result);
    if (status == TR_OK)
        return TR_SAME;
    if (loading.is_newer || !result.sequence)
        return tr_fail(self,
                       status,
                       "the snapshot cannot be read: %s",
                       loading.text[0] ? loading.text : tr_status_text(status));
    return tr_fail(self,
                   status,
                   "event %" PRIu64 " of %" PRIu64 " cannot be applied: %s",
                   result.sequence,
                   highest,
                   loading.text[0]         ? loading.text
                   : status == TR_BAD_DATA ? "the event is missing"
                                           : tr_status_text(status));
}
