/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The number of workers changes all the time while real threads send: nothing is lost, and the order of
 * each sender holds.
 */
#include "support/test.h"

#include <stdatomic.h>
#include <troupe/troupe.h>

enum { WORKERS = 4, ACTORS = 32, IN_FLIGHT = 4 };

TR_MESSAGE(number, (u32, from), (u64, n), (u32, hops));
TR_MESSAGE(index_is, (u32, index));
TR_MESSAGE(over, (u64, heard));
TR_ACTOR(walker, number);

struct walker {
    uint32_t index;
    uint64_t sent[ACTORS];
    uint64_t heard[ACTORS];
};

static walker_ref walkers[ACTORS];
static atomic_uint_fast64_t told;
static atomic_uint_fast64_t heard;
static atomic_uint_fast64_t wrong;
static atomic_uint_fast64_t ended;

static tr_next set_up(struct walker *walker, const struct index_is *message)
{
    walker->index = message->index;
    return TR_SAME;
}

static tr_next on_number(tr_self *self, struct walker *walker, const struct number *message)
{
    if (message->from < ACTORS) {
        wrong += walker->heard[message->from]++ != message->n;
        heard++;
    }
    if (!message->hops) {
        ended++;
        return TR_SAME;
    }
    uint32_t to = (walker->index + 1 + message->hops * 5) % ACTORS;
    told++;
    (void)tr_tell(self,
                  walkers[to],
                  number,
                  .from = walker->index,
                  .n = walker->sent[to]++,
                  .hops = message->hops - 1);
    return TR_SAME;
}

TR_BEHAVIOR(walker, struct walker, TR_SETUP_WITH(index_is, set_up), TR_ON(number, on_number));

static void play(uint32_t hops, bool is_restless)
{
    tr_system *system;
    tr_client *client;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 2,
                                       .workers_max = WORKERS,
                                       .balance =
                                           is_restless ? TR_BALANCE_RESTLESS : TR_BALANCE_ON};
    told = heard = wrong = ended = 0;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (uint32_t i = 0; i < ACTORS; i++)
        ck_assert_int_eq(
            tr_try_spawn_at(client, &walkers[i], (int)i % 2, walker, NULL, index_is, .index = i),
            TR_OK);
    for (uint32_t i = 0; i < ACTORS * IN_FLIGHT; i++)
        ck_assert_int_eq(
            tr_tell(client, walkers[i % ACTORS], number, .from = ACTORS, .n = 0, .hops = hops),
            TR_OK);
    uint32_t dice = 1;
    while (ended < ACTORS * IN_FLIGHT) {
        dice = dice * 1664525u + 1013904223u;
        ck_assert_int_eq(tr_system_set_workers(system, 1 + (int)(dice >> 24) % WORKERS), TR_OK);
        ck_assert_ptr_null(tr_receive(client, over, TR_MILLISECOND));
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(heard, told);
    ck_assert_uint_eq(told, (uint64_t)hops * ACTORS * IN_FLIGHT);
    tr_client_free(client);
    tr_system_shutdown(system, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.live, 0);
    tr_system_free(system);
}

TEST(numbers_arrive_whatever_the_number_of_workers, "P-06", "WP-16", "D-07")
{
    play((uint32_t)TEST_SEEDS(4000), false);
    play((uint32_t)TEST_SEEDS(4000), true);
}

SUITE("workers that come and go, on threads", numbers_arrive_whatever_the_number_of_workers)
