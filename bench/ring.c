/* SPDX-License-Identifier: Apache-2.0 */
/** ring: one token goes round a thousand actors. */
#include "bench.h"

#define RING_SIZE 1000

TR_MESSAGE(token, (u64, hops_left));
TR_ACTOR(member, token, neighbour);
TR_MESSAGE(neighbour, (ref_of(member), next));

TR_MESSAGE(seat, (u64, number), (ref, client));
TR_MESSAGE(pass_round, (u64, hops), (u32, spread));
TR_ACTOR(ring, pass_round);

struct member {
    member_ref next;
    uint64_t number;
    tr_ref client;
};

static tr_next set_up_member(struct member *member, const struct seat *message)
{
    member->number = message->number;
    member->client = message->client;
    return TR_SAME;
}

static tr_next on_neighbour(struct member *member, const struct neighbour *message)
{
    member->next = message->next;
    return TR_SAME;
}

static tr_next on_token(tr_self *self, struct member *member, const struct token *message)
{
    if (message->hops_left == 0)
        tr_tell(self, member->client, done, .value = member->number);
    else
        tr_tell(self, member->next, token, .hops_left = message->hops_left - 1);
    return TR_SAME;
}

TR_BEHAVIOR(member, struct member, TR_SETUP_WITH(seat, set_up_member),
            TR_ON(neighbour, on_neighbour), TR_ON(token, on_token));

static tr_next on_pass_round(tr_self *self, const struct pass_round *message)
{
    member_ref members[RING_SIZE];
    for (uint64_t i = 0; i < RING_SIZE; i++)
        members[i] = tr_spawn_at(self,
                                 (int)(i % message->spread),
                                 member,
                                 NULL,
                                 seat,
                                 .number = i,
                                 .client = tr_sender(self));
    for (uint64_t i = 0; i < RING_SIZE; i++)
        tr_tell(self, members[i], neighbour, .next = members[(i + 1) % RING_SIZE]);
    tr_tell(self, members[0], token, .hops_left = message->hops);
    return TR_SAME;
}

TR_BEHAVIOR(ring, void, TR_ON(pass_round, on_pass_round));

void bench_ring(struct bench *bench)
{
    uint64_t hops = bench_count(5000000);
    ring_ref ring;
    uint64_t begin = bench_now();
    bench_must(tr_try_spawn(bench->client, &ring, ring, "ring"), "spawn");
    tr_tell(bench->client, ring, pass_round, .hops = hops, .spread = bench->spread);
    uint64_t last = bench_wait(bench);
    uint64_t end = bench_now();
    bench_check("number of the last member", last, hops % RING_SIZE);
    bench_report(bench->workload, bench->threads, hops, end - begin);
}
