/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reading what others may take away, without a lock: when may it be freed?
 *
 * A reader says that it reads, and since when; who takes something out of a structure waits with
 * freeing it until nobody reads any more who could have found it. Time is a number that grows with
 * each stamp. A reader pays two stores and no read-modify-write that others could slow down; who
 * takes out pays, once for many things.
 *
 * Rules, with a model in tests/explore:
 *   1. A reader follows links only between grace_enter and grace_leave, by sequentially consistent
 *      loads, and keeps no pointer afterwards.
 *   2. Links are written by sequentially consistent stores, and those by which a thing can be found
 *      are all gone before grace_stamp. A thing that is out may still lead to others, and to such that
 *      are out themselves.
 *   3. It may be freed when grace_oldest, called later, is not below the stamp; without a stamp, when
 *      grace_is_idle, called when the links are gone, says that nobody reads.
 * Why: of the reader's mark and the look at it, and of the link and the look at that, at least one
 * sees the other. A reader whose mark is not below the stamp began when all links were gone; one who
 * is not seen at all enters later, and finds them gone too. And who stands at a thing that is out
 * entered before that was out: it is seen by all who look for what is taken out afterwards.
 *
 * Readers are never removed: they live as long as the structure is used.
 */
#ifndef QUEUE_GRACE_H
#define QUEUE_GRACE_H

#include <stddef.h>

#include "os/atomic.h"

struct grace_reader {
    atom64 since; /* 0: it reads nothing; written by the reader */
    struct grace_reader *next;
};

struct grace {
    atom64 now;
    atomptr readers; /* a list that only grows */
    atom32 reader_count;
};

ATOM_INLINE void grace_init(struct grace *grace)
{
    atom64_init(&grace->now, 1);
    atomptr_init(&grace->readers, NULL);
    atom32_init(&grace->reader_count, 0);
}

/** From now on this one may read. Any thread. */
ATOM_INLINE void grace_join(struct grace *grace, struct grace_reader *reader)
{
    void *first = atomptr_load(&grace->readers, ATOM_RELAXED);
    atom64_init(&reader->since, 0);
    do {
        reader->next = first;
    } while (!atomptr_compare_exchange(
        &grace->readers, &first, reader, ATOM_SEQ_CST, ATOM_RELAXED)); /* partner: oldest */
    atom32_fetch_add(&grace->reader_count, 1, ATOM_RELAXED);
}

/** How many readers there are. Any thread. */
ATOM_INLINE uint32_t grace_readers(const struct grace *grace)
{
    return atom32_load(&grace->reader_count, ATOM_RELAXED);
}

/** Begins to read. The reader's thread; not twice. */
ATOM_INLINE void grace_enter(struct grace *grace, struct grace_reader *reader)
{
    uint64_t now = atom64_load(&grace->now, ATOM_ACQUIRE); /* partner: stamp */
    atom64_store(&reader->since, now, ATOM_SEQ_CST);       /* partner: oldest */
}

/** Has read. */
ATOM_INLINE void grace_leave(struct grace_reader *reader)
{
    atom64_store(&reader->since, 0, ATOM_RELEASE); /* partner: oldest */
}

/** The stamp of all that was taken out before. Any thread. */
ATOM_INLINE uint64_t grace_stamp(struct grace *grace)
{
    return atom64_fetch_add(&grace->now, 1, ATOM_SEQ_CST) + 1; /* partner: enter */
}

/** What has a stamp up to this one may be freed. Any thread. */
ATOM_INLINE uint64_t grace_oldest(const struct grace *grace)
{
    uint64_t oldest = UINT64_MAX;
    const struct grace_reader *reader = atomptr_load(&grace->readers, ATOM_SEQ_CST);
    for (; reader; reader = reader->next) {
        uint64_t since = atom64_load(&reader->since, ATOM_SEQ_CST); /* partners: enter, leave */
        if (since && since < oldest)
            oldest = since;
    }
    return oldest;
}

/** Whether nobody reads now: what was taken out before may be freed. Any thread. */
ATOM_INLINE bool grace_is_idle(const struct grace *grace)
{
    return grace_oldest(grace) == UINT64_MAX;
}

#endif
