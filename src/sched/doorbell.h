/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Wakes a thread that looks at loops from outside, when a loop is awake again after all loops have slept.
 *
 * Such a thread (observe/control.h) has nothing to do while all loops sleep, because nothing changes then. It waits without a
 * timeout, so an idle process has no wake-ups. The watch wakes it, because the watch notices anyway when loops wake up. So the
 * loops themselves have no cost.
 *
 * 1. When the watch has seen that all loops sleep, it writes 1 to is_quiet, and then sleeps too. When it has woken up, it
 *    writes 0.
 * 2. The other thread sets is_wanted, and then reads is_quiet. If that is 0, the thread looks again in a while, as usual.
 * 3. The watch reads is_wanted after it has written 0. So either the thread finds the 0, or the watch finds is_wanted set.
 */
#ifndef SCHED_DOORBELL_H
#define SCHED_DOORBELL_H

#include "os/atomic.h"
#include "os/lock.h"

struct doorbell {
    atom32 is_quiet;  /* the watch sleeps, because all loops do; only the watch writes it */
    atom32 is_wanted; /* the thread waits */
    struct lock lock; /* for the members below */
    void (*on_ring)(void *context); /* NULL: there is no such thread */
    void *context;
};

void tr__doorbell_init(struct doorbell *doorbell);
/** Names what wakes the thread. `on_ring` is called on the watch's thread and must not wait. Any thread. */
void tr__doorbell_open(struct doorbell *doorbell, void (*on_ring)(void *context), void *context);
/** Afterwards on_ring is not called, and no call of it runs. Any thread. */
void tr__doorbell_close(struct doorbell *doorbell);
/** Calls on_ring, if there is one. Called by doorbell_end_quiet. */
void tr__doorbell_ring(struct doorbell *doorbell);

/**
 * Asks for a ring. Returns false if a loop may be awake now: then no ring may come. If true, the
 * loops stay as they are after this call until the ring. The thread that waits.
 */
static inline bool doorbell_want(struct doorbell *doorbell)
{
    atom32_store(&doorbell->is_wanted, 1, ATOM_SEQ_CST); /* rule 2 */
    return atom32_load(&doorbell->is_quiet, ATOM_SEQ_CST);
}

/** Notes that all loops sleep. The watch's thread. */
static inline void doorbell_begin_quiet(struct doorbell *doorbell)
{
    atom32_store(&doorbell->is_quiet, 1, ATOM_SEQ_CST);
}

/** Notes that a loop may be awake. The watch's thread. */
static inline void doorbell_end_quiet(struct doorbell *doorbell)
{
    atom32_store(&doorbell->is_quiet, 0, ATOM_SEQ_CST); /* rule 3 */
    if (atom32_load(&doorbell->is_wanted, ATOM_SEQ_CST)) {
        atom32_store(&doorbell->is_wanted, 0, ATOM_RELAXED);
        tr__doorbell_ring(doorbell);
    }
}

#endif
