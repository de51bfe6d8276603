/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A doorbell wakes a thread that looks at loops from outside. It rings when a loop is awake again
 * after all loops have slept.
 *
 * Such a thread (observe/control.h) has nothing to do while all loops sleep, because nothing
 * changes then. It waits without a timeout, so an idle process has no wake-ups. The watch has to
 * notice anyway when loops wake up, so the watch wakes this thread. This costs the loops nothing.
 *
 * 1. When the watch has seen that all loops sleep, it writes 1 to is_quiet, and then sleeps too.
 *    When it has woken up, it writes 0.
 * 2. The other thread sets is_wanted, and then reads is_quiet. If is_quiet is 0, the thread looks
 *    at the loops again after a while, as usual.
 * 3. The watch reads is_wanted after it has written 0. So either the thread finds the 0, or the
 *    watch finds is_wanted set.
 */
#ifndef SCHED_DOORBELL_H
#define SCHED_DOORBELL_H

#include "os/atomic.h"
#include "os/lock.h"

struct doorbell {
    atom32 is_quiet;  /* the watch sleeps, because all loops sleep; only the watch writes it */
    atom32 is_wanted; /* the other thread waits for a ring */
    struct lock lock; /* protects the members below */
    void (*on_ring)(void *context); /* NULL: no thread waits for rings */
    void *context;
};

void tr__doorbell_init(struct doorbell *doorbell);
/**
 * Sets the function that wakes the thread. The watch's thread calls `on_ring`, which must not wait.
 * Any thread.
 */
void tr__doorbell_open(struct doorbell *doorbell, void (*on_ring)(void *context), void *context);
/** Removes on_ring. When this returns, no call of on_ring runs, and none will come. Any thread. */
void tr__doorbell_close(struct doorbell *doorbell);
/** Calls on_ring, if there is one. Called by doorbell_end_quiet. */
void tr__doorbell_ring(struct doorbell *doorbell);

/**
 * Asks for a ring. Returns false if a loop may be awake now: then it is possible that no ring
 * comes. If this returns true, all loops stay as they are until the ring. Only the thread that
 * waits.
 */
static inline bool doorbell_want(struct doorbell *doorbell)
{
    atom32_store(&doorbell->is_wanted, 1, ATOM_SEQ_CST); /* rule 2 */
    return atom32_load(&doorbell->is_quiet, ATOM_SEQ_CST);
}

/** Notes that all loops sleep. Only the watch's thread. */
static inline void doorbell_begin_quiet(struct doorbell *doorbell)
{
    atom32_store(&doorbell->is_quiet, 1, ATOM_SEQ_CST);
}

/** Notes that a loop may be awake. Only the watch's thread. */
static inline void doorbell_end_quiet(struct doorbell *doorbell)
{
    atom32_store(&doorbell->is_quiet, 0, ATOM_SEQ_CST); /* rule 3 */
    if (atom32_load(&doorbell->is_wanted, ATOM_SEQ_CST)) {
        atom32_store(&doorbell->is_wanted, 0, ATOM_RELAXED);
        tr__doorbell_ring(doorbell);
    }
}

#endif
