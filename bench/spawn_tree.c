/* SPDX-License-Identifier: Apache-2.0 */
/**
 * spawn_tree: a tree of ten branches per node, down to a million leaves that each answer with
 * their number. A node sums the answers of its branches, passes the sum upwards and stops.
 */
#include "bench.h"

#define BRANCHES 10

TR_MESSAGE(grow, (u64, first), (u64, leaves), (u32, spread));
TR_MESSAGE(subtotal, (u64, value));
TR_ACTOR(node, grow, subtotal);

struct node {
    uint64_t sum;
    uint64_t missing;
    tr_ref above;
};

static tr_next on_grow(tr_self *self, struct node *node, const struct grow *message)
{
    if (message->leaves == 1) {
        tr_reply(self, subtotal, .value = message->first);
        return TR_STOP;
    }
    node->above = tr_sender(self);
    node->missing = BRANCHES;
    uint64_t leaves = message->leaves / BRANCHES;
    for (uint32_t i = 0; i < BRANCHES; i++) {
        /* The branches at the top go to all workers; what is below stays where it is. */
        int worker = message->spread ? (int)(i % message->spread) : tr_worker(self);
        node_ref branch = tr_spawn_at(self, worker, node, NULL);
        tr_tell(self, branch, grow, .first = message->first + i * leaves, .leaves = leaves);
    }
    return TR_SAME;
}

static tr_next on_subtotal(tr_self *self, struct node *node, const struct subtotal *message)
{
    node->sum += message->value;
    if (--node->missing > 0)
        return TR_SAME;
    tr_tell(self, node->above, subtotal, .value = node->sum);
    return TR_STOP;
}

TR_BEHAVIOR(node, struct node, TR_ON(grow, on_grow), TR_ON(subtotal, on_subtotal));

/** The client tells the top to grow and gets the sum, as if it were a node above. */
void bench_spawn_tree(struct bench *bench)
{
    uint64_t leaves = 1;
    while (leaves * BRANCHES <= bench_count(1000000))
        leaves *= BRANCHES;
    uint64_t nodes = (leaves * BRANCHES - 1) / (BRANCHES - 1);

    node_ref top;
    uint64_t begin = bench_now();
    bench_must(tr_try_spawn(bench->client, &top, node, "top"), "spawn");
    tr_tell(bench->client, top, grow, .leaves = leaves, .spread = (uint32_t)bench->threads);
    const struct subtotal *total = tr_receive(bench->client, subtotal, RESULT_TIMEOUT);
    uint64_t end = bench_now();
    if (!total)
        bench_die_without_result(bench);
    bench_check("the sum", total->value, leaves * (leaves - 1) / 2);
    bench_report(bench->workload, bench->threads, nodes, end - begin);
}
