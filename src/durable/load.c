/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a generation begins: its state is read, and brought to the version of the code.
 */
#include <stdio.h>
#include <string.h>

#include "actor/life/extra.h"
#include "durable/alarm.h"
#include "durable/events.h"
#include "durable/queue.h"
#include "durable/shapes.h"
#include "wire/shape.h"

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
    list_init(&actor->queued);
    list_init(&actor->takers);
    actor->alarm_ns = TR_NEVER;
    actor->due_ns = TR_NEVER;
    actor->save_ns = TR_NEVER;
    actor->look_ns = TR_NEVER;
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
    tr__commit_drop(worker, actor, TR_RESTARTED);
    tr__overlays_drop(worker, actor, UINT64_MAX);
    tr__durable_sql_drop(actor);
    tr__alarms_drop(worker, actor);
    tr__queues_drop(worker, actor);
    if (actor->entry)
        tr__store_leave(actor->entry);
    actor->entry = NULL;
    tr__state_block_free(worker, &actor->block);
    if (actor->events)
        tr__events_reset(worker, actor);
    source_resize(source, actor->stored, 0);
    actor->stored = NULL;
    actor->stored_size = 0;
    actor->stored_room = 0;
    source_resize(source, actor->finished.state, 0);
    actor->finished = (struct finished){.state = NULL};
    tr__durable_show_drop(worker, actor);
    source_resize(source, actor->warning, 0);
    actor->warning = NULL;
    actor->broken = TR_OK;
    actor->has_dirt = false;
    actor->is_creating = false;
    actor->is_half = false;
    actor->is_doomed = false;
    actor->has_remains = false;
    actor->is_erased = false;
    actor->erased = TR_OK;
    actor->is_told = false;
    actor->is_aborted = false;
    actor->is_deadline_over = false;
    actor->is_stored_awaited = false;
    actor->barriers = 0;
    actor->hook = NULL;
}

/* ---- The state. ---- */

void tr__state_block_free(struct worker *worker, struct state_block *block)
{
    tr_message_free(block->type, block->data);
    source_resize(&worker->source, (void *)(uintptr_t)block->tail.bytes.data, 0);
    *block = (struct state_block){.data = NULL};
}

static bool is_inside(const struct state_block *block, const void *memory)
{
    return block->data && (uintptr_t)memory - (uintptr_t)block->data < block->data_size;
}

bool tr__durable_has_loaded(const struct durable *durable, const void *memory)
{
    const struct durable_actor *actor = (const struct durable_actor *)(const void *)durable;
    return is_inside(&actor->block, memory) ||
           (actor->events && is_inside(&actor->events->block, memory));
}

/* The fields that the code does not know are in bytes that are gone soon. */
static tr_status tail_keep(struct worker *worker, struct state_block *block,
                           const struct tail *tail)
{
    void *bytes = source_resize(&worker->source, NULL, tail->bytes.size);
    if (!bytes)
        return TR_NO_MEMORY;
    memcpy(bytes, tail->bytes.data, tail->bytes.size);
    block->tail = (struct tail){.bytes = {bytes, tail->bytes.size}, .count = tail->count};
    return TR_OK;
}

/*
 * Reads the bytes into block->data, as block->type. Fields at the end that the type does not have are kept, unless they
 * are to be migrated, or are in messages inside: nothing could store those again.
 */
static tr_status block_read(tr_self *self, const struct durable_actor *actor, tr_bytes bytes,
                            bool is_migrated, struct state_block *block, tr_wire_error *error)
{
    struct tail tail;
    uint64_t hash;
    bool is_longer;
    tr_bytes document = tr__shape_front_read(bytes, &hash);
    tr_status status =
        tr__shape_check(actor->kind, block->type, hash, tr_path(self), &is_longer, error->text);
    if (status != TR_OK)
        return status;
    status = tr__unpack_tail(block->type, document, &block->data, &tail, error);
    if (status != TR_OK)
        return status;
    block->data_size = tail.message_size;
    bool is_known = hash != 0;
    if (is_known && (tail.is_nested || (is_migrated && tail.count))) {
        snprintf(error->text,
                 sizeof error->text,
                 is_migrated ? "the stored data has fields that its migration does not have"
                             : "nested messages have fields that the code does not have");
        tr__shape_log(actor->kind, block->type, hash, tr_path(self));
        return is_migrated ? TR_WRONG_SHAPE : TR_STALE;
    }
    if (is_migrated)
        return TR_OK;
    block->has_shape = is_longer || tail.count;
    block->shape = hash;
    return tail.count ? tail_keep(self->worker, block, &tail) : TR_OK;
}

/* What a migration has made becomes what comes after it expects. */
static tr_status block_convert(tr_self *self, const struct durable_actor *actor,
                               const tr_type *made_type, const void **made, const tr_type *wanted,
                               struct state_block *block, tr_wire_error *error)
{
    void *converted;
    size_t size;
    if (tr_type_is_equal(made_type, wanted))
        return TR_OK;
    tr_status status = tr__shape_convert(
        self->worker, actor->kind->host, made_type, *made, wanted, &converted, &size, error);
    if (status != TR_OK)
        return status;
    tr_message_free(block->type, block->data); /* all that it points to was copied */
    block->type = wanted;
    block->data = converted;
    block->data_size = size;
    *made = converted;
    return TR_OK;
}

/*
 * From the bytes of a version to the state of this one. What a migration makes is the application's
 * memory; the block of what was read last is the actor's, for as long as its generation.
 */
tr_status tr__durable_state_read(tr_self *self, const struct durable_actor *actor,
                                 uint32_t stored_version, tr_bytes bytes, void *state,
                                 struct state_block *block, tr_wire_error *error)
{
    const struct durable_kind *kind = actor->kind;
    const tr_migration *const *migrations = kind->declared->options.migrations;
    *error = (tr_wire_error){.status = TR_OK};
    uint32_t version = tr__migration_readable(migrations, stored_version, kind->version);
    const tr_migration *step = tr__migration_from(migrations, version);
    block->type = step ? step->from_type : kind->declared->state;
    block->size = bytes.size;
    tr_status status = block_read(self, actor, bytes, step != NULL, block, error);
    const void *from = block->data;
    while (step && status == TR_OK) {
        void *to = tr_alloc(self, step->to_type->size);
        status = step->call(self, from, to);
        if (status != TR_OK) {
            snprintf(error->text,
                     sizeof error->text,
                     "the migration from version %u failed",
                     step->from);
            return status;
        }
        from = to;
        const tr_type *made_type = step->to_type;
        version = tr__migration_readable(migrations, version + 1, kind->version);
        step = tr__migration_from(migrations, version);
        const tr_type *wanted = step ? step->from_type : kind->declared->state;
        status = block_convert(self, actor, made_type, &from, wanted, block, error);
    }
    if (status == TR_OK)
        memcpy(state, from, kind->declared->state->size);
    return status;
}

/*
 * What is stored now, to be compared with: if it was packed by this code, as it is; else what this code makes of it, so
 * that an actor which changes nothing stores nothing. Only one with the mark of a program that had a handler for
 * tr_created counts as another: the next that is stored takes that away.
 */
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
    actor->stored_room = document.size;
    return true;
}

/* As above, for a state that this code would pack in another way. */
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
    if (!stored->has_state || !stored->bytes.size) /* the mark of a kind that had events */
        return TR_SAME;
    if (stored->version > kind->version)
        return tr_fail(
            self,
            TR_STALE,
            "the stored state has version %u, which is newer than version %u of the code",
            stored->version,
            kind->version);
    bool is_ours = is_packed_by_us(actor, stored);
    /* The bytes are borrowed until the reader is used again, which a migration may do. */
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

static tr_next load(tr_self *self, struct durable_actor *actor, void *state)
{
    const struct durable_kind *kind = actor->kind;
    struct store_state stored;
    tr_status status = tr__store_read_state(host_context(kind->host, self->worker)->reader,
                                            kind->declared->name,
                                            actor_key(actor),
                                            &stored);
    bool is_there = status == TR_OK;
    /* A destroyed one: what is left of it is removed in tr__durable_begin, before anybody looks. */
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
    return actor->is_new ? TR_SAME : load_state(self, actor, state, &stored);
}

/* ---- The set-up. ---- */

static tr_status enter(struct worker *worker, struct durable_actor *actor)
{
    const struct durable_kind *kind = actor->kind;
    tr_status status = tr__store_enter(
        kind->host->store, kind->declared->name, actor_key(actor), NULL, NULL, &actor->entry);
    if (status != TR_OK)
        return status;
    struct store_generation at = tr__store_entry_generation(actor->entry);
    struct generation generation = {at.epoch, at.counter};
    tr_time now_ns = worker->loop.now_ns;
    struct authority_answer answer;
    tr__note_end_init(&actor->end, actor->durable.cell->identity, generation);
    tr__authority_init(&actor->authority, actor->durable.cell->identity);
    return tr__authority_begin(&actor->authority, generation, now_ns, &answer);
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
    const struct tr_durable_seat *claim = message;
    struct durable_kind *kind = (struct durable_kind *)(uintptr_t)claim->kind;
    struct worker *worker = self->worker;
    struct durable_actor *actor = durable_of(self);
    if (actor)
        tr__durable_drop(worker, actor);
    else
        actor = actor_new(worker, self->cell, kind, claim->key);
    if (!actor)
        return tr_fail(self, TR_NO_MEMORY, "out of memory for a durable actor");
    /* First: who begins anew is not to be asked to sleep by what is left of its last start. */
    machine_init(worker, actor);
    actor->has_served = false;
    actor->run_queue_count = 0;
    actor->takes_any = false;
    actor->has_run = false;
    actor->has_queue_moved = false;
    actor->start_ns = worker->loop.now_ns;
    tr_status status = enter(worker, actor);
    if (status != TR_OK)
        return tr_fail(
            self, status, "the actor cannot be added to the store: %s", tr_status_text(status));
    tr_next next = load(self, actor, state);
    const tr_behavior *behavior = kind->declared->behavior;
    static const struct tr_none none;
    if (next.code == TR_NEXT_SAME && behavior->setup.call)
        next = behavior->setup.call(self, state, &none);
    if (next.code != TR_NEXT_SAME)
        return next;
    if (!tr__durable_show(worker, actor))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for the state");
    status = actor->is_new ? TR_OK : tr__alarms_load(self, actor);
    if (status == TR_OK && !actor->is_new)
        status = tr__queues_load(worker, actor);
    if (status != TR_OK)
        return tr_fail(
            self, status, "the alarms or queues cannot be read: %s", tr_status_text(status));
    tr__durable_weigh(worker, actor);
    if (!kind->awake && !(kind->created && actor->is_new) && !actor->has_remains) {
        /* There is nothing to wait for. */
        tr__durable_started(worker, actor);
        return TR_SAME;
    }
    static const struct tr_durable_begins begins;
    status = tr__durable_tell(worker, self->cell, &tr_type_tr_durable_begins, &begins);
    if (status != TR_OK)
        return tr_fail(self, status, "out of memory for the first message");
    return TR_SAME;
}
