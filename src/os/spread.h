/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A histogram of values, for example of how long something took. Any thread may add a value, and read the counts. For rare
 * events, because adding a value takes several atomic additions.
 */
#ifndef OS_SPREAD_H
#define OS_SPREAD_H

#include "os/atomic.h"

enum {
    SPREAD_BUCKETS = 12,
    SPREAD_FACTOR = 4,
    SPREAD_FIRST_NS = 10000 /* `first` for times: with it the last bucket begins at 10 s */
};

struct spread {
    atom64 sum;
    atom64 buckets
        [SPREAD_BUCKETS]; /* how many values were below `first`, below 4 * `first`, and so on; the last counts the rest */
};

static inline void spread_add(struct spread *spread, uint64_t first, uint64_t value)
{
    unsigned bucket = 0;
    for (uint64_t end = first; bucket < SPREAD_BUCKETS - 1 && value >= end; bucket++)
        end *= SPREAD_FACTOR;
    atom64_fetch_add(&spread->buckets[bucket], 1, ATOM_RELAXED);
    atom64_fetch_add(&spread->sum, value, ATOM_RELAXED);
}

#endif
