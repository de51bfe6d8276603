/* SPDX-License-Identifier: Apache-2.0 */
/** pingpong_local and pingpong_cross: two actors and one message that goes to and fro. */
#include "bench.h"

TR_MESSAGE(ball, (u64, number));
TR_ACTOR(pong, ball);
TR_ACTOR(ping, ball);

TR_MESSAGE(match, (ref_of(pong), partner), (u64, rounds), (ref, client));
TR_MESSAGE(play, (u64, rounds), (i32, pong_worker));
TR_ACTOR(court, play);

static tr_next on_ball(tr_self *self, const struct ball *message)
{
    return tr_reply(self, ball, .number = message->number);
}

/* The two stay where they are: actors that talk to each other would come together soon. */
TR_BEHAVIOR(pong, void, TR_ON(ball, on_ball), TR_OPTIONS(.is_pinned = true));

struct ping {
    pong_ref partner;
    uint64_t left;
    uint64_t returned;
    tr_ref client;
};

static tr_next set_up_ping(struct ping *ping, const struct match *message)
{
    ping->partner = message->partner;
    ping->left = message->rounds;
    ping->client = message->client;
    return TR_SAME;
}

static tr_next on_ping_start(tr_self *self, struct ping *ping)
{
    tr_tell(self, ping->partner, ball, .number = ping->left);
    return TR_SAME;
}

static tr_next on_ball_returned(tr_self *self, struct ping *ping, const struct ball *message)
{
    bench_check("the ball", message->number, ping->left);
    ping->returned++;
    if (--ping->left == 0)
        tr_tell(self, ping->client, done, .value = ping->returned);
    else
        tr_tell(self, ping->partner, ball, .number = ping->left);
    return TR_SAME;
}

TR_BEHAVIOR(ping, struct ping, TR_SETUP_WITH(match, set_up_ping),
            TR_ON(tr_pre_start, on_ping_start), TR_ON(ball, on_ball_returned),
            TR_OPTIONS(.is_pinned = true));

static tr_next on_play(tr_self *self, const struct play *message)
{
    pong_ref pong = tr_spawn_at(self, message->pong_worker, pong, "pong");
    tr_spawn_at(self,
                0,
                ping,
                "ping",
                match,
                .partner = pong,
                .rounds = message->rounds,
                .client = tr_sender(self));
    return TR_SAME;
}

TR_BEHAVIOR(court, void, TR_ON(play, on_play));

static void run_match(struct bench *bench, uint64_t rounds, int pong_worker)
{
    court_ref court;
    uint64_t begin = bench_now();
    bench_must(tr_try_spawn(bench->client, &court, court, "court"), "spawn");
    tr_tell(bench->client, court, play, .rounds = rounds, .pong_worker = pong_worker);
    uint64_t returned = bench_wait(bench);
    uint64_t end = bench_now();
    bench_check("number of round trips", returned, rounds);
    bench_report(bench->workload, bench->threads, rounds, end - begin);
}

void bench_pingpong_local(struct bench *bench)
{
    run_match(bench, bench_count(5000000), 0);
}

void bench_pingpong_cross(struct bench *bench)
{
    run_match(bench, bench_count(1000000), 1);
}
