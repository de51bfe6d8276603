/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A server for clients of Redis. Keys are spread over shards, actors on all workers; a client may send any number of commands
 * without waiting. Try it:
 *
 *     28_resp &
 *     redis-cli -p 6380
 *     redis-benchmark -p 6380 -t set,get,incr,mset -P 16
 *
 * With no-spin as the last argument, a worker without work sleeps at once: for measurements of CPU time.
 */
#include "session.h"

#include <stdio.h>
#include <string.h>

static tr_next on_args(tr_self *self, const struct tr_args *message)
{
    const char *address = message->argv.count > 1 ? message->argv.items[1] : ":6380";
    shard_ref shards = tr_spawn_group(self, shard, "shards", TR_ONE_PER_WORKER);
    tr_listener_ref listener = tr_listen(self,
                                         session,
                                         TR_TCP(address, .frame_max = 2 * RESP_WORD_MAX),
                                         open_session,
                                         .shards = shards,
                                         .seed = tr_random(self)); /* no client knows the hashes */
    printf("listening at %s\n", tr_address_text(self, tr_listener_address(self, listener)));
    fflush(stdout);
    return TR_SAME;
}

TR_BEHAVIOR(server, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    bool spins = argc < 3 || strcmp(argv[argc - 1], "no-spin") != 0;
    return tr_app_main(argc, argv, server, .system = {.spin_ns = spins ? 0 : -1});
}
