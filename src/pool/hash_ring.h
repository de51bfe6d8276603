/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hash ring says to which of n equal members a name belongs.
 *
 * Each member has 150 points on a circle of 32 bits: the crc32 of "w0v0" … "w0v149" for worker 0,
 * of "n2v149" for the last point of node 2. A name belongs to the member of the first point at or
 * after its own crc32. After the last point comes the first point again. If several points have the
 * same crc32, the point of the lowest member counts. So a name belongs to the same member in every
 * process and after every restart. A member that is added takes about its share of the names, and
 * no other name moves.
 *
 * A user who chooses names can also choose to which member they belong, because crc32 has no
 * secret. It cannot have a secret, because all processes must get the same result. With such names
 * a user can crowd one member. Such names make no lookup slower, because the directory of names
 * uses a keyed hash (actor/cell/names.h, docs/design/hash-ring.md).
 *
 * A ring never changes, so any thread may read it. For another number of members, another ring is
 * made.
 */
#ifndef POOL_HASH_RING_H
#define POOL_HASH_RING_H

#include <troupe/status.h>

#include "mem/source.h"

/** How many points each member has. */
enum { RING_POINTS = 150 };

/**
 * Prefixes of the points: 'w' if the members are workers of a process, 'n' if they are nodes of a
 * cluster.
 */
#define RING_OF_WORKERS 'w'
#define RING_OF_NODES 'n'
/** A ring has at most this many members, which is more than any limit of the runtime. */
#define RING_MEMBERS_MAX 4096u

struct hash_ring {
    struct memory_source source;
    /*
     * The points, sorted. Each is crc32 << 32 | member. One more entry at the end has the largest
     * crc32, and the member of the first point. So every search ends.
     */
    uint64_t *points;
    /*
     * By the highest bits of a crc32: the index of the first point whose crc32 has these bits or
     * higher ones.
     */
    uint32_t *starts;
    uint32_t members;
    int shift; /* crc32 >> shift is an index of `starts` */
};

/** Makes a ring of 1 to RING_MEMBERS_MAX members. Returns TR_OK or TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__hash_ring_init(struct hash_ring *ring,
                                           const struct memory_source *source, char prefix,
                                           uint32_t members);
void tr__hash_ring_deinit(struct hash_ring *ring);

/** Returns the member to which a name belongs. Any thread. */
uint32_t tr__hash_ring_find(const struct hash_ring *ring, const char *name);

/** As tr__hash_ring_find, but without a ring: computes all points each time. Any thread. */
uint32_t tr__hash_ring_compute(char prefix, uint32_t members, const char *name);

#endif
