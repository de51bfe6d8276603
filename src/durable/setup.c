/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Begins a generation: enters the store, and loads state, alarms and queues. Also frees the memory
 * of a generation at its end.
 */
#include "durable/setup.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/extra.h"
#include "actor/turn/fault.h"
#include "durable/alarm.h"
#include "durable/changed.h"
#include "durable/commit.h"
#include "durable/connections.h"
#include "durable/event_load.h"
#include "durable/events.h"
#include "durable/overlay.h"
#include "durable/pressure.h"
#include "durable/queue.h"
#include "durable/rehearsal.h"
#include "durable/request.h"
#include "durable/running.h"
#include "durable/shapes.h"
#include "durable/sql.h"
#include "durable/state.h"
#include "durable/turn.h"
#include "durable/work.h"
#include "sleep/authority.h"
#include "sleep/sleep.h"
#include "store/store.h"
#include "wire/shape.h"
#include "mem/source.h"
#include "os/probe.h"
#include "durable/actor.h"
#include "durable/host.h"
#include "store/entry.h"
#include "store/read.h"
#include "actor/cell/cell.h"
#include "actor/cell/worker.h"

static struct durable_actor *actor_new(struct worker *worker, struct cell *cell,
                                       struct durable_kind *kind, tr_bytes key)
{
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return NULL;
    struct durable_actor *actor =
        source_resize(&worker->source, NULL, sizeof *actor + key.size + 1);
    if (!actor)
        return NULL;
    memset(actor, 0, sizeof *actor);
    actor->durable =
        (struct durable){.hooks = &tr__durable_hooks, .cell = cell, .refusal = TR_STOPPED};
    actor->kind = kind;
    list_init(&actor->leaving);
    list_init(&actor->awake);
    list_init(&actor->commits);
    list_init(&actor->overlays);
    list_init(&actor->alarms);
    tr__items_init(&actor->queues);
    list_init(&actor->takers);
    actor->alarm_ns = TR_NEVER;
    actor->due_ns = TR_NEVER;
    actor->save_ns = TR_NEVER;
    actor->look_ns = TR_NEVER;
    actor->end.resend_at = TR_NEVER;
    actor->authority.end.resend_at = TR_NEVER;
    actor->key_size = key.size;
    memcpy(actor->key, key.data, key.size);
    actor->key[key.size] = 0;
    extra->durable = &actor->durable;
    struct worker_context *context = host_context(kind->host, worker);
    list_push_last(&context->awake, &actor->awake);
    context->awake_count++;
    return actor;
}

void tr__durable_drop(struct worker *worker, struct durable_actor *actor)
{
    const struct memory_source *source = &worker->source;
    tr__wheel_cancel(&worker->timers.wake_timers, &actor->durable.wake_timer);
    tr__durable_unweigh(worker, actor);
    actor->due_ns = TR_NEVER;
    actor->save_ns = TR_NEVER;
    actor->look_ns = TR_NEVER;
    actor->end.resend_at = TR_NEVER;
    actor->authority.end.resend_at = TR_NEVER;
    tr__commit_drop(worker, actor, TR_RESTARTED);
    tr__overlays_drop(worker, actor, UINT64_MAX);
    tr__durable_sql_drop(actor);
    tr__alarms_drop(worker, actor);
    tr__queues_drop(worker, actor);
    tr__requests_drop(worker, actor);
    tr__connections_drop(worker, actor);
    actor->ttl = (struct durable_ttl){.due_ns = 0};
    if (actor->entry)
        tr__store_leave(actor->entry);
    actor->entry = NULL;
    tr__state_block_free(worker, &actor->block);
    if (actor->events)
        tr__events_reset(worker, actor);
    source_resize(source, actor->stored, 0);
    actor->stored = NULL;
    actor->stored_size = 0;
    actor->stored_capacity = 0;
    source_resize(source, actor->finished.state, 0);
    actor->finished = (struct finished){.state = NULL};
    tr__durable_show_drop(worker, actor);
    source_resize(source, actor->warning, 0);
    actor->warning = NULL;
    actor->broken = TR_OK;
    actor->is_dirty = false;
    actor->is_creating = false;
    actor->is_half = false;
    actor->is_doomed = false;
    actor->has_remains = false;
    actor->is_erased = false;
    actor->erased = TR_OK;
    actor->is_drive_posted = false;
    actor->is_aborted = false;
    actor->is_deadline_over = false;
    actor->is_stored_awaited = false;
    actor->barriers = 0;
    actor->hook = NULL;
}

/* ---- Loading the state. ---- */

/* Whether the stored state was packed by this version of the code. If it was, its bytes are kept,
 * because the end of each commit compares the state with them. Otherwise the state is packed again
 * after it was read, so that an actor that changes nothing stores nothing. If the state has the
 * mark STATE_HALF, its bytes are not kept, because the next commit stores the state without the
 * mark. */
static bool is_packed_by_us(const struct durable_actor *actor, const struct store_state *stored)
{
    uint64_t hash;
    (void)tr__shape_front_read(stored->bytes, &hash);
    return hash && hash == tr__shape_of(actor->kind, actor->kind->declared->state) &&
           stored->version == actor->kind->version;
}

static bool stored_keep(struct worker *worker, struct durable_actor *actor,
                        const struct store_state *stored)
{
    uint64_t hash;
    tr_bytes document = tr__shape_front_read(stored->bytes, &hash);
    actor->stored = source_resize(&worker->source, NULL, document.size);
    if (!actor->stored)
        return false;
    memcpy(actor->stored, document.data, document.size);
    actor->stored_size = document.size;
    actor->stored_capacity = document.size;
    return true;
}

/* Packs the state that was read, and keeps the result as the stored state. This is needed if the
 * stored bytes differ from those that this code packs. */
static tr_status stored_pack(struct worker *worker, struct durable_actor *actor)
{
    tr_status status = TR_OK;
    size_t size = tr__durable_state_pack(worker, actor, &status);
    if (!size)
        return status;
    return tr__durable_state_is_stored(worker, actor, size) ? TR_OK : TR_NO_MEMORY;
}

static tr_next load_state(tr_self *self, struct durable_actor *actor, void *state,
                          struct store_state *stored)
{
    const struct durable_kind *kind = actor->kind;
    tr_wire_error error;
    if (stored->sequence)
        return tr_fail(self,
                       TR_STALE,
                       "the store has %llu events of this actor, but its kind has no events",
                       (unsigned long long)stored->sequence);
    /* There is no state, or a state without bytes. The latter is only a mark from a time when the
     * kind had events. */
    if (!stored->has_state || !stored->bytes.size)
        return TR_SAME;
    if (stored->version > kind->version)
        return tr_fail(
            self,
            TR_STALE,
            "the stored state has version %u, which is newer than version %u of the code",
            stored->version,
            kind->version);
    bool is_ours = is_packed_by_us(actor, stored);
    /* Copy the bytes now. A migration may use the reader, and then the bytes are no longer
     * valid. */
    if (is_ours && !actor->is_half && !stored_keep(self->worker, actor, stored))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for the state");
    tr_status status = tr__durable_state_read(
        self, actor, stored->version, stored->bytes, state, &actor->block, &error);
    if (status == TR_OK && !is_ours && !actor->is_half) {
        status = stored_pack(self->worker, actor);
        snprintf(error.text, sizeof error.text, "%s", tr_status_text(status));
    }
    if (status != TR_OK)
        return tr_fail(self,
                       status,
                       "the state of %s, version %u: %s %s",
                       kind->declared->name,
                       stored->version,
                       error.path,
                       error.text);
    return TR_SAME;
}

/* Keeps the zeros of a new key as its stored state, so that nothing is stored for a key that does
 * not change. What the set-up writes into the state later counts as a change, and is stored,
 * because the set-up of the next generation may write something else. */
static tr_next load_zeros(tr_self *self, struct durable_actor *actor)
{
    if (actor->kind->created)
        /* The state is stored when tr_created has ended, even if it has not changed. */
        return TR_SAME;
    tr_status status = stored_pack(self->worker, actor);
    return status == TR_OK ? TR_SAME : tr_fail(self, status, "out of memory for the state");
}

static tr_next setup_load(tr_self *self, struct durable_actor *actor, void *state)
{
    const struct durable_kind *kind = actor->kind;
    struct store_state stored;
    tr_status status = tr__store_read_state(host_context(kind->host, self->worker)->reader,
                                            kind->declared->name,
                                            actor_key(actor),
                                            &stored);
    bool is_there = status == TR_OK;
    /* has_remains makes tr__durable_begin remove the rows of a destroyed generation before anything
     * else reads them. */
    actor->has_remains = is_there && stored.is_doomed;
    actor->is_half =
        is_there && !stored.is_doomed && stored.has_state && stored.version & STATE_HALF;
    actor->is_new =
        status == TR_NOT_FOUND || actor->has_remains || (actor->is_half && kind->created);
    actor->is_creating = actor->is_new && kind->created;
    if (is_there)
        stored.version &= ~STATE_HALF;
    if (status != TR_OK && !actor->is_new)
        return tr_fail(self, status, "the state cannot be read: %s", tr_status_text(status));
    if (kind->declared->options.events)
        return tr__events_load(self, actor, state, actor->is_new ? NULL : &stored);
    return actor->is_new ? load_zeros(self, actor) : load_state(self, actor, state, &stored);
}

/* ---- The set-up. ---- */

static tr_status setup_enter(struct durable_actor *actor)
{
    const struct durable_kind *kind = actor->kind;
    tr_status status = tr__store_enter(
        kind->host->store, kind->declared->name, actor_key(actor), NULL, NULL, &actor->entry);
    if (status != TR_OK)
        return status;
    struct store_generation at = tr__store_entry_generation(actor->entry);
    struct generation generation = {at.epoch, at.counter};
    tr__note_end_init(&actor->end, actor->durable.cell->identity, generation);
    tr__authority_init(&actor->authority, actor->durable.cell->identity);
    return tr__authority_begin(&actor->authority, generation);
}

static void machine_init(struct worker *worker, struct durable_actor *actor)
{
    const tr_durable_options *options = &actor->kind->declared->options;
    const struct sleep_options machine = {.idle_ns = options->idle_ns,
                                          .grace_ns = options->grace_ns,
                                          .no_sleep = options->never_sleeps,
                                          .has_on_sleep = actor->kind->sleeping,
                                          .has_on_destroy = actor->kind->destroying};
    tr__sleep_init(&actor->machine, &machine, worker->loop.now_ns);
    tr__work_init(actor);
}

tr_next tr__durable_setup(tr_self *self, void *state, const void *message)
{
    const struct tr_durable_identity *identity = message;
    struct durable_kind *kind = (struct durable_kind *)(uintptr_t)identity->kind;
    struct worker *worker = self->worker;
    struct durable_actor *actor = durable_of(self);
    if (actor)
        tr__durable_drop(worker, actor);
    else
        actor = actor_new(worker, self->cell, kind, identity->key);
    if (!actor)
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a durable actor");
    /* Reset the machine first. Otherwise an event of an earlier start might make the actor fall
     * asleep. */
    machine_init(worker, actor);
    actor->has_served = false;
    actor->start_ns = worker->loop.now_ns;
    tr_status status = setup_enter(actor);
    if (status != TR_OK)
        return tr_fail(
            self, status, "the actor cannot be added to the store: %s", tr_status_text(status));
    const tr_platform *platform = worker->system->platform;
    tr_time begin_ns = platform->mono_now(platform);
    tr_next next = setup_load(self, actor, state);
    if (kind->host->rehearsal)
        return tr__rehearsal_note(self, actor, next);
    atom64_fetch_add(&kind->wakes, 1, ATOM_RELAXED);
    spread_add(&kind->host->wake_times,
               SPREAD_FIRST_NS,
               (uint64_t)(platform->mono_now(platform) - begin_ns));
    PROBE2(wake, actor->durable.cell->identity, kind->declared->name);
    const tr_behavior *behavior = kind->declared->behavior;
    static const struct tr_none none;
    if (next.code == TR_NEXT_SAME && behavior->setup.call)
        next = tr__fault_call_inside(
            self, worker->stacks.host.current, behavior->setup.call, state, &none);
    if (next.code != TR_NEXT_SAME)
        return next;
    if (!tr__durable_show(worker, actor))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for the state");
    status = actor->is_new ? TR_OK : tr__alarms_load(self, actor);
    if (status == TR_OK && !actor->is_new)
        status = tr__queues_load(self, actor);
    if (status != TR_OK)
        return tr_fail(
            self, status, "the alarms or queues cannot be read: %s", tr_status_text(status));
    tr__durable_weigh(worker, actor);
    if (!kind->awake && !(kind->created && actor->is_new) && !actor->has_remains &&
        !connections_are_lost(actor) && !tr__running_has_past(actor)) {
        /* The generation needs no first turn, so its start is complete now. */
        tr__durable_started(worker, actor);
        return TR_SAME;
    }
    static const struct tr_durable_begins begins;
    status = tr__durable_tell(worker, self->cell, &tr_type_tr_durable_begins, &begins);
    if (status != TR_OK)
        return tr_fail(self, status, "out of memory for the first message");
    return TR_SAME;
}
