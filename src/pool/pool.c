/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/pool.h"

#include <string.h>
#include <troupe/durable.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/names.h"
#include "base/sized.h"
#include "actor/system/system.h"
#include "actor/system/start_barrier.h"

static void pool_free(struct tr_system *system)
{
    struct pool *pool = atomptr_load(&system->pool.state, ATOM_ACQUIRE);
    tr__place_ring_deinit(&pool->ring);
    source_resize(&system->source, pool, 0);
}

static size_t table_count(const tr_child_spec *table)
{
    size_t count = 0;
    while (table && table[count].behavior)
        count++;
    return count;
}

static uint64_t name_hash(const struct tr_system *system, const char *name)
{
    return hash_bytes(system->names->key, name, strlen(name));
}

/*
 * Returns whether an actor of the table holds this name. Looks at each line of the table, because
 * tables are short.
 */
static bool pool_holds(struct tr_system *system, const char *name)
{
    const struct pool *pool =
        atomptr_load(&system->pool.state, ATOM_ACQUIRE); /* pairs with tr__pool_of */
    if (!pool->count)
        return false;
    uint64_t hash = name_hash(system, name);
    for (size_t i = 0; i < pool->count; i++) {
        const struct pooled_spec *line = &pool->table[i];
        if (line->hash == hash && strcmp(line->spec.name, name) == 0)
            return atom32_load(&line->holds, ATOM_ACQUIRE) > 0; /* pairs with tr__pooled_let_go */
    }
    return false;
}

static struct pool *pool_make(struct tr_system *system, const tr_child_spec *table)
{
    const tr_supervision *how = system->pool.has_supervision ? &system->pool.supervision : NULL;
    size_t count = table_count(table);
    struct pool *pool =
        source_resize(&system->source, NULL, sizeof *pool + count * sizeof pool->table[0]);
    if (!pool)
        return NULL;
    pool->any = (struct pooled_spec){.spec = {.supervision = how}};
    pool->count = count;
    for (size_t i = 0; i < count; i++) {
        struct pooled_spec *line = &pool->table[i];
        *line = (struct pooled_spec){.spec = table[i]};
        if (table[i].name)
            line->hash = name_hash(system, table[i].name);
        if (!table[i].supervision)
            line->spec.supervision = how;
    }
    if (tr__place_ring_init(
            &pool->ring, &system->source, RING_OF_WORKERS, system_open_workers(system)) == TR_OK)
        return pool;
    source_resize(&system->source, pool, 0);
    return NULL;
}

/*
 * Gives the ring as many places as there are open workers. Reads the number of open workers under
 * the lock, so that no thread sets an outdated number.
 */
static tr_status specs_follow(struct tr_system *system, struct pool *pool)
{
    lock_take(&system->pool.lock);
    tr_status status = tr__place_ring_resize(&pool->ring, system_open_workers(system));
    lock_give(&system->pool.lock);
    return status;
}

/*
 * Gives the ring as many places as there are open workers. Called when their number has changed. If
 * there is no memory, the ring stays as it is, and the next spawn tries again.
 */
static void pool_follow(struct tr_system *system)
{
    struct pool *pool =
        atomptr_load(&system->pool.state, ATOM_ACQUIRE); /* pairs with tr__pool_of */
    if (pool)
        (void)!specs_follow(system, pool);
}

int tr__pool_place(struct tr_system *system, struct pool *pool, const char *name)
{
    bool is_old = atom32_load(&pool->ring.count, ATOM_RELAXED) != system_open_workers(system);
    tr_status status = is_old ? specs_follow(system, pool) : TR_OK;
    return status == TR_OK ? (int)place_ring_find(&pool->ring, name) : status;
}

struct pool *tr__pool_of(struct tr_system *system, const tr_child_spec *table)
{
    struct pool *pool =
        atomptr_load(&system->pool.state, ATOM_ACQUIRE); /* pairs with the store below */
    if (pool)
        return pool;
    lock_take(&system->pool.lock);
    pool = atomptr_load(&system->pool.state, ATOM_RELAXED);
    struct pool *made = pool ? NULL : pool_make(system, table);
    if (made) {
        system->pool.free = pool_free;
        system->pool.follow = pool_follow;
        system->pool.holds = pool_holds;
        atomptr_store(&system->pool.state, made, ATOM_RELEASE); /* pairs with the load above */
    }
    lock_give(&system->pool.lock);
    return pool ? pool : made;
}

/*
 * Returns whether an actor with this name exists. Without this check, a table could have the same
 * name twice, and the second line would be ignored without an error.
 */
static bool is_there(struct tr_system *system, const char *name)
{
    return tr__pooled_find(system, NULL, NULL, name) != 0;
}

tr_status tr__pool_start(struct tr_system *system, const tr_child_spec *table)
{
    const struct pooled_spawner nobody = {0};
    struct pool *pool = tr__pool_of(system, table);
    if (!pool)
        return TR_NO_MEMORY;
    for (size_t i = 0; i < table_count(table); i++) {
        const tr_child_spec *spec = &pool->table[i].spec;
        const char *why;
        if (!spec->name)
            return TR_NAME_INVALID;
        if (is_there(system, spec->name))
            return TR_NAME_EXISTS;
        if (spec->supervision && !tr__supervision_is_valid(spec->supervision, &why))
            return TR_INVALID_ARGUMENT;
        int worker = tr__pool_place(system, pool, spec->name);
        if (worker < 0)
            return (tr_status)worker;
        const tr_spawn_args args = {.size = sizeof args,
                                    .behavior = spec->behavior,
                                    .name = spec->name,
                                    .worker = worker,
                                    .setup_type = spec->setup.type,
                                    .setup = spec->setup.data,
                                    .spec = spec};
        uint64_t bits;
        tr_status status = tr__pooled_spawn(system, &nobody, &args, &bits);
        if (status != TR_OK)
            return status;
    }
    return TR_OK;
}

tr_status tr_system_new_sized(const tr_system_options *caller_options, size_t size,
                              tr_system **made)
{
    tr_system *system;
    tr_system_options options = {.size = sizeof options};
    if (!made)
        return TR_INVALID_ARGUMENT;
    if (caller_options && !sized_read(&options, sizeof options, caller_options, size))
        return TR_INVALID_ARGUMENT;
    tr_status status = tr__system_new(&options, &system);
    if (status != TR_OK)
        return status;
    if (options.pool)
        status = tr__pool_start(system, options.pool);
    const struct tr_durables *kinds = options.durable;
    if (status == TR_OK && kinds)
        status = kinds->start(system, kinds, options.store);
    if (status != TR_OK) {
        tr__start_barrier_refuse(system, status);
        tr_system_free(system);
        return status;
    }
    *made = system;
    return TR_OK;
}
