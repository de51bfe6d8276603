/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts pieces of work on their way. Any thread may bring in work until one thread closes the
 * admission. The count shows when all of that work has been received.
 *
 * A thread that brings in work enters. A thread that has received the work leaves; it need not be
 * the thread that has entered. One thread closes. Rules, with a model in tests/explore:
 *
 * 1. After admission_close no thread enters, because the bit and the count are one word.
 * 2. Of all calls of admission_leave and admission_close, exactly one returns true. It is the first
 *    call after which the admission is closed and no thread is inside. All work was brought in
 *    before that moment.
 * 3. The thread whose call returns true by rule 2 handles the end. Before a thread leaves, it makes
 *    sure that the handling of the end finds the work. It is not enough to post the work, because
 *    another thread may reach the end before the post arrives.
 */
#ifndef QUEUE_ADMISSION_H
#define QUEUE_ADMISSION_H

#include "os/atomic.h"

#include <stdbool.h>

enum { ADMISSION_CLOSED = 1, ADMISSION_ONE = 2 };

struct admission {
    /*
     * ADMISSION_CLOSED if closed, plus ADMISSION_ONE for each admission_enter without an
     * admission_leave yet
     */
    atom32 word;
};

ATOM_INLINE void admission_init(struct admission *admission)
{
    atom32_init(&admission->word, 0);
}

/**
 * Enters. If the admission is closed, returns false, and the caller must not call admission_leave.
 * Any thread.
 */
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
 * Leaves. Returns true if the admission is closed and no thread is inside any more.
 *
 * This is sequentially consistent. Suppose that one thread is the last to leave, and another thread
 * finds the admission in use. Then at least one of the two sees what the other has written before.
 * Any thread.
 */
ATOM_INLINE bool admission_leave(struct admission *admission)
{
    uint32_t word = atom32_fetch_sub(&admission->word, ADMISSION_ONE, ATOM_SEQ_CST);
    /* pairs with admission_close, and with admission_leave of other threads */
    return word == (ADMISSION_CLOSED | ADMISSION_ONE);
}

/**
 * Closes: from now on no thread enters. Returns true if no thread is inside. To be called once, by
 * any thread.
 */
ATOM_INLINE bool admission_close(struct admission *admission)
{
    return !atom32_fetch_or(
        &admission->word, ADMISSION_CLOSED, ATOM_SEQ_CST); /* pairs with admission_leave */
}

/** Whether any thread is inside. Sequentially consistent: see admission_leave. Any thread. */
ATOM_INLINE bool admission_is_used(const struct admission *admission)
{
    return atom32_load(&admission->word, ATOM_SEQ_CST) >= ADMISSION_ONE;
}

#endif
