/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fewer workers, and more again, while actors run: nothing is lost, order holds, and nobody stays behind
 * who can go.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

enum { WORKERS = 4, ACTORS = 12 };

TR_MESSAGE(place, (u32, worker), (u64, seen));
TR_REQUEST(look, place);
TR_MESSAGE(number, (u32, from), (u64, n));
TR_MESSAGE(go_on, (u32, left));
TR_MESSAGE(answer);
TR_REQUEST(question, answer);
TR_MESSAGE(doze, (u64, ns));
TR_ACTOR(walker, look, number, go_on, doze);
TR_ACTOR(pinned, look);

struct walker {
    uint32_t index;
    uint64_t seen;
    uint64_t sent[ACTORS];
    uint64_t heard[ACTORS];
};

static tr_kit *kit;
static tr_client *test;
static walker_ref walkers[ACTORS];
static uint64_t told;
static uint64_t heard;

TR_MESSAGE(index_is, (u32, index));

static tr_next set_up(struct walker *walker, const struct index_is *message)
{
    walker->index = message->index;
    return TR_SAME;
}

static tr_next on_look(tr_self *self, struct walker *walker)
{
    return tr_reply(self, place, .worker = (uint32_t)tr_worker(self), .seen = walker->seen);
}

static tr_next on_number(struct walker *walker, const struct number *message)
{
    ck_assert_uint_eq(message->n, walker->heard[message->from]);
    walker->heard[message->from]++;
    walker->seen++;
    heard++;
    return TR_SAME;
}

static tr_next on_go_on(tr_self *self, struct walker *walker, const struct go_on *message)
{
    uint32_t to = (walker->index * 7 + message->left) % ACTORS;
    told++;
    (void)tr_tell(self, walkers[to], number, .from = walker->index, .n = walker->sent[to]++);
    if (message->left)
        (void)tr_tell(self, walkers[walker->index], go_on, .left = message->left - 1);
    return TR_SAME;
}

static tr_next on_doze(tr_self *self, struct walker *walker, const struct doze *message)
{
    (void)tr_sleep(self, (tr_time)message->ns);
    walker->seen++;
    return TR_SAME;
}

TR_BEHAVIOR(walker, struct walker, TR_SETUP_WITH(index_is, set_up), TR_ON(look, on_look),
            TR_ON(number, on_number), TR_ON(go_on, on_go_on), TR_ON(doze, on_doze));

static tr_next on_look_pinned(tr_self *self)
{
    return tr_reply(self, place, .worker = (uint32_t)tr_worker(self));
}

TR_BEHAVIOR(pinned, void, TR_ON(look, on_look_pinned), TR_OPTIONS(.is_pinned = true));

static void begin(uint64_t seed, bool moves)
{
    const tr_kit_options options = {
        .size = sizeof options, .seed = seed, .workers = WORKERS, .moves = moves};
    kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    told = 0;
    heard = 0;
    for (uint32_t i = 0; i < ACTORS; i++)
        ck_assert_int_eq(
            tr_try_spawn_at(
                test, &walkers[i], (int)(i % WORKERS), walker, NULL, index_is, .index = i),
            TR_OK);
    tr_kit_settle(kit);
}

static void change(int workers)
{
    ck_assert_int_eq(tr_system_set_workers(tr_kit_system(kit), workers), TR_OK);
    ck_assert_int_eq(tr_system_workers(tr_kit_system(kit)), workers);
}

static struct place place_of(walker_ref walker)
{
    const struct place *reply;
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, walker, look), &reply), TR_OK);
    return *reply;
}

TEST(those_who_wait_leave_with_all_they_have, "P-06", "WP-16")
{
    for (int left = 1; left < WORKERS; left++) {
        begin((uint64_t)left, false);
        for (uint32_t i = 0; i < ACTORS; i++)
            ck_assert_int_eq(tr_tell(test, walkers[i], go_on, .left = 3), TR_OK);
        tr_kit_settle(kit);
        change(left);
        tr_kit_advance(kit, 5 * TR_MILLISECOND);
        uint64_t seen = 0;
        bool is_used[WORKERS] = {false};
        for (uint32_t i = 0; i < ACTORS; i++) {
            struct place place = place_of(walkers[i]);
            ck_assert_uint_lt(place.worker, (unsigned)left);
            is_used[place.worker] = true;
            seen += place.seen;
        }
        ck_assert_uint_eq(seen, told);
        for (int i = 0; i < left; i++)
            ck_assert(is_used[i]); /* each has its share */
        tr_kit_free(kit);
    }
}

TEST(a_turn_that_waits_is_waited_for, "P-06", "WP-16")
{
    begin(1, false);
    ck_assert_int_eq(tr_tell(test, walkers[3], doze, .ns = 50 * TR_MILLISECOND), TR_OK);
    tr_kit_settle(kit);
    change(3);
    tr_kit_advance(kit, 20 * TR_MILLISECOND);
    ck_assert_uint_eq(place_of(walkers[3]).worker, 3);
    ck_assert_uint_lt(place_of(walkers[7]).worker, 3);
    tr_kit_advance(kit, 40 * TR_MILLISECOND);
    struct place place = place_of(walkers[3]);
    ck_assert_uint_lt(place.worker, 3);
    ck_assert_uint_eq(place.seen, 1);
    tr_kit_free(kit);
}

TEST(who_is_pinned_stays_and_is_reached, "P-06")
{
    begin(1, false);
    pinned_ref pinned;
    ck_assert_int_eq(tr_try_spawn_at(test, &pinned, 2, pinned, NULL), TR_OK);
    tr_kit_settle(kit);
    change(1);
    tr_kit_advance(kit, 10 * TR_MILLISECOND);
    const struct place *reply;
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, pinned, look), &reply), TR_OK);
    ck_assert_uint_eq(reply->worker, 2);
    tr_kit_free(kit);
}

TEST(a_worker_that_comes_back_is_used, "P-06")
{
    begin(1, false);
    change(2);
    tr_kit_advance(kit, 5 * TR_MILLISECOND);
    walker_ref late;
    /* Who names a worker that is not there any more begins on another. */
    ck_assert_int_eq(tr_try_spawn_at(test, &late, 3, walker, NULL, index_is, .index = 0), TR_OK);
    ck_assert_uint_lt(place_of(late).worker, 2);
    change(4);
    ck_assert_int_eq(tr_try_spawn_at(test, &late, 3, walker, NULL, index_is, .index = 0), TR_OK);
    tr_kit_advance(kit, 20 * TR_MILLISECOND);
    ck_assert_uint_eq(place_of(late).worker, 3);
    for (uint32_t i = 0; i < ACTORS; i++)
        ck_assert_uint_lt(place_of(walkers[i]).worker, 2); /* nobody moves back without need */
    tr_kit_free(kit);
}

TEST(any_change_at_any_moment_loses_nothing, "P-06", "WP-16", "WP-15")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(200); seed++) {
        begin(seed, seed % 2);
        uint64_t dice = seed;
        for (uint32_t i = 0; i < ACTORS; i++)
            ck_assert_int_eq(tr_tell(test, walkers[i], go_on, .left = 60), TR_OK);
        bool has_more = true;
        while (has_more) {
            dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
            if (dice >> 60 == 0)
                change(1 + (int)(dice >> 40 & 3));
            has_more = tr_kit_step(kit);
            if (dice >> 58 == 1)
                tr_kit_check(kit);
        }
        tr_kit_advance(kit, 5 * TR_MILLISECOND);
        ck_assert_uint_eq(told, (uint64_t)ACTORS * 61);
        ck_assert_uint_eq(heard, told);
        int workers = tr_system_workers(tr_kit_system(kit));
        for (uint32_t i = 0; i < ACTORS; i++)
            ck_assert_int_lt((int)place_of(walkers[i]).worker, workers);
        tr_kit_free(kit);
    }
}

/* ---- Those who are not well when their worker leaves. ---- */

TR_MESSAGE(go);
TR_ACTOR(boss, go);
TR_ACTOR(kid, go);
TR_BEHAVIOR(kid, void);

static tr_next spawn_and_kill(tr_self *self)
{
    for (int i = 0; i < 4; i++) {
        kid_ref made = tr_spawn_at(self, 3, kid, NULL);
        tr_kill(self, made);
    }
    return TR_SAME;
}

TR_BEHAVIOR(boss, void, TR_ON(go, spawn_and_kill));

TEST(who_ends_before_its_set_up_is_no_harm, "P-06")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(200); seed++) {
        const tr_kit_options options = {.size = sizeof options, .seed = seed, .workers = WORKERS};
        boss_ref boss;
        kit = tr_kit_new(&options);
        test = tr_kit_client(kit);
        ck_assert_int_eq(tr_try_spawn(test, &boss, boss, NULL), TR_OK);
        tr_kit_settle(kit);
        ck_assert_int_eq(tr_tell(test, boss, go), TR_OK);
        for (uint64_t i = 0; i < seed % 8; i++)
            (void)tr_kit_step(kit);
        change(2);
        tr_kit_settle(kit);
        tr_kit_free(kit);
    }
}

static int starts;
static int start_worker;

static tr_next note_start(tr_self *self)
{
    starts++;
    start_worker = tr_worker(self);
    return TR_SAME;
}

static tr_next stop(void)
{
    return TR_STOP;
}

TR_ACTOR(phoenix, go);
TR_BEHAVIOR(phoenix, void, TR_SETUP(note_start), TR_ON(go, stop),
            TR_OPTIONS(.restart = TR_PERMANENT, .is_pinned = true));

TEST(who_comes_back_does_so_elsewhere, "P-06", "S-08")
{
    const tr_kit_options options = {.size = sizeof options, .workers = WORKERS};
    phoenix_ref phoenix;
    kit = tr_kit_new(&options);
    test = tr_kit_client(kit);
    starts = 0;
    ck_assert_int_eq(tr_try_spawn_at(test, &phoenix, 3, phoenix, "p"), TR_OK);
    tr_kit_settle(kit);
    change(2);
    ck_assert_int_eq(tr_tell(test, phoenix, go), TR_OK);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(starts, 2);
    ck_assert_int_lt(start_worker, 2);
    ck_assert(!tr_is_nobody(tr_find(test, phoenix, "/user/p")));
    tr_kit_free(kit);
}

TEST(fewer_before_the_start_strand_nobody, "P-06")
{
    tr_system *system;
    tr_client *client;
    phoenix_ref phoenix;
    const tr_system_options options = {.size = sizeof options, .workers = WORKERS};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &phoenix, 3, phoenix, NULL), TR_OK);
    ck_assert_int_eq(tr_system_set_workers(system, 2), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, phoenix, TR_NEVER, NULL), TR_OK);
    tr_client_free(client);
    tr_system_shutdown(system, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

SUITE("workers that come and go", those_who_wait_leave_with_all_they_have,
      a_turn_that_waits_is_waited_for, who_is_pinned_stays_and_is_reached,
      a_worker_that_comes_back_is_used, any_change_at_any_moment_loses_nothing,
      who_ends_before_its_set_up_is_no_harm, who_comes_back_does_so_elsewhere,
      fewer_before_the_start_strand_nobody)
