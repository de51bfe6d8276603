/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Waiting for a lock: spin, then sleep in the kernel ("mutex 2" of Drepper's Futexes Are Tricky).
 */
#include "os/lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * About a microsecond of spinning. Work under these locks takes less, and a sleep in the kernel
 * costs 50 times as much.
 */
enum { LOCK_SPINS = 40 };

_Static_assert(sizeof(struct lock) == 4, "the kernel looks at 32 bits");

static void lock_futex(struct lock *lock, int operation, uint32_t value)
{
    /*
     * The system call may fail with EAGAIN or EINTR. The caller looks at the lock again in any
     * case.
     */
    (void)syscall(SYS_futex, &lock->state, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void tr__lock_wait(struct lock *lock)
{
    for (int i = 0; i < LOCK_SPINS; i++) {
        atom_pause();
        if (atom32_load(&lock->state, ATOM_RELAXED) == LOCK_FREE && lock_try(lock))
            return;
    }
    /*
     * From here on this thread writes LOCK_AWAITED when it takes the lock, because it cannot know
     * whether other threads sleep. If none does, lock_give makes one unnecessary system call.
     */
    while (atom32_exchange(&lock->state, LOCK_AWAITED, ATOM_ACQUIRE) != LOCK_FREE)
        lock_futex(lock, FUTEX_WAIT, LOCK_AWAITED);
}

void tr__lock_wake(struct lock *lock)
{
    lock_futex(lock, FUTEX_WAKE, 1);
}
