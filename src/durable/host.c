/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/host.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/slots.h"
#include "actor/life/pooled.h"
#include "actor/turn/blocking.h"
#include "base/assert.h"
#include "base/sized.h"
#include "calendar/zones.h"
#include "durable/actor.h"
#include "durable/clock.h"
#include "durable/kind.h"
#include "durable/message_shape.h"
#include "durable/pressure.h"
#include "durable/record.h"
#include "durable/retry_backoff.h"
#include "durable/running.h"
#include "durable/shapes.h"
#include "durable/waker.h"
#include "pool/pool.h"
#include "store/store.h"
#include "mem/source.h"
#include "store/read.h"
#include "base/list.h"
#include "actor/cell/names.h"
#include "actor/cell/worker.h"
#include "actor/cell/system.h"
#include "actor/cell/log.h"
#include "actor/cell/verb.h"
#include "store/core.h"
#include "actor/cell/cell.h"
#include "actor/cell/client.h"

static_assert(sizeof "/system/durable//" + TR_NAME_MAX + 3 * TR_KEY_MAX <= TR_PATH_MAX,
              "every key has a path");

/* The behavior of /system/durable/<kind>, which is the parent of all actors of a kind. It restarts actors that fail. */
TR_BEHAVIOR(tr_keeper, void, TR_SUPERVISE(TR_ONE_FOR_ONE), TR_OPTIONS(.is_pinned = true));

/* ---- Generations that end. ---- */

size_t tr__host_part(const struct durable_host *host, const struct durable_kind *kind, tr_bytes key)
{
    uint64_t hash = hash_bytes(host->system->names->key, key.data, key.size);
    return (hash ^ (uintptr_t)kind >> 6) % LEAVING_PARTS;
}

static struct list *part_of(struct durable_host *host, const struct durable_kind *kind,
                            tr_bytes key)
{
    return &host->leaving[tr__host_part(host, kind, key)];
}

/* Finds a generation of this key that is ending and has no successor yet. Call with the host's
 * lock. */
static struct durable_actor *find_leaving(struct durable_host *host,
                                          const struct durable_kind *kind, tr_bytes key)
{
    TR_ASSERT_SLOW(lock_is_held(&host->lock));
    LIST_EACH (link, part_of(host, kind, key)) {
        struct durable_actor *actor = LIST_OWNER(link, struct durable_actor, leaving);
        if (actor->kind == kind && actor->key_size == key.size &&
            memcmp(actor->key, key.data, key.size) == 0 && !actor->successor)
            return actor;
    }
    return NULL;
}

void tr__host_leave(struct durable_host *host, struct durable_actor *actor, bool is_destroying)
{
    struct cell *cell = actor->durable.cell;
    lock_take(&host->lock);
    if (!actor->is_leaving) {
        list_push_last(part_of(host, actor->kind, actor_key(actor)), &actor->leaving);
        atom32_fetch_add(&host->leaving_count, 1, ATOM_SEQ_CST);
    }
    actor->is_leaving = true;
    actor->is_destroying |= is_destroying;
    /* Remove the name under the lock. A thread that makes the next generation then finds either the
     * name, or the actor in the list. */
    if (cell->name && !tr__names_is_out(cell->name))
        tr__names_take_out(host->system->names, cell->name);
    lock_give(&host->lock);
}

struct cell *tr__host_left(struct durable_host *host, struct durable_actor *actor)
{
    lock_take(&host->lock);
    struct cell *successor = actor->successor;
    if (actor->is_leaving) {
        list_remove(&actor->leaving);
        atom32_fetch_sub(&host->leaving_count, 1, ATOM_RELAXED);
    }
    actor->is_leaving = false;
    actor->successor = NULL;
    lock_give(&host->lock);
    return successor;
}

/* ---- Waking. ---- */

struct arrival {
    struct durable_kind *kind;
    tr_bytes key;
};

/* Whether an earlier generation of the key is still ending. If so, `cell` begins when that
 * generation has ended. */
static bool host_is_succeeded(const struct arrival *arrival, struct cell *cell)
{
    struct durable_host *host = arrival->kind->host;
    if (!atom32_load(&host->leaving_count, ATOM_SEQ_CST))
        return false;
    lock_take(&host->lock);
    struct durable_actor *actor = find_leaving(host, arrival->kind, arrival->key);
    if (actor)
        actor->successor = cell;
    lock_give(&host->lock);
    return actor;
}

/* Whether a new generation must wait before it begins. Its name is already in the directory. */
static bool host_defer(void *context, struct cell *cell)
{
    const struct arrival *arrival = context;
    return host_is_succeeded(arrival, cell) || tr__backoff_defer(arrival->kind, arrival->key, cell);
}

static bool host_is_destroying(struct durable_host *host, const struct durable_kind *kind,
                               tr_bytes key)
{
    if (!atom32_load(&host->leaving_count, ATOM_SEQ_CST))
        return false;
    lock_take(&host->lock);
    const struct durable_actor *actor = find_leaving(host, kind, key);
    bool is_so = actor && actor->is_destroying;
    lock_give(&host->lock);
    return is_so;
}

static struct durable_kind *kind_of(struct durable_host *host, const tr_durable_kind *declared)
{
    for (size_t i = 0; host && i < host->kind_count; i++) {
        if (host->kinds[i].origin == declared)
            return &host->kinds[i];
    }
    return NULL;
}

/* A ref that no actor has. In a replay of a record (durable/record.h), this ref stands for all
 * actors except the one whose turn is run again. Messages to this ref do not arrive, and asks get
 * their answers from the record. */
#define REPLAY_NOBODY UINT64_C(0xfffffffe00000001)

static int worker_of(struct tr_system *system, const char *path)
{
    struct pool *pool = tr__pool_of(system, NULL);
    return pool ? tr__pool_place(system, pool, path) : TR_NO_MEMORY;
}

static tr_status host_wake(struct tr_system *system, const struct pooled_spawner *spawner,
                           const tr_durable_kind *declared, tr_bytes key, uint64_t *ref_bits)
{
    char path[TR_PATH_MAX + 1];
    struct durable_host *host = system->durable.host;
    struct durable_kind *kind = kind_of(host, declared);
    if (!kind)
        return TR_NOT_FOUND;
    const struct recorder *recorder = recorder_in(system);
    if (recorder && recorder->replay && spawner->worker) {
        *ref_bits = REPLAY_NOBODY; /* in a replay only the actor of the record runs */
        return TR_OK;
    }
    size_t length = tr__durable_path(kind, key, path);
    if (!length)
        return TR_INVALID_ARGUMENT;
    struct names_found found = tr__names_look(system->names, spawner->reader, path, length);
    if (found.ref && slots_find(system->slots, found.ref)) {
        *ref_bits = found.ref;
        return TR_OK;
    }
    /* Only workers may wake durable actors while the system stops, because actors that stop may need them. */
    if (!spawner->worker && atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST))
        return TR_STOPPING;
    if (tr__store_status(host->store) != TR_OK)
        return TR_STORE_FAILED;
    if (host_is_destroying(host, kind, key))
        return TR_DESTROYING;
    int worker = worker_of(system, path);
    if (worker < 0)
        return TR_NO_MEMORY;
    struct arrival arrival = {kind, key};
    const struct tr_durable_identity identity = {.kind = (uint64_t)(uintptr_t)kind, .key = key};
    const struct pooled_place place = {
        .parent = kind->keeper, .path = path, .defer = host_defer, .context = &arrival};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = &kind->behavior,
                                .worker = worker,
                                .setup_type = &tr_type_tr_durable_identity,
                                .setup = &identity};
    return tr__pooled_spawn_at(system, spawner, &place, &args, ref_bits);
}

tr_status tr_self_try_durable(tr_self *self, const tr_durable_kind *kind, tr_bytes key,
                              uint64_t *ref_bits)
{
    TURN_VERB(self);
    if (!self || !kind || !ref_bits)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    const struct pooled_spawner spawner = {
        .worker = self->worker, .reader = &self->worker->reader, .causal = self->causal};
    return host_wake(self->worker->system, &spawner, kind, key, ref_bits);
}

int tr__host_kind(const struct durable_host *host, const char *name)
{
    for (size_t i = 0; i < host->kind_count; i++) {
        if (strcmp(host->kinds[i].declared->name, name) == 0)
            return (int)i;
    }
    return -1;
}

bool tr__host_is_awake(tr_self *self, const struct durable_kind *kind, tr_bytes key)
{
    char path[TR_PATH_MAX + 1];
    struct tr_system *system = self->worker->system;
    size_t length = tr__durable_path(kind, key, path);
    if (!length)
        return false;
    struct names_found found = tr__names_look(system->names, &self->worker->reader, path, length);
    return found.ref && slots_find(system->slots, found.ref);
}

tr_status tr__host_wake(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                        uint64_t *ref_bits)
{
    const struct pooled_spawner spawner = {.worker = worker, .reader = &worker->reader};
    return host_wake(worker->system, &spawner, kind, key, ref_bits);
}

void tr__host_begin(struct worker *worker, const struct durable_kind *kind, tr_bytes key)
{
    uint64_t bits;
    const struct pooled_spawner spawner = {.worker = worker, .reader = &worker->reader};
    tr_status status = host_wake(worker->system, &spawner, kind->origin, key, &bits);
    if (status != TR_OK && status != TR_STOPPING && status != TR_STORE_FAILED)
        tr__log(worker->system,
                TR_LEVEL_ERROR,
                NULL,
                "%s \"%.*s\" cannot wake for its queues: %s; the next message to it wakes it",
                kind->declared->name,
                key.size > 100 ? 100 : (int)key.size,
                (const char *)key.data,
                tr_status_text(status));
}

tr_ref tr_self_durable(tr_self *self, const tr_durable_kind *kind, tr_bytes key)
{
    TURN_VERB(self);
    uint64_t bits = 0;
    TR_ASSERT(self); /* a failure ends the turn, so there must be a turn */
    tr_status status = tr_self_try_durable(self, kind, key, &bits);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "tr_durable: %s \"%.*s\": %s",
                 kind ? kind->name : "?",
                 key.size > 100 ? 100 : (int)key.size,
                 key.data ? (const char *)key.data : "",
                 status == TR_NOT_FOUND
                     ? "this kind is not in the .durable = TR_DURABLES(...) of this program"
                     : tr_status_text(status));
    return tr_ref_from_bits(bits);
}

tr_status tr_client_try_durable(tr_client *client, const tr_durable_kind *kind, tr_bytes key,
                                uint64_t *ref_bits)
{
    CLIENT_VERB(client);
    if (!client || !kind || !ref_bits)
        return TR_INVALID_ARGUMENT;
    const struct pooled_spawner spawner = {.reader = &client->reader,
                                           .causal = hash_mix(client->causal_next++)};
    return host_wake(client->system, &spawner, kind, key, ref_bits);
}

/* ---- Start and end of the host. ---- */

static void on_store_failed(void *context, const char *why)
{
    struct durable_host *host = context;
    tr__log(
        host->system, TR_LEVEL_ERROR, NULL, "the store has failed, so the system stops: %s", why);
    tr_system_shutdown(host->system, host->system->ending.timeout_default_ns);
}

static void on_store_work(void *context)
{
    struct durable_host *host = context;
    atom32_store(&host->has_work, 1, ATOM_RELAXED);
}

static bool host_has_work(struct tr_system *system)
{
    return atom32_load(&system->durable.host->has_work, ATOM_RELAXED);
}

static bool host_work(struct tr_system *system)
{
    struct durable_host *host = system->durable.host;
    bool has_worked = tr__store_work(host->store);
    /* tr__store_work has committed one group. The store does not call on_store_work for batches
     * that are left. */
    atom32_store(&host->has_work, tr__store_waiting(host->store) > 0, ATOM_RELAXED);
    return has_worked;
}

static tr_time writing_since(const struct tr_system *system)
{
    const struct store *store = system->durable.host->store;
    return store ? tr__store_writing_since(store) : 0;
}

static void host_stop(struct worker *worker)
{
    tr__backoffs_stop(worker, worker->system->durable.host);
}

static bool host_has_failed(struct tr_system *system)
{
    const struct store *store = system->durable.host->store;
    return store && tr__store_status(store) != TR_OK;
}

static void host_free(struct tr_system *system)
{
    struct durable_host *host = system->durable.host;
    const struct memory_source *source = &system->source;
    for (uint32_t i = 0; host->contexts && i < system->worker_count; i++) {
        tr__store_reader_free(host->contexts[i].reader);
        source_resize(source, host->contexts[i].bytes, 0);
        source_resize(source, host->contexts[i].spare, 0);
        tr__aside_deinit(&host->contexts[i].aside);
        tr__message_shapes_free(source, &host->contexts[i]);
    }
    tr__store_reader_free(host->clients_reader);
    tr__running_close(host);
    if (host->store)
        tr__store_close(host->store);
    tr__zones_deinit(&host->zones);
    tr__backoffs_free(host);
    for (size_t i = 0; i < host->kind_count; i++)
        tr__durable_kind_deinit(&host->kinds[i]);
    tr__shapes_free(host);
    source_resize(source, host->contexts, 0);
    source_resize(source, host->kinds, 0);
    source_resize(source, host, 0);
    system->durable.host = NULL;
}

static tr_status store_open(struct durable_host *host, const char *path)
{
    struct tr_system *system = host->system;
    bool is_played = system->blocking->is_played;
    char standard[sizeof system->name + sizeof ".data"];
    snprintf(standard, sizeof standard, "%s.data", system->name);
    if (!path && !is_played)
        path = standard;
    const struct store_options options = {.source = system->source,
                                          .path = path,
                                          .program = system->name,
                                          .is_threadless = is_played,
                                          .on_work = on_store_work,
                                          .on_failed = on_store_failed,
                                          .context = host};
    tr_error error = {.status = TR_OK};
    tr_status status = tr__store_open(&options, &host->store, &error);
    if (status != TR_OK)
        tr__log(system,
                TR_LEVEL_ERROR,
                NULL,
                "the store %s: %s: %s",
                path ? path : "in memory",
                tr_status_name(status),
                error.text);
    return status;
}

static tr_status keeper_make(struct durable_kind *kind)
{
    struct tr_system *system = kind->host->system;
    char path[TR_PATH_MAX + 1];
    uint64_t bits;
    snprintf(path, sizeof path, "/system/durable/%s", kind->declared->name);
    const struct pooled_spawner nobody = {0};
    const struct pooled_place place = {
        .parent = system->user.guardian, .path = path, .bits = CELL_POOLED | CELL_KEEPER};
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_tr_keeper, .worker = 0};
    tr_status status = tr__pooled_spawn_at(system, &nobody, &place, &args, &bits);
    if (status == TR_OK)
        kind->keeper = slots_find(system->slots, bits);
    return status;
}

/* Whether a kind with this name exists. The store knows a kind by its name only. So two kinds with
 * one name would share their actors. */
static bool has_kind(const struct durable_host *host, const char *name)
{
    for (size_t i = 0; name && i < host->kind_count; i++) {
        if (strcmp(host->kinds[i].declared->name, name) == 0)
            return true;
    }
    return false;
}

static void context_init(struct worker_context *context)
{
    list_init(&context->awake);
    tr__pressure_init(context);
}

static tr_status host_fill(struct durable_host *host, const tr_durables *durables,
                           const char *store)
{
    struct tr_system *system = host->system;
    const struct memory_source *source = &system->source;
    size_t count = 0;
    while (durables->kinds[count])
        count++;
    host->kinds = source_resize(source, NULL, (count ? count : 1) * sizeof host->kinds[0]);
    host->contexts = source_resize(source, NULL, system->worker_count * sizeof host->contexts[0]);
    if (host->contexts) /* host_free reads the contexts, even if another allocation has failed */
        memset(host->contexts, 0, system->worker_count * sizeof host->contexts[0]);
    if (!host->kinds || !host->contexts)
        return TR_NO_MEMORY;
    for (uint32_t i = 0; i < system->worker_count; i++)
        context_init(&host->contexts[i]);
    for (size_t i = 0; i < count; i++) {
        if (has_kind(host, durables->kinds[i]->name)) {
            tr__log(system,
                    TR_LEVEL_ERROR,
                    NULL,
                    "the durable kind %s is listed twice",
                    durables->kinds[i]->name);
            return TR_INVALID_ARGUMENT;
        }
        tr_status status = tr__durable_kind_init(&host->kinds[i], host, durables->kinds[i]);
        if (status != TR_OK)
            return status;
        host->kind_count++;
    }
    tr_status status = store_open(host, store);
    if (status == TR_OK)
        tr__running_open(host);
    for (uint32_t i = 0; i < system->worker_count && status == TR_OK; i++)
        status = tr__store_reader_new(host->store, &host->contexts[i].reader);
    if (status == TR_OK)
        status = tr__shapes_load(host);
    for (size_t i = 0; i < count && status == TR_OK; i++)
        status = keeper_make(&host->kinds[i]);
    if (status == TR_OK)
        status = tr__clock_start(host);
    return status == TR_OK ? tr__waker_start(host) : status;
}

tr_status tr_durable_start(tr_system *system, const tr_durables *given, const char *store)
{
    tr_durables durables;
    if (!given || !sized_read(&durables, sizeof durables, given, given->size) || !durables.kinds ||
        system->durable.host)
        return TR_INVALID_ARGUMENT;
    struct durable_host *host = source_resize(&system->source, NULL, sizeof *host);
    if (!host)
        return TR_NO_MEMORY;
    const tr_platform *platform = system->platform;
    *host = (struct durable_host){
        .system = system,
        .has_limits = system->durable.awake_max || system->durable.awake_bytes_max,
        .offset_first_ns = platform->wall_now(platform) - platform->mono_now(platform)};
    lock_init(&host->lock);
    lock_init(&host->clients_lock);
    tr__zones_init(&host->zones, system->platform, NULL);
    for (int i = 0; i < LEAVING_PARTS; i++) {
        list_init(&host->leaving[i]);
        list_init(&host->backoffs[i]);
    }
    system->durable.host = host;
    system->durable.free = host_free;
    system->durable.writing_since = writing_since;
    system->durable.stop = host_stop;
    if (host->has_limits)
        system->durable.admits = tr__pressure_admit;
    system->durable.work = host_work;
    system->durable.has_work = host_has_work;
    system->durable.has_failed = host_has_failed;
    return host_fill(host, &durables, store);
}
