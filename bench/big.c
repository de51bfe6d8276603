/* SPDX-License-Identifier: Apache-2.0 */
/** big: 120 actors, each of which plays one round trip after the other with random others. */
#include "bench.h"

#include <string.h>

#define PLAYERS 120

TR_MESSAGE(serve, (u64, from));
TR_MESSAGE(answer, (u64, from));
TR_ACTOR(player, serve, answer, begin_play);
TR_MESSAGE(begin_play, (array(ref_of(player), PLAYERS), players));

TR_MESSAGE(entry, (u64, number), (u64, rounds), (ref, hall));
TR_MESSAGE(tournament, (u64, rounds), (u32, spread));
TR_MESSAGE(played, (u64, answers));
TR_ACTOR(hall, tournament, played);

struct player {
    uint64_t number;
    uint64_t rounds;
    uint64_t answers;
    uint64_t opponent;
    uint64_t random;
    tr_ref hall;
    player_ref players[PLAYERS];
};

static tr_next set_up_player(struct player *player, const struct entry *message)
{
    player->number = message->number;
    player->rounds = message->rounds;
    player->random = 88172645463325252u + message->number * 7919;
    player->hall = message->hall;
    return TR_SAME;
}

static void serve_next(tr_self *self, struct player *player)
{
    uint64_t other = bench_random(&player->random) % (PLAYERS - 1);
    player->opponent = other >= player->number ? other + 1 : other;
    tr_tell(self, player->players[player->opponent], serve, .from = player->number);
}

static tr_next on_begin_play(tr_self *self, struct player *player, const struct begin_play *message)
{
    memcpy(player->players, message->players, sizeof player->players);
    serve_next(self, player);
    return TR_SAME;
}

static tr_next on_serve(tr_self *self, struct player *player)
{
    return tr_reply(self, answer, .from = player->number);
}

static tr_next on_answer(tr_self *self, struct player *player, const struct answer *message)
{
    bench_check("who answers", message->from, player->opponent);
    if (++player->answers == player->rounds)
        tr_tell(self, player->hall, played, .answers = player->answers);
    else
        serve_next(self, player);
    return TR_SAME;
}

TR_BEHAVIOR(player, struct player, TR_SETUP_WITH(entry, set_up_player),
            TR_ON(begin_play, on_begin_play), TR_ON(serve, on_serve), TR_ON(answer, on_answer));

struct hall {
    uint64_t missing;
    uint64_t answers;
    tr_ref client;
};

static tr_next on_tournament(tr_self *self, struct hall *hall, const struct tournament *message)
{
    struct begin_play all;
    hall->missing = PLAYERS;
    hall->client = tr_sender(self);
    for (uint64_t i = 0; i < PLAYERS; i++)
        all.players[i] = tr_spawn_at(self,
                                     (int)(i % message->spread),
                                     player,
                                     NULL,
                                     entry,
                                     .number = i,
                                     .rounds = message->rounds,
                                     .hall = tr_me(self));
    for (uint64_t i = 0; i < PLAYERS; i++)
        tr_tell_copy(self, all.players[i], begin_play, &all);
    return TR_SAME;
}

static tr_next on_played(tr_self *self, struct hall *hall, const struct played *message)
{
    hall->answers += message->answers;
    if (--hall->missing == 0)
        tr_tell(self, hall->client, done, .value = hall->answers);
    return TR_SAME;
}

TR_BEHAVIOR(hall, struct hall, TR_ON(tournament, on_tournament), TR_ON(played, on_played));

void bench_big(struct bench *bench)
{
    uint64_t rounds = bench_count(20000);
    hall_ref hall;
    uint64_t begin = bench_now();
    bench_must(tr_try_spawn(bench->client, &hall, hall, "hall"), "spawn");
    tr_tell(bench->client, hall, tournament, .rounds = rounds, .spread = bench->spread);
    uint64_t answers = bench_wait(bench);
    uint64_t end = bench_now();
    bench_check("number of round trips", answers, rounds * PLAYERS);
    bench_report(bench->workload, bench->threads, answers, end - begin);
}
