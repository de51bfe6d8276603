/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The lock: one thread at a time, nobody sleeps forever.
 */
#include "os/lock.h"

#include "support/test.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4 };

struct shared {
    struct lock lock;
    uint64_t rounds;
    uint64_t count; /* plain: ThreadSanitizer sees whether the lock orders it */
    uint64_t copy;
    bool with_pauses;
};

static void *add(void *context)
{
    struct shared *shared = context;
    for (uint64_t i = 0; i < shared->rounds; i++) {
        lock_take(&shared->lock);
        ck_assert_uint_eq(shared->count, shared->copy);
        shared->count++;
        if (shared->with_pauses) /* Long enough for the others to go to sleep. */
            (void)sched_yield();
        shared->copy++;
        lock_give(&shared->lock);
    }
    return NULL;
}

static void run(struct shared *shared)
{
    pthread_t threads[THREADS];
    lock_init(&shared->lock);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add, shared), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(shared->count, THREADS * shared->rounds);
}

TEST(four_threads_count_without_loss, "")
{
    run(&(struct shared){.rounds = test_scale(200000, 5000000)});
}

TEST(four_threads_that_sleep_for_it_all_get_it, "")
{
    run(&(struct shared){.rounds = test_scale(20000, 500000), .with_pauses = true});
}

TEST(a_held_lock_is_not_taken_by_a_try, "")
{
    struct lock lock;
    lock_init(&lock);
    ck_assert(lock_try(&lock));
    ck_assert(!lock_try(&lock));
    lock_give(&lock);
    ck_assert(lock_try(&lock));
    lock_give(&lock);
    lock_take(&lock);
    ck_assert(!lock_try(&lock));
    lock_give(&lock);
}

SUITE("os lock", four_threads_count_without_loss, four_threads_that_sleep_for_it_all_get_it,
      a_held_lock_is_not_taken_by_a_try)
