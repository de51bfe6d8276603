/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A sum to which several threads add, each through its own part.
 *
 * What a thread adds goes to its part, without a read-modify-write. When the part has grown to a
 * limit, the step, it is added to the shared sum. So threads that add and subtract small amounts do
 * not contend. The error of the shared sum alone is less than a step for each part. The shared sum
 * and all parts together are exact while no thread adds. While threads add, the error is at most a
 * step for each part that is being flushed.
 *
 * A part has one writer at a time. Other functions: any thread.
 */
#ifndef QUEUE_TALLY_H
#define QUEUE_TALLY_H

#include <stddef.h>

#include "os/atomic.h"

struct tally {
    atom64 handed_in; /* an int64_t; any thread writes it */
};

struct tally_part {
    atom64 held; /* an int64_t; the part's thread writes it, and any thread reads it */
};

ATOM_INLINE void tally_init(struct tally *tally)
{
    atom64_init(&tally->handed_in, 0);
}

ATOM_INLINE void tally_part_init(struct tally_part *part)
{
    atom64_init(&part->held, 0);
}

/** Returns the amount that the part holds. */
ATOM_INLINE int64_t tally_held(const struct tally_part *part)
{
    return (int64_t)atom64_load(&part->held, ATOM_RELAXED);
}

/** Moves what a part holds to the shared sum. The part's writer only. */
ATOM_INLINE void tally_flush(struct tally *tally, struct tally_part *part)
{
    uint64_t held = atom64_load(&part->held, ATOM_RELAXED);
    if (!held)
        return;
    /*
     * Clear the part first. Then a reader at the same time may miss the amount, but does not count
     * it twice.
     */
    atom64_store(&part->held, 0, ATOM_RELAXED);
    atom64_fetch_add(&tally->handed_in, held, ATOM_RELEASE); /* pairs with tally_read */
}

/**
 * Adds an amount to a part. If the part has grown to `step` in either direction, flushes it. The
 * part's writer only.
 */
ATOM_INLINE void tally_add(struct tally *tally, struct tally_part *part, int64_t amount,
                           int64_t step)
{
    int64_t held = tally_held(part) + amount;
    atom64_store(&part->held, (uint64_t)held, ATOM_RELAXED);
    if (held >= step || held <= -step)
        tally_flush(tally, part);
}

/** Returns the sum as the thread of this part sees it, without the other parts. */
ATOM_INLINE int64_t tally_near(const struct tally *tally, const struct tally_part *part)
{
    return (int64_t)atom64_load(&tally->handed_in, ATOM_RELAXED) + tally_held(part);
}

/**
 * Returns the sum with all its parts. There are `count` parts, each `stride` bytes after the
 * previous one.
 */
ATOM_INLINE int64_t tally_read(const struct tally *tally, const struct tally_part *first,
                               size_t count, size_t stride)
{
    uint64_t sum = atom64_load(&tally->handed_in, ATOM_ACQUIRE); /* pairs with tally_flush */
    for (size_t i = 0; i < count; i++) {
        const struct tally_part *part =
            (const struct tally_part *)(const void *)((const char *)first + i * stride);
        sum += atom64_load(&part->held, ATOM_RELAXED);
    }
    return (int64_t)sum;
}

#endif
