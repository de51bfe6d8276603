/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A histogram of values, such as the durations of a kind of event. Any thread may add a value, and read the counts.
 * Only for events that are rare, because adding a value takes two atomic additions.
 */
#ifndef OS_SPREAD_H
#define OS_SPREAD_H

#include "os/atomic.h"

enum {
    SPREAD_BUCKETS = 12,
    SPREAD_FACTOR = 4,
    /* spread_add gets this as `first` for durations; the last bucket then begins at about 10.5 s */
    SPREAD_FIRST_NS = 10000
};

struct spread {
    atom64 sum;
    /*
     * buckets[0] counts the values below `first`, buckets[1] further values below 4 * `first`, and so on. The last
     * bucket counts all larger values.
     */
    atom64 buckets[SPREAD_BUCKETS];
};

static inline void spread_add(struct spread *spread, uint64_t first, uint64_t value)
{
    unsigned bucket = 0;
    for (uint64_t end = first; bucket < SPREAD_BUCKETS - 1 && value >= end; bucket++)
        end *= SPREAD_FACTOR;
    atom64_fetch_add(&spread->buckets[bucket], 1, ATOM_RELAXED);
    atom64_fetch_add(&spread->sum, value, ATOM_RELAXED);
}

/** Returns how many values were added. */
static inline uint64_t spread_count(const struct spread *spread)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < SPREAD_BUCKETS; i++)
        count += atom64_load(&spread->buckets[i], ATOM_RELAXED);
    return count;
}

#endif
