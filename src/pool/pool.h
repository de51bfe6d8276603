/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The worker pool of a system: its ring, and the actors that it has from the beginning.
 *
 * A system without a pool has none of it: it is made with the first actor, by whoever wants one.
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "actor/life/pooled.h"
#include "pool/place_ring.h"

struct pool {
    struct place_ring ring;
    struct pooled_spec any; /* of those in no table, when the pool has a strategy of its own */
    size_t count;
    struct pooled_spec table[]; /* as the system's options had it, with the strategy of the pool */
};

/** The pool of a system; NULL when out of memory. `table` is that of its options, or NULL. */
struct pool *tr__pool_of(struct tr_system *system, const tr_child_spec *table);

/** The worker on which an actor of this name starts now; negative, a tr_status: TR_NO_MEMORY. */
int tr__pool_place(struct tr_system *system, struct pool *pool, const char *name);

/** Starts those of a table. As tr_try_pool_spawn. */
TR_MUST_CHECK tr_status tr__pool_start(struct tr_system *system, const tr_child_spec *table);

#endif
