/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Grace periods: a reader reads a structure without a lock, and what was removed from the structure
 * is freed only when no reader can see it any more.
 *
 * A reader notes in its mark that it reads, and since when. A thread that has removed something
 * frees it only when no reader is left that could have found it. Time is a number that grows with
 * each stamp. A reader pays two stores, and no read-modify-write that threads contend for. The
 * thread that removes pays more, but only once for many removed things.
 *
 * Rules, with a model in tests/explore:
 * 1. A reader follows links only between grace_enter and grace_leave, by sequentially consistent
 *    loads, and keeps no pointer afterwards.
 * 2. Links are written by sequentially consistent stores. All links that lead to a thing are
 *    removed before grace_stamp. A removed thing may still have links to other things, which may be
 *    removed too.
 * 3. A thing may be freed when a later call of grace_oldest returns its stamp or a higher one. A
 *    thing without a stamp may be freed when grace_is_idle, called after the links were removed,
 *    returns true.
 *
 * Why rule 3 is safe: the load of the removing thread sees the mark of the reader, or the load of
 * the reader sees the changed link, or both. A reader whose mark is not below the stamp began after
 * all links were removed. A reader whose mark is not seen at all enters later, and so finds the
 * links removed. A reader that has found a removed thing has entered before that thing was removed.
 * So each thread that frees things that were removed later sees the mark of that reader.
 *
 * Readers are never removed: they live as long as the structure is used.
 */
#ifndef QUEUE_GRACE_H
#define QUEUE_GRACE_H

#include <stddef.h>

#include "os/atomic.h"

struct grace_reader {
    /* the time at which the reader entered; 0: it does not read. Only the reader writes it. */
    atom64 since;
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

/** Begins to read. To be called on the reader's thread, and not again before grace_leave. */
ATOM_INLINE void grace_enter(struct grace *grace, struct grace_reader *reader)
{
    uint64_t now = atom64_load(&grace->now, ATOM_ACQUIRE); /* pairs with grace_stamp */
    atom64_store(&reader->since, now, ATOM_SEQ_CST);       /* pairs with grace_oldest */
}

/** Ends reading. To be called on the reader's thread. */
ATOM_INLINE void grace_leave(struct grace_reader *reader)
{
    atom64_store(&reader->since, 0, ATOM_RELEASE); /* pairs with grace_oldest */
}

/** Returns a stamp for all things that were removed before this call. Any thread. */
ATOM_INLINE uint64_t grace_stamp(struct grace *grace)
{
    return atom64_fetch_add(&grace->now, 1, ATOM_SEQ_CST) + 1; /* pairs with grace_enter */
}

/** Returns a stamp. Things with this stamp or a lower one may be freed. Any thread. */
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
