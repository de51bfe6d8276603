/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The worker pool of a system: the hash ring that places actors, and the actors of its table.
 *
 * The first caller that spawns an actor in the pool makes the pool. A system without such a caller
 * has no pool.
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "actor/life/pooled.h"
#include "pool/place_ring.h"

struct pool {
    struct place_ring ring;
    /*
     * the spec of the actors of the pool that are in no table; used only if the pool has a
     * supervision strategy of its own
     */
    struct pooled_spec any;
    size_t count;
    /* the lines of the table in the system's options, with the strategy of the pool */
    struct pooled_spec table[];
};

/**
 * Returns the pool of a system. The first call makes the pool. Returns NULL when out of memory.
 * `table` is the table in the system's options, or NULL.
 */
struct pool *tr__pool_of(struct tr_system *system, const tr_child_spec *table);

/**
 * Returns the worker on which an actor with this name would start now. Returns a negative number,
 * the status TR_NO_MEMORY, when out of memory.
 */
int tr__pool_place(struct tr_system *system, struct pool *pool, const char *name);

/** Starts the actors of a table. Returns a status of tr_try_pool_spawn. */
TR_MUST_CHECK tr_status tr__pool_start(struct tr_system *system, const tr_child_spec *table);

#endif
