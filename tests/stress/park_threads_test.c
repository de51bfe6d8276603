/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Senders that wait for capacity, on real threads: actors of all workers and clients share mailboxes of a
 * few messages. Nothing is lost, every sender's order holds, and nobody is left behind.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <troupe/troupe.h>

enum { WORKERS = 3, SENDERS = 6, RECEIVERS = 3, CLIENTS = 2, SOURCES = SENDERS + CLIENTS };

TR_MESSAGE(number, (u32, from), (u32, n));
TR_MESSAGE(wide_number, (u32, from), (u32, n), (array(u64, 10), rest));
TR_MESSAGE(send_all, (u32, from), (u32, count));
TR_MESSAGE(finished, (u64, wrong));
TR_MESSAGE(report_to, (ref, who), (u64, wanted));
TR_ACTOR(receiver, number, wide_number, report_to);
TR_ACTOR(sender, send_all);

static tr_system *system_;
static tr_client *client;
static receiver_ref receivers[RECEIVERS];
static uint32_t per_pair;
static atomic_uint failures;
static atomic_uint over;

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void system_begin(void)
{
    tr_system_options options = {.workers = WORKERS, .on_log = quiet};
    failures = 0;
    over = 0;
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
}

static void system_end(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, 20 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    ck_assert_uint_eq(counters.live, 0);
    tr_system_free(system_);
}

struct receiver {
    uint32_t expected[SOURCES];
    uint64_t wrong;
    uint64_t received;
    uint64_t wanted;
    tr_ref who;
};

static tr_next take(tr_self *self, struct receiver *state, uint32_t from, uint32_t n)
{
    state->wrong += state->expected[from] != n;
    state->expected[from] = n + 1;
    if (++state->received == state->wanted)
        tr_tell(self, state->who, finished, .wrong = state->wrong);
    return TR_SAME;
}
static tr_next on_number(tr_self *self, struct receiver *state, const struct number *message)
{
    return take(self, state, message->from, message->n);
}
static tr_next on_wide(tr_self *self, struct receiver *state, const struct wide_number *message)
{
    state->wrong += message->rest[9] != message->n;
    return take(self, state, message->from, message->n);
}
static tr_next on_report_to(struct receiver *state, const struct report_to *message)
{
    state->who = message->who;
    state->wanted = message->wanted;
    return TR_SAME;
}
TR_BEHAVIOR(receiver, struct receiver, TR_ON(number, on_number), TR_ON(wide_number, on_wide),
            TR_ON(report_to, on_report_to), TR_OPTIONS(.mailbox_max = 4, .overflow = TR_PARK));

static tr_status send_one(tr_self *self, uint32_t from, uint32_t n, int to)
{
    if (n % 3)
        return tr_tell(self, receivers[to], number, .from = from, .n = n);
    return tr_tell(self, receivers[to], wide_number, .from = from, .n = n, .rest[9] = n);
}

static tr_next on_send_all(tr_self *self, const struct send_all *message)
{
    for (uint32_t n = 0; n < message->count; n++) {
        for (int r = 0; r < RECEIVERS; r++)
            failures += send_one(self, message->from, n, r) != TR_OK;
    }
    over++;
    return TR_SAME;
}
TR_BEHAVIOR(sender, void, TR_ON(send_all, on_send_all));

static void *client_main(void *context)
{
    uint32_t from = *(uint32_t *)context;
    tr_client *mine;
    if (tr_client_new(system_, &mine) != TR_OK)
        return "no client";
    for (uint32_t n = 0; n < per_pair; n++) {
        for (int r = 0; r < RECEIVERS; r++)
            failures += tr_tell(mine, receivers[r], number, .from = from, .n = n) != TR_OK;
    }
    tr_client_free(mine);
    return NULL;
}

TEST(actors_and_clients_share_a_few_places, "MB-08", "MB-10", "M-02", "M-01")
{
    pthread_t threads[CLIENTS];
    uint32_t numbers[CLIENTS];
    per_pair = (uint32_t)test_scale(3000, 100000);
    system_begin();
    for (int r = 0; r < RECEIVERS; r++) {
        ck_assert_int_eq(tr_try_spawn_at(client, &receivers[r], r % WORKERS, receiver, NULL),
                         TR_OK);
        ck_assert_int_eq(tr_tell(client,
                                 receivers[r],
                                 report_to,
                                 .who = tr_client_ref(client),
                                 .wanted = (uint64_t)SOURCES * per_pair),
                         TR_OK);
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        sender_ref sender;
        ck_assert_int_eq(tr_try_spawn_at(client, &sender, (int)i % WORKERS, sender, NULL), TR_OK);
        tr_tell(client, sender, send_all, .from = i, .count = per_pair);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        numbers[i] = SENDERS + i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, client_main, &numbers[i]), 0);
    }
    for (int r = 0; r < RECEIVERS; r++) {
        const struct finished *finished = tr_receive(client, finished, 300 * TR_SECOND);
        ck_assert_ptr_nonnull(finished);
        ck_assert_uint_eq(finished->wrong, 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        void *why;
        pthread_join(threads[i], &why);
        ck_assert_ptr_null(why);
    }
    ck_assert_uint_eq(failures, 0);
    system_end();
}

/* ---- Shutdown, and the end of a receiver. ---- */

static atomic_uint waiting;
static atomic_int client_status[CLIENTS];
static atomic_int sender_status;

static tr_next on_wait(tr_self *self, const struct send_all *message)
{
    tr_status status = TR_OK;
    waiting++;
    for (uint32_t n = 0; n < message->count && status == TR_OK; n++)
        status = tr_tell(self, receivers[0], number, .from = 0, .n = n);
    sender_status = status;
    return TR_SAME;
}
TR_ACTOR(waiter, send_all);
TR_BEHAVIOR(waiter, void, TR_ON(send_all, on_wait));

static void *wait_main(void *context)
{
    uint32_t i = *(uint32_t *)context;
    tr_client *mine;
    if (tr_client_new(system_, &mine) != TR_OK)
        return "no client";
    waiting++;
    client_status[i] = tr_tell(mine, receivers[0], number, .from = 0, .n = 0);
    tr_client_free(mine);
    return NULL;
}

/* Whoever waits for a receiver that is Suspended hears of its end, whichever way it ends. */
static void end_with_waiters(bool by_shutdown)
{
    pthread_t threads[CLIENTS];
    uint32_t numbers[CLIENTS];
    waiter_ref waiter;
    system_begin();
    waiting = 0;
    ck_assert_int_eq(tr_try_spawn_at(client, &receivers[0], 1, receiver, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, receivers[0], 10 * TR_SECOND, NULL), TR_OK);
    ck_assert_int_eq(tr_suspend(client, receivers[0]), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &waiter, 2, waiter, NULL), TR_OK);
    tr_tell(client, waiter, send_all, .from = 0, .count = 5);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        client_status[i] = TR_OK;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_main, &numbers[i]), 0);
    }
    while (waiting < CLIENTS + 1)
        sched_yield();
    if (by_shutdown)
        tr_system_shutdown(system_, 20 * TR_SECOND);
    else
        tr_kill(client, receivers[0]);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        void *why;
        pthread_join(threads[i], &why);
        ck_assert_ptr_null(why);
        ck_assert(client_status[i] == TR_STOPPED || client_status[i] == TR_OK); /* it was early */
    }
    system_end();
    ck_assert(sender_status == TR_STOPPED || sender_status == TR_CANCELLED ||
              sender_status == TR_OK);
}

TEST(a_shutdown_frees_those_who_wait, "M-02", "L-06")
{
    for (uint64_t i = 0; i < test_scale(30, 1000); i++) {
        end_with_waiters(true);
        end_with_waiters(false);
    }
}

/* ---- Rings on several threads. ---- */

TR_MESSAGE(next_is, (ref, next));
TR_ACTOR(link, next_is, number);
struct link {
    uint64_t received;
};
static tr_next on_next_is(tr_self *self, const struct next_is *message)
{
    for (uint32_t n = 0; n < 12; n++)
        failures += tr_tell(self, message->next, number, .from = 0, .n = n) != TR_OK;
    over++;
    return TR_SAME;
}
static tr_next on_link_number(struct link *state)
{
    state->received++;
    return TR_SAME;
}
TR_BEHAVIOR(link, struct link, TR_ON(next_is, on_next_is), TR_ON(number, on_link_number),
            TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));

static tr_time now(void)
{
    const tr_platform *platform = tr_platform_real();
    return platform->mono_now(platform);
}

TEST(a_ring_over_threads_is_broken, "MB-09", "M-02")
{
    for (uint64_t i = 0; i < test_scale(100, 3000); i++) {
        link_ref ring[WORKERS];
        system_begin();
        for (int j = 0; j < WORKERS; j++)
            ck_assert_int_eq(tr_try_spawn_at(client, &ring[j], j, link, NULL), TR_OK);
        tr_time begin_ns = now();
        for (int j = 0; j < WORKERS; j++)
            tr_tell(client, ring[j], next_is, .next = tr_any(ring[(j + 1) % WORKERS]));
        while (over < WORKERS && now() - begin_ns < 60 * TR_SECOND)
            sched_yield();
        ck_assert_uint_eq(over, WORKERS);
        ck_assert_int_lt(now() - begin_ns, TR_PARK_NS); /* by a CYCLE, not by a timeout */
        system_end();
    }
}

/* ---- Several turns of one sender. ---- */

enum { PLODDERS = 4, PLOD_TURNS = 8 };

TR_MESSAGE(plod, (u32, from), (u32, count));
TR_ACTOR(plodder, plod);
TR_ACTOR(counter, number);

static counter_ref counter_one;
static atomic_uint counted;
static atomic_uint overtaken;

struct counter {
    uint32_t last[PLODDERS];
};
static tr_next on_counter_number(tr_self *self, struct counter *state, const struct number *m)
{
    atomic_fetch_add(&overtaken, m->n <= state->last[m->from]);
    state->last[m->from] = m->n;
    if (m->n % 7 == 0)
        (void)tr_sleep(self, 20 * TR_MICROSECOND);
    atomic_fetch_add(&counted, 1);
    return TR_SAME;
}
TR_BEHAVIOR(counter, struct counter, TR_ON(number, on_counter_number, .is_barrier = true),
            TR_OPTIONS(.mailbox_max = 4, .overflow = TR_PARK));

struct plodder {
    uint32_t sent;
};
/* Each turn sleeps and sends, over and over, beside the others of its actor. */
static tr_next on_plod(tr_self *self, struct plodder *state, const struct plod *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        tr_time length_ns = (tr_time)((i * 7 + state->sent) % 5) * 10 * TR_MICROSECOND;
        if (tr_sleep(self, length_ns) != TR_OK)
            return TR_SAME;
        if (tr_tell(self, counter_one, number, .from = m->from, .n = ++state->sent) != TR_OK)
            atomic_fetch_add(&failures, 1);
    }
    return TR_SAME;
}
TR_BEHAVIOR(plodder, struct plodder, TR_ON(plod, on_plod));

TEST(turns_of_one_sender_do_not_overtake_each_other, "M-01", "M-02", "MB-08")
{
    uint32_t count = (uint32_t)test_scale(100, 5000);
    system_begin();
    ck_assert_int_eq(tr_try_spawn_at(client, &counter_one, 0, counter, NULL), TR_OK);
    for (uint32_t i = 0; i < PLODDERS; i++) {
        plodder_ref ref;
        ck_assert_int_eq(tr_try_spawn_at(client, &ref, (int)i % WORKERS, plodder, NULL), TR_OK);
        for (int k = 0; k < PLOD_TURNS; k++)
            ck_assert_int_eq(tr_tell(client, ref, plod, .from = i, .count = count), TR_OK);
    }
    while (counted + failures < PLODDERS * PLOD_TURNS * count)
        sched_yield();
    ck_assert_uint_eq(overtaken, 0);
    system_end();
}

SUITE("park, threads", actors_and_clients_share_a_few_places, a_shutdown_frees_those_who_wait,
      a_ring_over_threads_is_broken, turns_of_one_sender_do_not_overtake_each_other)
