/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hash ring: to which of n equal members a name belongs.
 *
 * Each member has 150 points on a circle of 32 bits: crc32 of "w0v0" … "w0v149" for worker 0, of
 * "n2v149" for the last point of node 2. A name belongs to the first point at or after its own crc32,
 * past the end to the first of all; of points that coincide, to that of the lowest member. So a name
 * belongs to the same member in every process and after every restart, and one member more takes about
 * its share of the names and moves no other.
 *
 * Whoever chooses names can choose where they belong: crc32 has no secret, and must not have one, since
 * all processes have to agree. A directory of names spreads them by a keyed hash (actor/cell/names.h), so
 * that they only crowd one member and make no look-up slower: docs/design/hash-ring.md.
 *
 * A ring never changes, so that any thread may look at it; another number of members is another ring.
 */
#ifndef POOL_HASH_RING_H
#define POOL_HASH_RING_H

#include <troupe/status.h>

#include "mem/source.h"

/** Points of a member. */
enum { RING_POINTS = 150 };

/** Prefixes of the points: of workers in a process, of nodes in a cluster. */
#define RING_OF_WORKERS 'w'
#define RING_OF_NODES 'n'
/** Members of a ring at most; more than any limit of ours. */
#define RING_MEMBERS_MAX 4096u

struct hash_ring {
    struct memory_source source;
    /*
     * Sorted: crc32 << 32 | member. After the last point stands the first one again, at the largest
     * crc32, so that a search always ends.
     */
    uint64_t *points;
    /* By the highest bits of a crc32: the first point that is not below all of them. */
    uint32_t *starts;
    uint32_t members;
    int shift; /* a crc32 >> shift is an index of starts */
};

/** `members` is 1 to RING_MEMBERS_MAX. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__hash_ring_init(struct hash_ring *ring,
                                           const struct memory_source *source, char prefix,
                                           uint32_t members);
void tr__hash_ring_deinit(struct hash_ring *ring);

/** The member to which a name belongs. Any thread. */
uint32_t tr__hash_ring_find(const struct hash_ring *ring, const char *name);

/** The same without a ring: all points are computed anew. Any thread. */
uint32_t tr__hash_ring_compute(char prefix, uint32_t members, const char *name);

#endif
