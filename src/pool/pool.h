/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The worker pool of a system: the hash ring that places actors, and the actors of its table.
 *
 * A pool is made by the first caller that spawns an actor in it. A system without such a caller has no pool.
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "actor/life/pooled.h"
#include "pool/place_ring.h"

struct pool {
    struct place_ring ring;
    /* the spec of actors that are in no table, for a pool with a supervision strategy of its own */
    struct pooled_spec any;
    size_t count;
    /* lines of the table in the system's options, with the strategy of the pool */
    struct pooled_spec table[];
};

/**
 * Returns the pool of a system, which is made at the first call. NULL: no memory. `table` is the table of the system's
 * options, or NULL.
 */
struct pool *tr__pool_of(struct tr_system *system, const tr_child_spec *table);

/** Returns the worker on which an actor of this name starts now. Negative: a tr_status, TR_NO_MEMORY. */
int tr__pool_place(struct tr_system *system, struct pool *pool, const char *name);

/** Starts the actors of a table. Returns a status of tr_try_pool_spawn. */
TR_MUST_CHECK tr_status tr__pool_start(struct tr_system *system, const tr_child_spec *table);

#endif
