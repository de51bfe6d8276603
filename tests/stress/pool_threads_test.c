/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pool on real threads: a thousand callers at once get one actor, whatever they do to each other.
 */
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

enum { WORKERS = 4, CLIENTS = 4 /* even */, CALLERS = 1000, NAMES = 16, SECONDS = 60 };

TR_MESSAGE(counted, (u64, n), (u32, worker));
TR_REQUEST(count, counted);
TR_MESSAGE(leave);
TR_MESSAGE(fall);
TR_MESSAGE(done, (u64, bits));
TR_MESSAGE(go, (u32, number), (ref, judge));
TR_ACTOR(counter, count, leave, fall);
TR_ACTOR(rival, count);
TR_ACTOR(caller, go);

static atomic_ullong born; /* counters that were set up */
static atomic_ullong names_born[NAMES];
static int worker_count;

struct counter {
    uint64_t n;
};

static tr_next set_up(tr_self *self)
{
    int number;
    atomic_fetch_add(&born, 1);
    ck_assert_int_eq(tr_worker(self), tr_pool_worker_of(tr_name(self), worker_count));
    if (sscanf(tr_name(self), "name-%d", &number) == 1)
        atomic_fetch_add(&names_born[number], 1);
    return TR_SAME;
}

static tr_next on_count(tr_self *self, struct counter *counter)
{
    counter->n++;
    return tr_reply(self, counted, .n = counter->n, .worker = (uint32_t)tr_worker(self));
}

static tr_next on_leave(void)
{
    return TR_STOP;
}

static tr_next on_fall(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "on purpose");
}

TR_BEHAVIOR(counter, struct counter, TR_SETUP(set_up), TR_ON(count, on_count),
            TR_ON(leave, on_leave), TR_ON(fall, on_fall));
TR_BEHAVIOR(rival, struct counter, TR_ON(count, on_count));

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static tr_system *begin(int workers)
{
    static const tr_supervision often = {.restarts_max = TR_RESTARTS_MAX};
    const tr_system_options options = {.size = sizeof options,
                                       .workers = workers,
                                       .on_log = no_log,
                                       .pool_supervision = &often,
                                       .turn_report_ns = -1};
    tr_system *system;
    worker_count = workers;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    return system;
}

/* Everything that was taken has come to an end. */
static void end(tr_system *system)
{
    tr_counters counters;
    tr_system_shutdown(system, SECONDS * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.queued, 0);
    tr_system_free(system);
}

/* ---- All at once. ---- */

static tr_next on_go(tr_self *self, const struct go *message)
{
    counter_ref counter = tr_pool_spawn(self, counter, "one");
    (void)tr_await(self, tr_ask_within(self, SECONDS * TR_SECOND, counter, count));
    tr_tell(self, message->judge, done, .bits = counter.bits);
    return TR_STOP;
}

TR_BEHAVIOR(caller, void, TR_ON(go, on_go));

struct thread {
    pthread_t thread;
    tr_system *system;
    unsigned index;
    uint64_t bits;
    uint64_t good;
};

static void *call_once(void *context)
{
    struct thread *thread = context;
    tr_client *client;
    counter_ref counter;
    const struct counted *answer;
    ck_assert_int_eq(tr_client_new(thread->system, &client), TR_OK);
    ck_assert_int_eq(tr_try_pool_spawn(client, &counter, counter, "one"), TR_OK);
    ck_assert_int_eq(
        tr_try_await(client, tr_ask_within(client, SECONDS * TR_SECOND, counter, count), &answer),
        TR_OK);
    thread->bits = counter.bits;
    tr_client_free(client);
    return NULL;
}

TEST(a_thousand_callers_get_one_actor, "P-02", "WP-14")
{
    for (uint64_t round = 0; round < test_scale(20, 500); round++) {
        struct thread threads[CLIENTS] = {0};
        tr_client *client;
        tr_system *system = begin(WORKERS);
        ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
        atomic_store(&born, 0);
        for (int i = 0; i < CALLERS; i++) {
            caller_ref caller;
            ck_assert_int_eq(tr_try_spawn_at(client, &caller, i % WORKERS, caller, NULL), TR_OK);
            tr_tell(client, caller, go, .number = (uint32_t)i, .judge = tr_client_ref(client));
            /* In the middle of it. */
            for (unsigned c = 0; i == CALLERS / 2 && c < CLIENTS; c++) {
                threads[c] = (struct thread){.system = system, .index = c};
                pthread_create(&threads[c].thread, NULL, call_once, &threads[c]);
            }
        }
        uint64_t bits = 0;
        for (int i = 0; i < CALLERS; i++) {
            const struct done *done = tr_receive(client, done, SECONDS * TR_SECOND);
            ck_assert_ptr_nonnull(done);
            ck_assert(!bits || bits == done->bits);
            bits = done->bits;
        }
        for (unsigned c = 0; c < CLIENTS; c++) {
            pthread_join(threads[c].thread, NULL);
            ck_assert_uint_eq(threads[c].bits, bits);
        }
        const struct counted *answer;
        counter_ref counter = tr_pool_find(client, counter, "one");
        ck_assert_int_eq(tr_try_await(client,
                                      tr_ask_within(client, SECONDS * TR_SECOND, counter, count),
                                      &answer),
                         TR_OK);
        ck_assert_uint_eq(answer->n, CALLERS + CLIENTS + 1);
        ck_assert_uint_eq(atomic_load(&born), 1);
        tr_client_free(client);
        end(system);
    }
}

/* ---- Two behaviors race for a name: one of them has it. ---- */

static unsigned race_count;
static atomic_uint arrived;

static void *race(void *context)
{
    struct thread *thread = context;
    tr_client *client;
    char name[32];
    ck_assert_int_eq(tr_client_new(thread->system, &client), TR_OK);
    for (unsigned i = 0; i < race_count; i++) {
        counter_ref counter = {0};
        /* Nobody is ahead of the others for long. */
        atomic_fetch_add(&arrived, 1);
        while (atomic_load(&arrived) < (i + 1) * CLIENTS)
            sched_yield();
        rival_ref rival = {0};
        snprintf(name, sizeof name, "race-%u", i);
        tr_status status = thread->index % 2 ? tr_try_pool_spawn(client, &counter, counter, name)
                                             : tr_try_pool_spawn(client, &rival, rival, name);
        ck_assert(status == TR_OK || status == TR_NAME_EXISTS);
        tr_ref mine = thread->index % 2 ? tr_any(counter) : tr_any(rival);
        tr_ref found = thread->index % 2 ? tr_any(tr_pool_find(client, counter, name))
                                         : tr_any(tr_pool_find(client, rival, name));
        ck_assert_uint_eq(found.bits, mine.bits);
        /* It can be told something as soon as it is known. */
        if (status == TR_OK)
            ck_assert_int_eq(tr_tell(client, counter_ref_of(mine), count), TR_OK);
        thread->good += status == TR_OK;
    }
    tr_client_free(client);
    return NULL;
}

TEST(of_two_behaviors_one_has_the_name, "P-02")
{
    struct thread threads[CLIENTS] = {0};
    tr_system *system = begin(2);
    race_count = (unsigned)test_scale(3000, 1000000);
    for (unsigned c = 0; c < CLIENTS; c++) {
        threads[c] = (struct thread){.system = system, .index = c};
        pthread_create(&threads[c].thread, NULL, race, &threads[c]);
    }
    uint64_t good = 0;
    for (unsigned c = 0; c < CLIENTS; c++) {
        pthread_join(threads[c].thread, NULL);
        good += threads[c].good;
    }
    ck_assert_uint_eq(good, (uint64_t)race_count * CLIENTS / 2);
    end(system);
}

/* ---- Spawned, stopped, failed, found and told, all the time. ---- */

static atomic_bool is_over;

static void *churn(void *context)
{
    struct thread *thread = context;
    tr_client *client;
    char name[32];
    char path[48];
    uint64_t seed = thread->index * 7919 + 1;
    ck_assert_int_eq(tr_client_new(thread->system, &client), TR_OK);
    while (!atomic_load(&is_over)) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned number = (unsigned)(seed >> 40) % NAMES;
        unsigned what = (unsigned)(seed >> 33) % 16;
        counter_ref counter = {0};
        snprintf(name, sizeof name, "name-%u", number);
        snprintf(path, sizeof path, "/user/%s", name);
        tr_status status = tr_try_pool_spawn(client, &counter, counter, name);
        ck_assert(status == TR_OK || status == TR_STOPPING);
        if (status != TR_OK)
            continue;
        thread->good++;
        (void)tr_find(client, counter, path);
        if (what == 0)
            tr_tell(client, counter, leave);
        else if (what == 1)
            tr_tell(client, counter, fall);
        else if (what == 2)
            tr_kill(client, counter);
        else if (what < 5) {
            const struct counted *answer;
            status = tr_try_await(
                client, tr_ask_within(client, SECONDS * TR_SECOND, counter, count), &answer);
            if (status == TR_OK)
                ck_assert_int_eq((int)answer->worker, tr_pool_worker_of(name, worker_count));
        } else {
            tr_tell(client, counter, count);
        }
    }
    tr_client_free(client);
    return NULL;
}

TEST(names_come_and_go_on_all_threads, "P-02", "P-05", "WP-14")
{
    struct thread threads[CLIENTS] = {0};
    tr_system *system = begin(WORKERS);
    tr_client *client;
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (unsigned c = 0; c < CLIENTS; c++) {
        threads[c] = (struct thread){.system = system, .index = c};
        pthread_create(&threads[c].thread, NULL, churn, &threads[c]);
    }
    /* Until enough of them have lived. */
    while (atomic_load(&born) < test_scale(5000, 1000000))
        ck_assert_ptr_null(tr_receive(client, done, TR_MILLISECOND));
    atomic_store(&is_over, true);
    for (unsigned c = 0; c < CLIENTS; c++) {
        pthread_join(threads[c].thread, NULL);
        ck_assert_uint_gt(threads[c].good, 0);
    }
    for (int i = 0; i < NAMES; i++)
        ck_assert_uint_gt(atomic_load(&names_born[i]), 0);
    tr_client_free(client);
    end(system);
}

/* ---- While the system goes down. ---- */

static void *until_stopping(void *context)
{
    struct thread *thread = context;
    tr_client *client;
    char name[32];
    tr_status status;
    if (tr_client_new(thread->system, &client) != TR_OK)
        return NULL;
    for (unsigned i = 0;; i++) {
        counter_ref counter = {0};
        snprintf(name, sizeof name, "late-%u-%u", thread->index, i);
        status = tr_try_pool_spawn(client, &counter, counter, name);
        if (status != TR_OK)
            break;
        tr_tell(client, counter, count);
    }
    ck_assert_int_eq(status, TR_STOPPING);
    tr_client_free(client);
    return NULL;
}

TEST(a_spawn_while_the_system_stops_is_told_so, "P-02")
{
    for (uint64_t round = 0; round < test_scale(30, 1000); round++) {
        struct thread threads[CLIENTS] = {0};
        tr_system *system = begin(2);
        for (unsigned c = 0; c < CLIENTS; c++) {
            threads[c] = (struct thread){.system = system, .index = c};
            pthread_create(&threads[c].thread, NULL, until_stopping, &threads[c]);
        }
        tr_system_shutdown(system, SECONDS * TR_SECOND);
        for (unsigned c = 0; c < CLIENTS; c++)
            pthread_join(threads[c].thread, NULL);
        ck_assert_int_eq(tr_system_wait(system), TR_OK);
        tr_system_free(system);
    }
}

SUITE("pool on threads", a_thousand_callers_get_one_actor, of_two_behaviors_one_has_the_name,
      names_come_and_go_on_all_threads, a_spawn_while_the_system_stops_is_told_so)
