/* SPDX-License-Identifier: Apache-2.0 */
#include "pool/pool.h"

#include "actor/dispatch.h"
#include "actor/pooled.h"

static void pool_free(struct tr_system *system)
{
    struct pool *pool = atomptr_load(&system->pool, ATOM_ACQUIRE);
    for (uint32_t i = 0; i < system->worker_count; i++) {
        struct hash_ring *ring = atomptr_load(&pool->rings[i], ATOM_ACQUIRE);
        if (ring)
            tr__hash_ring_deinit(ring);
        source_resize(&system->source, ring, 0);
    }
    source_resize(&system->source, pool->rings, 0);
    source_resize(&system->source, pool, 0);
}

static size_t table_count(const tr_child_spec *table)
{
    size_t count = 0;
    while (table && table[count].behavior)
        count++;
    return count;
}

static struct pool *pool_make(struct tr_system *system, const tr_child_spec *table)
{
    const tr_supervision *how = system->has_pool_supervision ? &system->pool_supervision : NULL;
    size_t count = table_count(table);
    struct pool *pool =
        source_resize(&system->source, NULL, sizeof *pool + count * sizeof pool->table[0]);
    if (!pool)
        return NULL;
    pool->any = (tr_child_spec){.supervision = how};
    for (size_t i = 0; i < count; i++) {
        pool->table[i] = table[i];
        if (!table[i].supervision)
            pool->table[i].supervision = how;
    }
    size_t rings_size = system->worker_count * sizeof pool->rings[0];
    pool->rings = source_resize(&system->source, NULL, rings_size);
    if (!pool->rings) {
        source_resize(&system->source, pool, 0);
        return NULL;
    }
    for (uint32_t i = 0; i < system->worker_count; i++)
        atomptr_init(&pool->rings[i], NULL);
    return pool;
}

/* Under the lock. */
static struct hash_ring *ring_make(struct tr_system *system, uint32_t members)
{
    struct hash_ring *ring = source_resize(&system->source, NULL, sizeof *ring);
    if (!ring)
        return NULL;
    if (tr__hash_ring_init(ring, &system->source, RING_OF_WORKERS, members) == TR_OK)
        return ring;
    source_resize(&system->source, ring, 0);
    return NULL;
}

static const struct hash_ring *ring_of(struct tr_system *system, struct pool *pool,
                                       uint32_t members)
{
    atomptr *place = &pool->rings[members - 1];
    struct hash_ring *ring = atomptr_load(place, ATOM_ACQUIRE); /* partner: below */
    if (ring)
        return ring;
    lock_take(&system->pool_lock);
    ring = atomptr_load(place, ATOM_RELAXED);
    if (!ring) {
        ring = ring_make(system, members);
        atomptr_store(place, ring, ATOM_RELEASE); /* partner: above */
    }
    lock_give(&system->pool_lock);
    return ring;
}

int tr__pool_place(struct tr_system *system, struct pool *pool, const char *name)
{
    const struct hash_ring *ring = ring_of(system, pool, system_open_workers(system));
    return ring ? (int)tr__hash_ring_find(ring, name) : TR_NO_MEMORY;
}

struct pool *tr__pool_of(struct tr_system *system, const tr_child_spec *table)
{
    struct pool *pool = atomptr_load(&system->pool, ATOM_ACQUIRE); /* partner: below */
    if (pool)
        return pool;
    lock_take(&system->pool_lock);
    pool = atomptr_load(&system->pool, ATOM_RELAXED);
    if (!pool)
        pool = pool_make(system, table);
    if (pool) {
        system->pool_free = pool_free;
        atomptr_store(&system->pool, pool, ATOM_RELEASE); /* partner: above */
    }
    lock_give(&system->pool_lock);
    return pool;
}

/* A name that is in the table twice would be one actor, of which the second line says nothing. */
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
        const tr_child_spec *spec = &pool->table[i];
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

tr_status tr_system_new(const tr_system_options *options, tr_system **made)
{
    tr_system *system;
    if (!made)
        return TR_INVALID_ARGUMENT;
    tr_status status = tr__system_new(options, &system);
    if (status != TR_OK)
        return status;
    if (options && options->size && options->pool)
        status = tr__pool_start(system, options->pool);
    if (status != TR_OK) {
        tr__start_gate_refuse(&system->gate, status);
        tr_system_free(system);
        return status;
    }
    *made = system;
    return TR_OK;
}
