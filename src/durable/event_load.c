/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recovers the state of an actor with events. It reads the newest snapshot that can be read, and
 * applies the events after it. durable/journal.h decides which snapshot and events these are.
 */
#include "durable/event_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "durable/event_page.h"
#include "durable/event_read.h"
#include "durable/events.h"
#include "durable/journal.h"
#include "durable/state.h"
#include "durable/host.h"
#include "durable/actor.h"
#include "actor/cell/worker.h"
#include "store/read.h"
#include "actor/cell/log.h"

struct loading {
    tr_self *self;
    struct durable_actor *actor;
    void *state;
    uint32_t version; /* version of the snapshot that is being read */
    bool is_damaged;  /* the checksum of the snapshot that was read last was wrong */
    bool is_newer;    /* a snapshot has a later version than the code */
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
        /* The snapshot is damaged. Recovery continues with an older snapshot, or with the events
         * alone. */
        status = TR_BAD_DATA;
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

static struct event_log *event_log_new(struct worker *worker, const struct durable_kind *kind)
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

/* Takes a state that was stored before the kind had events. The first event is applied to this
 * state. */
static tr_status events_load_base(struct loading *loading, const struct store_state *stored)
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

static tr_status events_recover(struct loading *loading, struct journal_result *result)
{
    struct worker *worker = loading->self->worker;
    struct event_log *log = loading->actor->events;
    const struct journal_source source = {loading, source_snapshot, source_events};
    const struct journal_target target = {loading, target_reset, target_snapshot, target_event};
    tr_status status = tr__journal_recover(&log->journal, &source, &target, UINT64_MAX, result);
    if (status == TR_OK && result->snapshot)
        status = tr__journal_saved(&log->journal, result->snapshot);
    /* If a snapshot was refused, events_find_snapshots must not look for older ones later. It would
     * count them as kept, although perhaps they cannot be read either, and then delete the
     * snapshots before them. */
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
        actor->events = event_log_new(self->worker, actor->kind);
    if (!actor->events)
        return tr_fail(self, TR_NO_MEMORY, "out of memory for the events");
    if (!stored)
        return TR_SAME;
    uint64_t highest = stored->sequence;
    tr_status status = tr__journal_open(&actor->events->journal, 1, highest);
    /* A stored state without bytes is only the mark that the first start of the key has begun. */
    bool has_base = stored->has_state && stored->bytes.size;
    if (has_base)
        /* Clear is_half, so that no mark replaces this state, which was stored before the kind had
         * events. */
        actor->is_half = false;
    if (status == TR_OK && has_base)
        status = events_load_base(&loading, stored);
    if (status != TR_OK)
        return tr_fail(
            self, status, "the state before the first event cannot be read: %s", loading.text);
    if (!highest)
        return TR_SAME;
    status = events_recover(&loading, &result);
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
