/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Grace periods: read a structure without a lock, and free what was removed from it when no reader
 * can still see it.
 *
 * A reader notes in its mark that it reads, and since when. A thread that removes something delays freeing it until no
 * reader is left that could have found it. Time is a number that grows with each stamp. A reader pays two stores and no
 * contended read-modify-write; the removing thread pays more, but only once for many removed things.
 *
 * Rules, with a model in tests/explore:
 * 1. A reader follows links only between grace_enter and grace_leave, by sequentially consistent
 *    loads, and keeps no pointer afterwards.
 * 2. Links are written by sequentially consistent stores. All links by which a thing can be found
 *    are removed before grace_stamp. A removed thing may still link to others, including removed
 *    ones.
 * 3. A thing may be freed when grace_oldest, called later, is not below its stamp. Without a stamp
 *    it may be freed when grace_is_idle, called after the links are removed, returns true.
 *
 * Why rule 3 is safe: the remover's load sees the mark of the reader, or the reader's load sees the
 * changed link, or both. A reader whose mark is not below the stamp began after all links were
 * removed. A reader that is not seen at all enters later, and also finds the links removed. A
 * reader that has found a removed thing entered before that thing was removed. So every thread that
 * frees what was removed later sees that reader.
 *
 * Readers are never removed: they live as long as the structure is used.
 */
#ifndef QUEUE_GRACE_H
#define QUEUE_GRACE_H

#include <stddef.h>

#include "os/atomic.h"

struct grace_reader {
    atom64 since; /* time at which the reader entered; 0: it does not read; written by the reader */
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

/** Registers a reader. Any thread. */
ATOM_INLINE void grace_join(struct grace *grace, struct grace_reader *reader)
{
    void *first = atomptr_load(&grace->readers, ATOM_RELAXED);
    atom64_init(&reader->since, 0);
    do {
        reader->next = first;
    } while (!atomptr_compare_exchange(
        &grace->readers, &first, reader, ATOM_SEQ_CST, ATOM_RELAXED)); /* pairs with grace_oldest */
    atom32_fetch_add(&grace->reader_count, 1, ATOM_RELAXED);
}

/** Returns the number of readers. Any thread. */
ATOM_INLINE uint32_t grace_readers(const struct grace *grace)
{
    return atom32_load(&grace->reader_count, ATOM_RELAXED);
}

/** Begins to read. Call on the reader's thread. Calls do not nest. */
ATOM_INLINE void grace_enter(struct grace *grace, struct grace_reader *reader)
{
    uint64_t now = atom64_load(&grace->now, ATOM_ACQUIRE); /* pairs with grace_stamp */
    atom64_store(&reader->since, now, ATOM_SEQ_CST);       /* pairs with grace_oldest */
}

/** Ends reading. Call on the reader's thread. */
ATOM_INLINE void grace_leave(struct grace_reader *reader)
{
    atom64_store(&reader->since, 0, ATOM_RELEASE); /* pairs with grace_oldest */
}

/** Returns the stamp of everything removed before this call. Any thread. */
ATOM_INLINE uint64_t grace_stamp(struct grace *grace)
{
    return atom64_fetch_add(&grace->now, 1, ATOM_SEQ_CST) + 1; /* pairs with grace_enter */
}

/** Returns the highest stamp whose things may be freed: things with this stamp or a lower one. Any thread. */
ATOM_INLINE uint64_t grace_oldest(const struct grace *grace)
{
    uint64_t oldest = UINT64_MAX;
    const struct grace_reader *reader = atomptr_load(&grace->readers, ATOM_SEQ_CST);
    for (; reader; reader = reader->next) {
        /* pairs with grace_enter, grace_leave */
        uint64_t since = atom64_load(&reader->since, ATOM_SEQ_CST);
        if (since && since < oldest)
            oldest = since;
    }
    return oldest;
}

/** Whether no thread reads now. If so, everything that was removed before this call may be freed. Any thread. */
ATOM_INLINE bool grace_is_idle(const struct grace *grace)
{
    return grace_oldest(grace) == UINT64_MAX;
}

#endif
