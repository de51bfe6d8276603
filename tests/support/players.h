/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors that play what they are told, for tests of asks: a message names a C function, and its turn
 * is that function. A test is then a few such functions, and what its client asks.
 */
#ifndef TROUPE_TESTS_SUPPORT_PLAYERS_H
#define TROUPE_TESTS_SUPPORT_PLAYERS_H

#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

/** What becomes of a player that fails; a failure stops it unless the test says otherwise. */
#ifndef PLAYERS_RESTART
#define PLAYERS_RESTART TR_TEMPORARY
#endif

enum { PLAYERS = 6, MILLISECONDS = 1000000, EVENTS_MAX = 256 };

TR_MESSAGE(value, (i64, number));
TR_MESSAGE(other_value, (i64, number));
/** A turn, with or without a barrier, that is asked for; one that is told; one that nobody knows. */
TR_REQUEST(play, value, (u64, call), (i64, arg));
TR_REQUEST(play_alone, value, (u64, call), (i64, arg));
TR_MESSAGE(perform, (u64, call), (i64, arg));
TR_REQUEST(unknown, value);
TR_ACTOR(player, play, play_alone, perform, unknown);

struct player {
    int64_t number;
    tr_later later;
};

typedef tr_next (*player_call)(tr_self *self, struct player *player, int64_t arg);
#define CALL(call) (uint64_t)(uintptr_t)(call)

static inline player_call call_of(uint64_t bits)
{
    return (player_call)(uintptr_t)bits;
}

static tr_next on_play(tr_self *self, struct player *player, const struct play *message)
{
    return call_of(message->call)(self, player, message->arg);
}

static tr_next on_play_alone(tr_self *self, struct player *player, const struct play_alone *message)
{
    return call_of(message->call)(self, player, message->arg);
}

static tr_next on_perform(tr_self *self, struct player *player, const struct perform *message)
{
    return call_of(message->call)(self, player, message->arg);
}

TR_BEHAVIOR(player, struct player, TR_ON(play, on_play),
            TR_ON(play_alone, on_play_alone, .is_barrier = true), TR_ON(perform, on_perform),
            TR_OPTIONS(.restart = PLAYERS_RESTART));

/** Who plays, on how many workers, and what happened: one world at a time. */
static struct {
    tr_kit *kit;
    tr_client *client;
    int workers;
    player_ref players[PLAYERS];
    char log[4096];
    tr_status status; /* for whatever a turn has to say */
    tr_time at_ns;
    int64_t count;
} world;

/** `moves`: the players move from worker to worker. */
static inline void world_begin_as(int workers, uint64_t seed, bool moves)
{
    memset(&world, 0, sizeof world);
    const tr_kit_options options = {
        .size = sizeof options, .seed = seed, .workers = workers, .moves = moves};
    world.kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(world.kit);
    world.client = tr_kit_client(world.kit);
    world.workers = workers;
    for (int i = 0; i < PLAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        ck_assert_int_eq(
            tr_try_spawn_at(world.client, &world.players[i], i % workers, player, name), TR_OK);
    }
    tr_kit_settle(world.kit);
}

static inline void world_begin(int workers, uint64_t seed)
{
    world_begin_as(workers, seed, false);
}

static inline void world_end(void)
{
    tr_kit_settle(world.kit);
    tr_kit_check(world.kit);
    tr_kit_free(world.kit);
    world.kit = NULL;
}

/** Writes a word to the log of the world. */
static inline void say(const char *word)
{
    size_t length = strlen(world.log);
    snprintf(world.log + length, sizeof world.log - length, "%s%s", length ? " " : "", word);
}

/** What the client asks, and how it ends. */
#define ASK(who, call_, arg_)                                                                      \
    tr_ask(world.client, world.players[who], play, .call = CALL(call_), .arg = (arg_))
#define ASK_ALONE(who, call_, arg_)                                                                \
    tr_ask(world.client, world.players[who], play_alone, .call = CALL(call_), .arg = (arg_))

static inline tr_status outcome_of(tr_pending asked, int64_t *number)
{
    const void *reply;
    tr_status status = tr_client_try_await(world.client, asked, &reply);
    if (number)
        *number = status == TR_OK ? ((const struct value *)reply)->number : -1;
    return status;
}

/* ---- Turns of common use. ---- */

__attribute__((__unused__)) static tr_next echo(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    return tr_reply(self, value, .number = arg);
}

__attribute__((__unused__)) static tr_next add(tr_self *self, struct player *player, int64_t arg)
{
    player->number += arg;
    return tr_reply(self, value, .number = player->number);
}

__attribute__((__unused__)) static tr_next silence(tr_self *self, struct player *player,
                                                   int64_t arg)
{
    (void)self, (void)player, (void)arg;
    return TR_SAME;
}

__attribute__((__unused__)) static tr_next put_off(tr_self *self, struct player *player,
                                                   int64_t arg)
{
    (void)arg;
    player->later = tr_reply_later(self);
    return TR_SAME;
}

__attribute__((__unused__)) static tr_next answer_later(tr_self *self, struct player *player,
                                                        int64_t arg)
{
    world.status = tr_reply_to(self, player->later, value, .number = arg);
    return TR_SAME;
}

/** Waits for that long, then answers. */
__attribute__((__unused__)) static tr_next slow(tr_self *self, struct player *player, int64_t ns)
{
    (void)player;
    if (tr_sleep(self, ns) == TR_OK)
        tr_reply(self, value, .number = ns);
    return TR_SAME;
}

__attribute__((__unused__)) static tr_next say_no(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    return tr_refuse(self, (int)arg, "no, said %s", tr_name(self));
}

__attribute__((__unused__)) static tr_next break_down(tr_self *self, struct player *player,
                                                      int64_t arg)
{
    (void)player, (void)arg;
    return tr_fail(self, TR_BAD_DATA, "it broke");
}

#endif
