/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How values are spread, such as how long something took: a histogram that any thread may add to and read. For what happens
 * seldom, because it takes several atomic additions.
 */
#ifndef OS_SPREAD_H
#define OS_SPREAD_H

#include "os/atomic.h"

enum {
    SPREAD_BUCKETS = 12,
    SPREAD_FACTOR = 4,
    SPREAD_FIRST_NS = 10000 /* first bucket for times in ns: then the last bucket begins at 10 s */
};

struct spread {
    atom64 sum;
    atom64 buckets[SPREAD_BUCKETS]; /* below first, first * 4, first * 16, ..., and the rest */
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
