/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Nothing is lost: random programs, at every few steps of which every message is accounted for.
 *
 * The actors of these programs do at random what actors can do. With one seed a program runs the
 * same way each time, which is a test of its own.
 */
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

enum { KNOWN = 64, ACTORS_MAX = 300 };

TR_MESSAGE(act, (u32, lives));
TR_MESSAGE(load, (u32, lives), (bytes, data));
TR_MESSAGE(echo, (u32, lives));
TR_MESSAGE(riddle, (u32, lives)); /* nobody knows it */
TR_ACTOR(player, act, load, echo);
TR_ACTOR(mime, act, load, echo);

/* Refs that anybody may use, alive or dead. One thread. */
static tr_ref known[KNOWN];
static int workers;
static uint64_t actors;

static tr_ref somebody(tr_self *self)
{
    return known[tr_random(self) % KNOWN];
}

static void remember(tr_self *self, tr_ref ref)
{
    known[tr_random(self) % KNOWN] = ref;
}

static void say_something(tr_self *self, uint32_t lives)
{
    static const char bytes[3000];
    tr_ref to = somebody(self);
    switch (tr_random(self) % 6) {
    case 0:
        tr_tell(self,
                to,
                load,
                .lives = lives,
                .data = {bytes, (size_t)(tr_random(self) % sizeof bytes)});
        break;
    case 1:
        tr_tell(self, tr_me(self), act, .lives = lives);
        break;
    case 2:
        tr_tell(self, to, riddle, .lives = lives);
        break;
    default:
        tr_tell(self, to, act, .lives = lives);
        break;
    }
}

static void have_a_child(tr_self *self)
{
    player_ref child = {0};
    int worker = (int)(tr_random(self) % (uint64_t)workers);
    if (actors >= ACTORS_MAX || tr_try_spawn_at(self, &child, worker, player, NULL) != TR_OK)
        return;
    actors++;
    remember(self, tr_any(child));
}

static tr_next do_something(tr_self *self, uint32_t lives, bool is_mime)
{
    if (!lives)
        return TR_SAME;
    lives--;
    switch (tr_random(self) % 24) {
    case 0:
    case 1:
    case 2:
        have_a_child(self);
        say_something(self, lives);
        return TR_SAME;
    case 3:
        return tr_forward(self, somebody(self));
    case 4:
        return is_mime ? tr_become(self, player) : tr_become(self, mime);
    case 5:
        if (tr_random(self) % 4 == 0)
            tr_stop(self, somebody(self));
        return TR_SAME;
    case 6:
        if (tr_random(self) % 4 == 0)
            tr_kill(self, somebody(self));
        return TR_SAME;
    case 7:
        return tr_random(self) % 8 ? TR_SAME : TR_STOP;
    case 8:
        return TR_DECLINE;
    case 9:
        return tr_random(self) % 8 ? TR_SAME : tr_fail(self, TR_BAD_DATA, "by chance");
    case 10:
        if (tr_random(self) % 8 == 0)
            tr_crash(self, TR_BAD_DATA, "by chance, deeply");
        return TR_SAME;
    case 11:
        return tr_reply(self, echo, .lives = lives);
    default:
        say_something(self, lives);
        say_something(self, lives);
        return TR_SAME;
    }
}

static tr_next on_start(tr_self *self)
{
    if (tr_random(self) % 8 == 0)
        tr_tell(self, tr_me(self), act, .lives = 3);
    return tr_random(self) % 16 ? TR_SAME : TR_STOP;
}
static tr_next on_stop(tr_self *self)
{
    if (tr_random(self) % 2)
        tr_tell(self, somebody(self), act, .lives = 2);
    actors--;
    return TR_SAME;
}
static tr_next on_act(tr_self *self, const struct act *message)
{
    return do_something(self, message->lives, false);
}
static tr_next on_load(tr_self *self, const struct load *message)
{
    return do_something(self, message->lives, false);
}
static tr_next on_echo(tr_self *self, const struct echo *message)
{
    return do_something(self, message->lives, false);
}
static tr_next mime_on_act(tr_self *self, const struct act *message)
{
    return do_something(self, message->lives, true);
}

TR_BEHAVIOR(player, void, TR_ON(tr_pre_start, on_start), TR_ON(tr_post_stop, on_stop),
            TR_ON(act, on_act), TR_ON(load, on_load), TR_ON(echo, on_echo));
TR_BEHAVIOR(mime, void, TR_ON(tr_post_stop, on_stop), TR_ON(act, mime_on_act), TR_ON(load, on_load),
            TR_ON(echo, on_echo), TR_OPTIONS(.ordering = TR_BY_KIND));

struct outcome {
    uint64_t trace;
    tr_counters counters;
};

static void poke(tr_client *client, uint64_t round)
{
    tr_ref to = known[round * 7 % KNOWN];
    player_ref player = {0};
    switch (round % 9) {
    case 3:
    case 4:
        /* It may be told, stopped or killed before it is set up. */
        if (tr_try_spawn_at(client, &player, (int)round % workers, player, NULL) == TR_OK)
            actors++;
        known[round % (KNOWN - 1) + 1] = tr_any(player);
        break;
    case 0:
        tr_tell(client, to, riddle, .lives = 3);
        break;
    case 1:
        (void)tr_client_receive(client, NULL, 0);
        break;
    case 2:
        tr_tell(client, tr_client_ref(client), act, .lives = 3);
        break;
    default:
        tr_tell(client, to, act, .lives = 16);
        break;
    }
}

static struct outcome play(uint64_t seed, int worker_count, uint64_t check_every)
{
    struct outcome outcome;
    tr_kit_options options = {
        .size = sizeof options, .seed = seed, .workers = worker_count, .moves = seed / 8 % 2};
    tr_kit *kit = tr_kit_new(&options);
    tr_client *client = tr_kit_client(kit);
    workers = worker_count;
    actors = 0;
    memset(known, 0, sizeof known);
    known[0] = tr_client_ref(client);
    for (uint64_t i = 1; i < KNOWN; i++) {
        player_ref player = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &player, (int)i % worker_count, player, NULL),
                         TR_OK);
        known[i] = tr_any(player);
        actors++;
    }
    tr_kit_check(kit);
    uint64_t steps = 0;
    for (uint64_t round = 0; round < 300; round++) {
        poke(client, round);
        for (int i = 0; i < 8 && tr_kit_step(kit); i++) {
            if (++steps % check_every == 0)
                tr_kit_check(kit);
        }
    }
    (void)tr_kit_settle(kit);
    tr_kit_check(kit);
    outcome.trace = tr_kit_trace(kit);
    tr_system_counters(tr_kit_system(kit), &outcome.counters);
    /* Nothing is ready, so what is not handled lies with the client, which has not received it. */
    uint64_t unread = 0;
    while (tr_client_receive(client, NULL, 0))
        unread++;
    ck_assert_uint_eq(outcome.counters.queued, unread);
    tr_kit_free(kit);
    return outcome;
}

TEST(random_programs_conserve_their_messages, "M-04", "MB-05", "MB-07")
{
    uint64_t seed = test_seed();
    struct outcome outcome = {0};
    uint64_t handled = 0;
    uint64_t runs = test_scale(400, 40000);
    for (uint64_t i = runs; i > 0; i--) {
        uint64_t check_every = 1 + i % 13;
        outcome = play(seed + i, 1 + (int)(i % 4), check_every);
        handled += outcome.counters.handled;
        ck_assert_uint_gt(outcome.counters.dead_letters, 10);
    }
    /* The programs must be worth running. */
    printf("# %" PRIu64 " messages handled\n", handled);
    ck_assert_uint_gt(handled, runs * 200);
}

TEST(one_seed_is_one_run, "M-04", "MB-05")
{
    uint64_t seed = test_seed();
    uint64_t last = 0;
    for (uint64_t i = test_scale(40, 1000); i > 0; i--) {
        int count = 1 + (int)(i % 4);
        struct outcome first = play(seed + i, count, 1000);
        struct outcome second = play(seed + i, count, 3);
        ck_assert_uint_eq(first.trace, second.trace);
        ck_assert_mem_eq(&first.counters, &second.counters, sizeof first.counters);
        ck_assert_uint_ne(first.trace, last);
        last = first.trace;
    }
}

TEST(another_seed_is_another_order_of_workers, "M-04")
{
    struct outcome first = play(1, 4, 1000);
    struct outcome second = play(2, 4, 1000);
    ck_assert_uint_ne(first.trace, second.trace);
}

/* A program in which handlers take no random decision: the schedule alone makes the difference. */
TR_MESSAGE(number, (u64, from), (u64, n));
TR_ACTOR(collector, number);
TR_ACTOR(source, act);
static tr_ref collecting;
static uint64_t order;
static tr_next on_number(const struct number *message)
{
    order = order * 31 + message->from;
    return TR_SAME;
}
static tr_next source_on_act(tr_self *self, const struct act *message)
{
    tr_tell(self, collecting, number, .from = message->lives);
    return TR_SAME;
}
TR_BEHAVIOR(collector, void, TR_ON(number, on_number));
TR_BEHAVIOR(source, void, TR_ON(act, source_on_act));

static uint64_t order_with(uint64_t seed)
{
    tr_kit_options options = {.seed = seed, .workers = 4};
    tr_kit *kit = tr_kit_new(&options);
    tr_client *client = tr_kit_client(kit);
    collector_ref collector = {0};
    source_ref sources[3];
    ck_assert_int_eq(tr_try_spawn(client, &collector, collector, NULL), TR_OK);
    collecting = tr_any(collector);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tr_try_spawn_at(client, &sources[i], i + 1, source, NULL), TR_OK);
    (void)tr_kit_settle(kit);
    order = 0;
    for (uint32_t i = 0; i < 30; i++)
        tr_tell(client, sources[i % 3], act, .lives = i % 3 + 1);
    (void)tr_kit_settle(kit);
    tr_kit_free(kit);
    return order;
}

TEST(the_seed_chooses_the_schedule, "MB-05")
{
    int differences = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ck_assert_uint_eq(order_with(seed), order_with(seed));
        differences += order_with(seed) != order_with(seed + 1);
    }
    ck_assert_int_ge(differences, 15);
}

SUITE("conservation", random_programs_conserve_their_messages, one_seed_is_one_run,
      another_seed_is_another_order_of_workers, the_seed_chooses_the_schedule)
