/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hash ring that does the work of a table of troupe/places.h, for workers and for nodes. The
 * number of places may change while other threads read the ring.
 */
#ifndef POOL_PLACE_RING_H
#define POOL_PLACE_RING_H

#include <assert.h>
#include <troupe/places.h>

#include "os/atomic.h"
#include "os/lock.h"
#include "pool/hash_ring.h"

/** A ring has at most this many places. */
#define PLACES_MAX 256
static_assert(PLACES_MAX >= TR_WORKERS_MAX, "all workers fit into a ring");
static_assert(PLACES_MAX >= TR_NODES_MAX, "and for all nodes");

struct place_ring {
    tr_ring table;
    struct memory_source source;
    char prefix;
    struct lock lock; /* held by a thread that is changing the number of places */
    atom32 count;
    /*
     * One ring for each number of places. A ring is made when its number of places is first needed,
     * and is kept from then on. So readers need no lock and no reference count, and a pool that
     * grows and shrinks uses the same rings again.
     */
    atomptr rings[PLACES_MAX + 1];
};

/**
 * Makes a ring. `prefix` has the same meaning as in pool/hash_ring.h. Returns TR_OK or
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__place_ring_init(struct place_ring *ring,
                                            const struct memory_source *source, char prefix,
                                            uint32_t places);
void tr__place_ring_deinit(struct place_ring *ring);
/** Returns the place of a name. Does not check whether the name is valid. Any thread. */
static inline tr_place place_ring_find(const struct place_ring *ring, const char *name)
{
    uint32_t places = atom32_load(&ring->count, ATOM_ACQUIRE); /* pairs with resize */
    return tr__hash_ring_find(atomptr_load(&ring->rings[places], ATOM_RELAXED), name);
}
/** Changes the number of places. Returns TR_OK or TR_NO_MEMORY. Any thread. */
TR_MUST_CHECK tr_status tr__place_ring_resize(struct place_ring *ring, uint32_t places);

#endif
