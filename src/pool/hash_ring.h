/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hash ring: which of n equal members a name belongs to.
 *
 * Each member has 150 points on a circle of 32 bits: the crc32 of "w0v0" … "w0v149" for worker 0, of "n2v149" for the
 * last point of node 2. A name belongs to the first point at or after its own crc32; behind the last point follows the
 * first. If points coincide, the lowest member counts. So a name belongs to the same member in every process and after
 * every restart. If a member is added, it takes about its share of the names, and no other name moves.
 *
 * A user who chooses names can choose which member they belong to: crc32 has no secret, and cannot have one, because
 * all processes have to agree. Such names can crowd one member, but they make no lookup slower, because the directory
 * of names uses a keyed hash (actor/cell/names.h, docs/design/hash-ring.md).
 *
 * A ring never changes, so any thread may read it. Another number of members is another ring.
 */
#ifndef POOL_HASH_RING_H
#define POOL_HASH_RING_H

#include <troupe/status.h>

#include "mem/source.h"

/** Points of one member. */
enum { RING_POINTS = 150 };

/** Prefixes of the points: of workers in a process, of nodes in a cluster. */
#define RING_OF_WORKERS 'w'
#define RING_OF_NODES 'n'
/** Maximum number of members; more than any limit of the runtime. */
#define RING_MEMBERS_MAX 4096u

struct hash_ring {
    struct memory_source source;
    /*
     * Sorted: crc32 << 32 | member. The last entry repeats the first point with the largest crc32, so that every search
     * ends.
     */
    uint64_t *points;
    /* For the highest bits of a crc32: index of the first point whose crc32 has these bits or higher ones. */
    uint32_t *starts;
    uint32_t members;
    int shift; /* crc32 >> shift is an index of starts */
};

/** Makes a ring of 1 to RING_MEMBERS_MAX members. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__hash_ring_init(struct hash_ring *ring,
                                           const struct memory_source *source, char prefix,
                                           uint32_t members);
void tr__hash_ring_deinit(struct hash_ring *ring);

/** Returns the member that a name belongs to. Any thread. */
uint32_t tr__hash_ring_find(const struct hash_ring *ring, const char *name);

/** As tr__hash_ring_find, without a ring: computes all points again. Any thread. */
uint32_t tr__hash_ring_compute(char prefix, uint32_t members, const char *name);

#endif
