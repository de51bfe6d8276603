/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hundred producers on real threads against one slow consumer: memory stays within the bound of
 * its mailbox, whatever happens to the messages for which there is no capacity.
 */
#include "support/test.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

enum {
    WORKERS = 4,
    PRODUCERS = 100,
    BURST = 50,
    MAILBOX = 5000,               /* messages, */
    MAILBOX_BYTES = 1024 * 1024,  /* and their memory */
    SLOW_NS = 2000,               /* of one message */
    OVERDRAFT = TR_OVERDRAFT_MAX, /* of who drops the oldest */
    BATCH = 64,                   /* envelopes that wait to go home together, of each home */
    POOLS = WORKERS + 1,
    BLOCK = 1024 /* at most, of a message that is not in its envelope */
};

TR_MESSAGE(drop, (u32, from), (u64, n));
TR_MESSAGE(gush, (u32, from), (u64, n), (array(u64, 64), rest)); /* 9 lines more */
TR_MESSAGE(push);
TR_MESSAGE(be_producer, (u32, number), (ref, to));
TR_ACTOR(producer, push);

/* ---- Memory, counted by the platform. ---- */

static tr_platform counting;
static atomic_size_t live_bytes;
static atomic_size_t peak_bytes;

static void *counting_resize(const tr_platform *platform, void *memory, size_t size)
{
    const tr_platform *real = tr_platform_real();
    (void)platform;
    size_t before = memory ? malloc_usable_size(memory) : 0;
    void *resized = real->resize(real, memory, size);
    if (!resized && size)
        return NULL;
    size_t now = resized ? malloc_usable_size(resized) : 0;
    size_t live = atomic_fetch_add(&live_bytes, now - before) + now - before;
    size_t peak = atomic_load(&peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live))
        ;
    return resized;
}

/* ---- The consumer. ---- */

static atomic_uint_fast64_t failures;
static atomic_uint_fast64_t handled;
static atomic_uint_fast64_t taken;
static atomic_uint_fast64_t full;
static atomic_uint_fast64_t stopped;
static atomic_bool is_over;

struct consumer {
    uint64_t last[PRODUCERS];
};

static tr_next consume(tr_self *self, struct consumer *consumer, uint32_t from, uint64_t n)
{
    if (n <= consumer->last[from])
        atomic_fetch_add(&failures, 1);
    consumer->last[from] = n;
    atomic_fetch_add(&handled, 1);
    tr_time end_ns = tr_now(self) + SLOW_NS;
    while (!atomic_load(&is_over) && tr_now(self) < end_ns)
        ;
    return TR_SAME;
}
static tr_next on_drop(tr_self *self, struct consumer *consumer, const struct drop *message)
{
    return consume(self, consumer, message->from, message->n);
}
static tr_next on_gush(tr_self *self, struct consumer *consumer, const struct gush *message)
{
    return consume(self, consumer, message->from, message->n);
}
#define CONSUMER(name, policy)                                                                     \
    TR_BEHAVIOR(name,                                                                              \
                struct consumer,                                                                   \
                TR_ON(drop, on_drop),                                                              \
                TR_ON(gush, on_gush),                                                              \
                TR_OPTIONS(.mailbox_max = MAILBOX,                                                 \
                           .mailbox_bytes_max = MAILBOX_BYTES,                                     \
                           .overflow = policy))
CONSUMER(fails, TR_OVERFLOW_FAIL);
CONSUMER(drops_newest, TR_DROP_NEWEST);
CONSUMER(drops_oldest, TR_DROP_OLDEST);

/* ---- Producers. ---- */

struct producer {
    tr_ref to;
    uint32_t number;
    uint64_t sent;
};

static tr_next set_up_producer(struct producer *producer, const struct be_producer *message)
{
    producer->to = message->to;
    producer->number = message->number;
    return TR_SAME;
}

static tr_next on_push(tr_self *self, struct producer *producer)
{
    uint64_t ok = 0;
    uint64_t no_room = 0;
    for (int i = 0; i < BURST; i++) {
        uint64_t n = ++producer->sent;
        tr_status status =
            n % 8 ? tr_tell(self, producer->to, drop, .from = producer->number, .n = n)
                  : tr_tell(self, producer->to, gush, .from = producer->number, .n = n);
        ok += status == TR_OK;
        no_room += status == TR_MAILBOX_FULL;
    }
    atomic_fetch_add(&taken, ok);
    atomic_fetch_add(&full, no_room);
    /* At the very end the consumer may stop first. */
    atomic_fetch_add(&stopped, BURST - ok - no_room);
    if (!atomic_load(&is_over))
        (void)tr_tell(self, tr_me(self), push);
    return TR_SAME;
}
TR_BEHAVIOR(producer, struct producer, TR_SETUP_WITH(be_producer, set_up_producer),
            TR_ON(push, on_push));

/* ---- The flood. ---- */

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

/*
 * Each pool may have made the envelopes of a whole mailbox at some time, and makes them in slabs
 * that double. What is on its way home or in transit comes on top.
 */
static size_t memory_bound(size_t before, size_t overdraft)
{
    size_t envelopes = MAILBOX + overdraft + PRODUCERS + POOLS * BATCH;
    size_t blocks = (MAILBOX_BYTES / 64 + overdraft) / 10 + PRODUCERS + POOLS * BATCH;
    return before + POOLS * 2 * (envelopes * 64 + blocks * BLOCK);
}

static void flood(const tr_behavior *behavior)
{
    tr_time duration_ns = (tr_time)test_scale(600, 60000) * TR_MILLISECOND;
    tr_system *system;
    tr_client *client;
    counting = *tr_platform_real();
    counting.resize = counting_resize;
    const tr_system_options options = {
        .size = sizeof options, .workers = WORKERS, .on_log = quiet, .platform = &counting};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    const tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .worker = 0};
    uint64_t consumer;
    ck_assert_int_eq(tr_client_try_spawn(client, &args, &consumer), TR_OK);
    static producer_ref producers[PRODUCERS];
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        ck_assert_int_eq(tr_try_spawn_at(client,
                                         &producers[i],
                                         (int)i % WORKERS,
                                         producer,
                                         NULL,
                                         be_producer,
                                         .number = i,
                                         .to = tr_ref_from_bits(consumer)),
                         TR_OK);
        ck_assert_int_eq(tr_spawn_wait(client, producers[i], TR_MINUTE, NULL), TR_OK);
    }
    bool drops_oldest = behavior->options.overflow == TR_DROP_OLDEST;
    size_t bound = memory_bound(atomic_load(&live_bytes), drops_oldest ? OVERDRAFT : 0);
    for (uint32_t i = 0; i < PRODUCERS; i++)
        ck_assert_int_eq(tr_tell(client, producers[i], push), TR_OK);
    /* Nobody sends to the client: so long the flood lasts, and until it was one. */
    uint64_t many = TEST_HAS_SANITIZER ? 10 * MAILBOX : 3 * bound / 64;
    do {
        ck_assert_ptr_null(tr_receive(client, push, duration_ns));
    } while (atomic_load(&taken) + atomic_load(&full) < many);
    size_t peak = atomic_load(&peak_bytes);
    atomic_store(&is_over, true);
    tr_client_free(client);
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_counters counters;
    tr_system_counters(system, &counters);
    uint64_t sent = atomic_load(&taken) + atomic_load(&full);
    printf("# %" PRIu64 " sent, %" PRIu64 " handled; %zu KiB of memory, at most %zu\n",
           sent,
           atomic_load(&handled),
           peak / 1024,
           bound / 1024);
    ck_assert_uint_eq(atomic_load(&failures), 0);
    ck_assert_uint_le(peak, bound);
    uint64_t dead = counters.dead_letters - counters.refused;
    ck_assert_uint_eq(counters.accepted, counters.handled + dead);
    ck_assert_uint_eq(counters.refused, atomic_load(&full) + atomic_load(&stopped));
    ck_assert_uint_le(atomic_load(&stopped), PRODUCERS * BURST);
    ck_assert_uint_eq(tr_system_dead_letters(system, NULL, 0, NULL), counters.dead_letters);
    tr_system_free(system);
    ck_assert_uint_eq(atomic_load(&live_bytes), 0);
}

TEST(a_flood_that_is_refused_stays_within_the_bound, "M-02", "M-04", "MB-01", "MB-02", "MB-06")
{
    flood(&tr_behavior_fails);
    ck_assert_uint_gt(atomic_load(&full), 0);
}

TEST(a_flood_whose_newest_are_dropped_stays_within_the_bound, "M-02", "M-04", "MB-01", "MB-06")
{
    flood(&tr_behavior_drops_newest);
    ck_assert_uint_eq(atomic_load(&full), 0);
}

TEST(a_flood_whose_oldest_are_dropped_stays_within_the_bound, "M-02", "M-04", "MB-01", "MB-06")
{
    flood(&tr_behavior_drops_oldest);
}

SUITE("flood", a_flood_that_is_refused_stays_within_the_bound,
      a_flood_whose_newest_are_dropped_stays_within_the_bound,
      a_flood_whose_oldest_are_dropped_stays_within_the_bound)
