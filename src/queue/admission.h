/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts pieces of work. Any thread may bring in work until one thread closes the admission. The
 * count shows when all of that work has been received.
 *
 * A thread that brings work in enters. The thread that has received the work leaves; it may be
 * another one. One thread closes. Rules, with a model in tests/explore:
 *
 * 1. After admission_close no thread enters, because the bit and the count are one word.
 * 2. Of admission_close and all admission_leave exactly one returns true: the call at the first
 *    moment when the admission is closed and nothing is inside. All work was brought in before that
 *    moment.
 * 3. A thread that leaves has made sure that the end finds the work. To post the work is not
 *    enough, because the end may be reached on another path before the post arrives.
 */
#ifndef QUEUE_ADMISSION_H
#define QUEUE_ADMISSION_H

#include "os/atomic.h"

#include <stdbool.h>

enum { ADMISSION_CLOSED = 1, ADMISSION_ONE = 2 };

struct admission {
    /* ADMISSION_CLOSED if closed, plus ADMISSION_ONE for each thread that has entered and not left */
    atom32 word;
};

ATOM_INLINE void admission_init(struct admission *admission)
{
    atom32_init(&admission->word, 0);
}

/** Enters. Returns false if the admission is closed; then the caller must not call admission_leave. Any thread. */
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
 * Leaves. Returns true if the admission is closed and this was the last thread inside. Any thread.
 *
 * This is sequentially consistent. So of two threads, the last that leaves and one that finds the
 * admission in use, at least one sees what the other wrote before.
 */
ATOM_INLINE bool admission_leave(struct admission *admission)
{
    uint32_t word = atom32_fetch_sub(&admission->word, ADMISSION_ONE, ATOM_SEQ_CST);
    return word == (ADMISSION_CLOSED | ADMISSION_ONE); /* pairs with itself, admission_close */
}

/**
 * Closes: no thread enters any more. Returns true if nothing is inside. Call it once, on any
 * thread.
 */
ATOM_INLINE bool admission_close(struct admission *admission)
{
    return !atom32_fetch_or(
        &admission->word, ADMISSION_CLOSED, ATOM_SEQ_CST); /* pairs with admission_leave */
}

/** Whether anything is inside. Sequentially consistent: see admission_leave. Any thread. */
ATOM_INLINE bool admission_is_used(const struct admission *admission)
{
    return atom32_load(&admission->word, ATOM_SEQ_CST) >= ADMISSION_ONE;
}

#endif
