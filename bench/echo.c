/* SPDX-License-Identifier: Apache-2.0 */
/**
 * kit_echo: pieces that come over channels and are answered, on the virtual network of a kit. Half of the connections have a
 * handler of tr_received, half a turn that reads in a loop. For tools/bench-guard, which counts the instructions; those
 * of the network and of the kit are counted too.
 */
#include "bench.h"

#include <string.h>
#include <troupe/kit_net.h>

enum { PEERS = 16, PIECE = 64 };
#define HANDLER_AT "127.0.0.1:7000"
#define READER_AT "127.0.0.1:7001"

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_ACTOR(echo_handler, tr_received);
TR_BEHAVIOR(echo_handler, void, TR_ON(tr_received, on_received));

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    tr_bytes bytes;
    while (tr_read(self, message->channel, &bytes))
        tr_write(self, message->channel, bytes);
    return TR_STOP;
}

TR_ACTOR(echo_reader, tr_opened);
TR_BEHAVIOR(echo_reader, void, TR_ON(tr_opened, on_opened));

static tr_next on_start(tr_self *self)
{
    tr_listen(self, echo_handler, TR_TCP(HANDLER_AT));
    tr_listen(self, echo_reader, TR_TCP(READER_AT));
    return TR_SAME;
}

TR_MESSAGE(no_message);
TR_ACTOR(echo_server, no_message);
TR_BEHAVIOR(echo_server, void, TR_ON(tr_pre_start, on_start));

void bench_kit_echo(struct bench *bench)
{
    uint64_t rounds = bench_count(100000);
    uint64_t answered = 0;
    char piece[PIECE];
    tr_kit_peer *peers[PEERS];
    echo_server_ref server;
    memset(piece, 'x', sizeof piece);
    uint64_t begin = bench_now();
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.workers = 1});
    if (!kit)
        bench_die(BENCH_NO_RESULT, "tr_kit_new");
    bench_must(tr_try_spawn(tr_kit_client(kit), &server, echo_server, "server"), "spawn");
    tr_kit_settle(kit);
    for (int i = 0; i < PEERS; i++) {
        peers[i] = tr_kit_connect(kit, i % 2 ? READER_AT : HANDLER_AT);
        if (!peers[i])
            bench_die(BENCH_NO_RESULT, "tr_kit_connect");
    }
    for (uint64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < PEERS; i++)
            (void)tr_kit_send(peers[i], (tr_bytes){piece, sizeof piece});
        for (int i = 0; i < PEERS; i++)
            answered += tr_kit_receive(peers[i], TR_SECOND).size;
    }
    tr_kit_free(kit);
    uint64_t end = bench_now();
    bench_check("bytes that came back", answered, rounds * PEERS * PIECE);
    bench_report(bench->workload, bench->threads, rounds * PEERS, end - begin);
}
