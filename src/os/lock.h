/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A lock of 32 bits over a futex, for the few places where threads meet off the hot path.
 *
 * Taking a free lock is one compare-exchange. A thread that finds the lock held spins for a bounded
 * time and then sleeps. Not recursive and not fair. The thread that took the lock must give it
 * back.
 */
#ifndef OS_LOCK_H
#define OS_LOCK_H

#include "os/atomic.h"

enum { LOCK_FREE, LOCK_HELD, LOCK_AWAITED /* held, and threads may sleep until it is free */ };

struct lock {
    atom32 state;
};

/* The slow paths of lock_take and lock_give. */
void tr__lock_wait(struct lock *lock);
void tr__lock_wake(struct lock *lock);

ATOM_INLINE void lock_init(struct lock *lock)
{
    atom32_init(&lock->state, LOCK_FREE);
}

/** Takes the lock if it is free. Any thread. */
ATOM_INLINE bool lock_try(struct lock *lock)
{
    uint32_t free = LOCK_FREE;
    return atom32_compare_exchange(
        &lock->state, &free, LOCK_HELD, ATOM_ACQUIRE, ATOM_RELAXED); /* pairs with lock_give */
}

/** Takes the lock, and waits if it is held. Any thread. */
ATOM_INLINE void lock_take(struct lock *lock)
{
    if (!lock_try(lock))
        tr__lock_wait(lock);
}

/** Gives the lock back. Only the thread that took it. */
ATOM_INLINE void lock_give(struct lock *lock)
{
    /* pairs with lock_try, tr__lock_wait */
    if (atom32_exchange(&lock->state, LOCK_FREE, ATOM_RELEASE) == LOCK_AWAITED)
        tr__lock_wake(lock);
}

/** Whether some thread holds the lock. For assertions of a caller that must be that thread. */
ATOM_INLINE bool lock_is_held(const struct lock *lock)
{
    return atom32_load(&lock->state, ATOM_RELAXED) != LOCK_FREE;
}

#endif
