/* SPDX-License-Identifier: Apache-2.0 */
/**
 * More workers while a system runs: nothing is lost, who has a name keeps it, and new ones are placed
 * by the new ring.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <troupe/troupe.h>

enum { MOST = 8, NAMES = 40, SECONDS = 60 };

TR_MESSAGE(counted, (u64, n), (u32, worker));
TR_REQUEST(count, counted, (u64, n));
TR_MESSAGE(grow, (u32, workers), (ref, judge));
TR_MESSAGE(grown, (i32, status));
TR_ACTOR(counter, count, grow);

struct counter {
    uint64_t n;
};

static tr_next on_count(tr_self *self, struct counter *counter, const struct count *message)
{
    counter->n += message->n;
    return tr_reply(self, counted, .n = counter->n, .worker = (uint32_t)tr_worker(self));
}

static tr_next on_grow(tr_self *self, const struct grow *message)
{
    tr_status status = tr_system_set_workers(tr_system_of(self), (int)message->workers);
    tr_tell(self, message->judge, grown, .status = status);
    return TR_SAME;
}

TR_BEHAVIOR(counter, struct counter, TR_ON(count, on_count), TR_ON(grow, on_grow));

static tr_system *system_;
static tr_client *client;

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void open_system(tr_system_options options)
{
    options.size = sizeof options;
    options.on_log = no_log;
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
}

static void begin(tr_system_options options)
{
    open_system(options);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
}

static void end(void)
{
    tr_counters counters;
    tr_client_free(client);
    tr_system_shutdown(system_, SECONDS * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.dead_letters, 0);
    tr_system_free(system_);
}

static const char *name_of(int number)
{
    static char name[32];
    snprintf(name, sizeof name, "user-%d", number);
    return name;
}

static struct counted ask(counter_ref counter, uint64_t n)
{
    const struct counted *answer;
    ck_assert_int_eq(
        tr_try_await(
            client, tr_ask_within(client, SECONDS * TR_SECOND, counter, count, .n = n), &answer),
        TR_OK);
    return *answer;
}

static counter_ref spawn(int number)
{
    counter_ref counter;
    ck_assert_int_eq(tr_try_pool_spawn(client, &counter, counter, name_of(number)), TR_OK);
    return counter;
}

TEST(names_keep_their_worker_and_new_ones_use_the_new_ring, "P-06", "WP-16")
{
    counter_ref counters[NAMES];
    uint32_t places[NAMES];
    int known = 0;
    begin((tr_system_options){.workers = 1, .workers_max = MOST});
    for (int workers = 1; workers <= MOST; workers++) {
        ck_assert_int_eq(tr_system_set_workers(system_, workers), TR_OK);
        ck_assert_int_eq(tr_system_workers(system_), workers);
        for (int i = 0; i < NAMES / MOST; i++, known++) {
            counters[known] = spawn(known);
            places[known] = ask(counters[known], 0).worker;
            ck_assert_int_eq((int)places[known], tr_pool_worker_of(name_of(known), workers));
        }
        for (int i = 0; i < known; i++) {
            ck_assert_uint_eq(spawn(i).bits, counters[i].bits);
            ck_assert_uint_eq(ask(counters[i], 1).worker, places[i]);
        }
    }
    ck_assert_uint_eq(ask(counters[0], 0).n, MOST);
    end();
}

/* ---- While there is much to do. ---- */

static atomic_bool is_over;

struct sender {
    pthread_t thread;
    uint64_t sent[NAMES];
};

static void *send_much(void *context)
{
    struct sender *sender = context;
    tr_client *mine;
    char name[32];
    ck_assert_int_eq(tr_client_new(system_, &mine), TR_OK);
    for (unsigned i = 0; !atomic_load(&is_over) || i < 4 * NAMES; i++) {
        counter_ref counter;
        snprintf(name, sizeof name, "user-%u", i % NAMES);
        ck_assert_int_eq(tr_try_pool_spawn(mine, &counter, counter, name), TR_OK);
        const struct counted *answer;
        ck_assert_int_eq(
            tr_try_await(
                mine, tr_ask_within(mine, SECONDS * TR_SECOND, counter, count, .n = 1), &answer),
            TR_OK);
        sender->sent[i % NAMES]++;
    }
    tr_client_free(mine);
    return NULL;
}

TEST(nothing_is_lost_meanwhile, "P-06", "WP-16")
{
    for (uint64_t round = 0; round < test_scale(10, 300); round++) {
        struct sender senders[3] = {0};
        atomic_store(&is_over, false);
        begin((tr_system_options){.workers = 1, .workers_max = MOST});
        for (int i = 0; i < 3; i++)
            pthread_create(&senders[i].thread, NULL, send_much, &senders[i]);
        for (int workers = 2; workers <= MOST; workers++)
            ck_assert_int_eq(tr_system_set_workers(system_, workers), TR_OK);
        atomic_store(&is_over, true);
        for (int i = 0; i < 3; i++)
            pthread_join(senders[i].thread, NULL);
        for (int i = 0; i < NAMES; i++) {
            uint64_t sent = senders[0].sent[i] + senders[1].sent[i] + senders[2].sent[i];
            ck_assert_uint_eq(ask(spawn(i), 0).n, sent);
        }
        end();
    }
}

/* ---- What is not possible. ---- */

TEST(numbers_that_cannot_be_are_refused, "P-06")
{
    begin((tr_system_options){.workers = 2, .workers_max = 3});
    ck_assert_int_eq(tr_system_set_workers(NULL, 1), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_set_workers(system_, 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_set_workers(system_, -1), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_set_workers(system_, 4), TR_LIMIT);
    ck_assert_int_eq(tr_system_set_workers(system_, TR_WORKERS_MAX + 1), TR_LIMIT);
    ck_assert_int_eq(tr_system_set_workers(system_, 2), TR_OK);
    ck_assert_int_eq(tr_system_workers(system_), 2);
    counter_ref counter;
    ck_assert_int_eq(tr_try_spawn_at(client, &counter, 2, counter, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_system_set_workers(system_, 3), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &counter, 2, counter, NULL), TR_OK);
    ck_assert_uint_eq(ask(counter, 1).worker, 2);
    end();
    const tr_system_options many = {.size = sizeof many, .workers_max = TR_WORKERS_MAX + 1};
    const tr_system_options less = {.size = sizeof less, .workers_max = -1};
    ck_assert_int_eq(tr_system_new(&many, &system_), TR_LIMIT);
    ck_assert_int_eq(tr_system_new(&less, &system_), TR_INVALID_ARGUMENT);
}

TEST(without_a_maximum_there_is_no_room, "P-06")
{
    begin((tr_system_options){.workers = 2});
    ck_assert_int_eq(tr_system_set_workers(system_, 3), TR_LIMIT);
    end();
}

TEST(a_system_may_grow_before_it_starts, "P-06")
{
    open_system((tr_system_options){.workers = 1, .workers_max = 4});
    ck_assert_int_eq(tr_system_set_workers(system_, 3), TR_OK);
    counter_ref counter;
    ck_assert_int_eq(tr_try_spawn_at(client, &counter, 2, counter, NULL), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_uint_eq(ask(counter, 1).worker, 2);
    end();
}

TEST(a_system_that_stops_does_not_grow, "P-06")
{
    begin((tr_system_options){.workers = 1, .workers_max = 4});
    tr_client_free(client);
    tr_system_shutdown(system_, SECONDS * TR_SECOND);
    ck_assert_int_eq(tr_system_set_workers(system_, 3), TR_STOPPING);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    ck_assert_int_eq(tr_system_set_workers(system_, 3), TR_STOPPING);
    tr_system_free(system_);
}

static void *shut_down(void *context)
{
    (void)context;
    tr_system_shutdown(system_, SECONDS * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    return NULL;
}

TEST(a_system_may_end_while_it_grows, "P-06", "WP-16")
{
    for (uint64_t round = 0; round < test_scale(50, 2000); round++) {
        pthread_t thread;
        tr_status status = TR_OK;
        begin((tr_system_options){.workers = 1, .workers_max = MOST});
        (void)spawn(1);
        tr_client_free(client);
        pthread_create(&thread, NULL, shut_down, NULL);
        for (int workers = 2; workers <= MOST && status == TR_OK; workers++)
            status = tr_system_set_workers(system_, workers);
        ck_assert(status == TR_OK || status == TR_STOPPING);
        pthread_join(thread, NULL);
        tr_system_free(system_);
    }
}

TEST(a_handler_may_ask_for_more, "P-06")
{
    begin((tr_system_options){.workers = 1, .workers_max = 4});
    counter_ref counter = spawn(0);
    tr_tell(client, counter, grow, .workers = 4, .judge = tr_client_ref(client));
    const struct grown *grown = tr_receive(client, grown, SECONDS * TR_SECOND);
    ck_assert_ptr_nonnull(grown);
    ck_assert_int_eq(grown->status, TR_OK);
    ck_assert_int_eq(tr_system_workers(system_), 4);
    end();
}

/* ---- on_worker_start. ---- */

static atomic_int calls[MOST];
static atomic_int bad_worker;
static atomic_int status_inside;

static tr_status on_worker_start(tr_system *system, int worker, void *context)
{
    (void)context;
    atomic_fetch_add(&calls[worker], 1);
    atomic_store(&status_inside, tr_system_set_workers(system, MOST));
    return worker == atomic_load(&bad_worker) ? TR_BAD_DATA : TR_OK;
}

TEST(a_new_worker_starts_as_the_first_ones_did, "P-06", "P-03")
{
    atomic_store(&bad_worker, 3);
    begin(
        (tr_system_options){.workers = 2, .workers_max = MOST, .on_worker_start = on_worker_start});
    ck_assert_int_eq(atomic_load(&status_inside), TR_WOULD_DEADLOCK);
    ck_assert_int_eq(tr_system_set_workers(system_, MOST), TR_BAD_DATA);
    ck_assert_int_eq(atomic_load(&status_inside), TR_WOULD_DEADLOCK);
    ck_assert_int_eq(tr_system_workers(system_), 2);
    (void)ask(spawn(0), 1);
    atomic_store(&bad_worker, -1);
    ck_assert_int_eq(tr_system_set_workers(system_, MOST), TR_OK);
    ck_assert_int_eq(tr_system_workers(system_), MOST);
    for (int i = 0; i < MOST; i++)
        ck_assert_int_eq(atomic_load(&calls[i]), i == 3 ? 2 : 1);
    for (int i = 0; i < NAMES; i++)
        (void)ask(spawn(i), 1);
    end();
}

SUITE("pool that grows", names_keep_their_worker_and_new_ones_use_the_new_ring,
      nothing_is_lost_meanwhile, numbers_that_cannot_be_are_refused,
      without_a_maximum_there_is_no_room, a_system_may_grow_before_it_starts,
      a_system_that_stops_does_not_grow, a_system_may_end_while_it_grows,
      a_handler_may_ask_for_more, a_new_worker_starts_as_the_first_ones_did)
