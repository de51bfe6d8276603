/* SPDX-License-Identifier: Apache-2.0 */
/** Look-ups that hang, on threads: what they hold up, and what not. The resolver is the test's. */
#include "support/test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <troupe/troupe.h>

enum { DIALS = 40, THREADS = TR_LOOKUPS_MAX + 1 };

static atomic_int calls;
static sem_t may_return;
static sem_t has_begun;
static sem_t has_run;
static sem_t has_closed;
static sem_t is_refused;
static sem_t has_stopped;

/* Takes until the test says so. */
static tr_status resolve_slowly(const tr_platform *platform, const char *name, uint16_t port,
                                tr_address *addresses, size_t max, size_t *count)
{
    (void)platform;
    (void)name;
    (void)port;
    (void)addresses;
    (void)max;
    (void)count;
    atomic_fetch_add(&calls, 1);
    sem_post(&has_begun);
    while (sem_wait(&may_return) != 0) {
    }
    return TR_TIMEOUT;
}

static void await(sem_t *what, int times)
{
    while (times--)
        while (sem_wait(what) != 0) {
        }
}

static void run(void *argument)
{
    (void)argument;
    sem_post(&has_run);
}

TR_MESSAGE(dial_all, (u32, count), (bool, is_one));
TR_MESSAGE(block);
TR_MESSAGE(leave);
TR_ACTOR(dialer, dial_all, block, leave);

static tr_next on_dial_all(tr_self *self, const struct dial_all *message)
{
    for (uint32_t i = 0; i < message->count; i++) {
        char address[32];
        snprintf(address, sizeof address, "host%u.example:7", message->is_one ? 0 : (unsigned)i);
        tr_dial(self, TR_TCP(address, .connect_ns = TR_HOUR));
    }
    return TR_SAME;
}

static tr_next on_block(tr_self *self)
{
    tr_blocking(self, run, NULL);
    return TR_SAME;
}

static tr_next on_leave(void)
{
    return TR_STOP;
}

static tr_next on_stopped(void)
{
    sem_post(&has_stopped);
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    if (message->status != TR_LIMIT)
        ck_assert_int_eq(message->status, TR_TIMEOUT);
    sem_post(message->status == TR_LIMIT ? &is_refused : &has_closed);
    return TR_SAME;
}

TR_BEHAVIOR(dialer, void, TR_ON(dial_all, on_dial_all), TR_ON(block, on_block),
            TR_ON(leave, on_leave), TR_ON(tr_post_stop, on_stopped), TR_ON(tr_closed, on_closed));

static tr_system *system_;
static tr_client *client;
static dialer_ref dialer;

static void open_dialer(uint32_t threads)
{
    static tr_platform platform;
    platform = *tr_platform_real();
    platform.resolve = resolve_slowly;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 2,
                                       .blocking_threads_max = threads,
                                       .platform = &platform};
    atomic_store(&calls, 0);
    sem_init(&may_return, 0, 0);
    sem_init(&has_begun, 0, 0);
    sem_init(&has_run, 0, 0);
    sem_init(&has_closed, 0, 0);
    sem_init(&is_refused, 0, 0);
    sem_init(&has_stopped, 0, 0);
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &dialer, dialer, NULL), TR_OK);
}

static void close_dialer(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
}

TEST(names_that_hang_leave_threads_for_others, "C-05", "B-10")
{
    open_dialer(THREADS);
    tr_tell(client, dialer, dial_all, .count = DIALS);
    await(&has_begun, TR_LOOKUPS_MAX);
    tr_tell(client, dialer, block);
    await(&has_run, 1);
    ck_assert_int_eq(atomic_load(&calls), TR_LOOKUPS_MAX);
    for (int i = 0; i < DIALS; i++)
        sem_post(&may_return);
    await(&has_closed, DIALS); /* each got its turn */
    ck_assert_int_eq(atomic_load(&calls), DIALS);
    close_dialer();
}

TEST(names_that_hang_leave_a_thread_of_a_few, "C-05", "B-10")
{
    enum { FEW = 3 };
    open_dialer(FEW);
    tr_tell(client, dialer, dial_all, .count = DIALS);
    await(&has_begun, FEW - 1);
    tr_tell(client, dialer, block);
    await(&has_run, 1);
    ck_assert_int_eq(atomic_load(&calls), FEW - 1);
    for (int i = 0; i < DIALS; i++)
        sem_post(&may_return);
    await(&has_closed, DIALS);
    close_dialer();
}

TEST(one_thread_looks_up_a_name_for_all, "C-05")
{
    open_dialer(THREADS);
    tr_tell(client, dialer, dial_all, .count = DIALS, .is_one = true);
    await(&has_begun, 1);
    tr_tell(client, dialer, block); /* behind the dials */
    await(&has_run, 1);
    tr_tell(client, dialer, block);
    await(&has_run, 1);
    sem_post(&may_return);
    sem_post(&may_return); /* if one of them came late */
    await(&has_closed, DIALS);
    ck_assert_int_le(atomic_load(&calls), 2);
    close_dialer();
}

TEST(names_that_wait_are_bounded, "C-05")
{
    open_dialer(THREADS);
    tr_tell(client, dialer, dial_all, .count = TR_LOOKUPS_WAITING_MAX + 2);
    await(&is_refused, 2);
    tr_tell(client, dialer, dial_all, .count = 1); /* shares the look-up of a name that is known */
    for (int i = 0; i < TR_LOOKUPS_WAITING_MAX + 1; i++)
        sem_post(&may_return);
    await(&has_closed, TR_LOOKUPS_WAITING_MAX + 1);
    close_dialer();
}

static void *release_all(void *argument)
{
    (void)argument;
    for (int i = 0; i < DIALS; i++)
        sem_post(&may_return);
    return NULL;
}

TEST(an_actor_ends_while_its_names_hang, "C-05", "X-01")
{
    open_dialer(THREADS);
    tr_tell(client, dialer, dial_all, .count = DIALS);
    await(&has_begun, TR_LOOKUPS_MAX);
    tr_tell(client, dialer, leave);
    await(&has_stopped, 1); /* nothing has returned yet */
    ck_assert_int_eq(atomic_load(&calls), TR_LOOKUPS_MAX);
    /* The shutdown waits for the look-ups that nobody wants, no longer than its time. */
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, release_all, NULL), 0);
    close_dialer();
    ck_assert_int_eq(atomic_load(&calls), TR_LOOKUPS_MAX);
    pthread_join(thread, NULL);
}

SUITE("names of channels on threads", names_that_hang_leave_threads_for_others,
      names_that_hang_leave_a_thread_of_a_few, one_thread_looks_up_a_name_for_all,
      names_that_wait_are_bounded, an_actor_ends_while_its_names_hang)
