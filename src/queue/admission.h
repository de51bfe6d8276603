/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work that any thread may bring in until somebody closes, and an end that waits for all of it.
 *
 * A thread that brings something enters; whoever has received the work leaves, on any thread. One
 * thread closes. Rules, with a model in tests/explore:
 *   1. After admission_close nobody enters: the bit and the count are one word.
 *   2. Of admission_close and all admission_leave exactly one says true: the first moment at which it
 *      is closed and nobody is inside. All that was brought in happened before that.
 *   3. Who leaves has made sure that the end finds the work. To have it posted is not enough: the
 *      end may take another way, and be faster.
 */
#ifndef QUEUE_ADMISSION_H
#define QUEUE_ADMISSION_H

#include "os/atomic.h"

#include <stdbool.h>

enum { ADMISSION_CLOSED = 1, ADMISSION_ONE = 2 };

struct admission {
    atom32 word; /* ADMISSION_CLOSED, and ADMISSION_ONE for each that is inside */
};

ATOM_INLINE void admission_init(struct admission *admission)
{
    atom32_init(&admission->word, 0);
}

/** Enters. False when it is closed: then there is nothing to leave. Any thread. */
ATOM_INLINE bool admission_enter(struct admission *admission)
{
    uint32_t word = atom32_load(&admission->word, ATOM_RELAXED);
    do {
        if (word & ADMISSION_CLOSED)
            return false;
    } while (!atom32_compare_exchange(
        &admission->word, &word, word + ADMISSION_ONE, ATOM_RELAXED, ATOM_RELAXED));
    return true;
}

/**
 * Leaves. True for the last one after admission_close. Sequentially consistent, so that the last one
 * and a thread that finds somebody inside cannot both miss what the other wrote before. Any thread.
 */
ATOM_INLINE bool admission_leave(struct admission *admission)
{
    uint32_t word = atom32_fetch_sub(&admission->word, ADMISSION_ONE, ATOM_SEQ_CST);
    return word == (ADMISSION_CLOSED | ADMISSION_ONE); /* partner: itself, admission_close */
}

/** Lets nobody enter any more. True when nobody is inside. Once, any thread. */
ATOM_INLINE bool admission_close(struct admission *admission)
{
    return !atom32_fetch_or(
        &admission->word, ADMISSION_CLOSED, ATOM_SEQ_CST); /* partner: admission_leave */
}

/** Whether somebody is inside. Sequentially consistent: see admission_leave. Any thread. */
ATOM_INLINE bool admission_is_used(const struct admission *admission)
{
    return atom32_load(&admission->word, ATOM_SEQ_CST) >= ADMISSION_ONE;
}

#endif
