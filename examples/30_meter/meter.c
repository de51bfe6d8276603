/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A test of a server without a socket: each request is cut at every byte, and the connection is reset at every byte. Nothing
 * leaks, and other clients are served. It takes milliseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit_net.h>
#include <troupe/troupe.h>

/* ---- The server: it answers each line with its length. ---- */

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_print(self, line->channel, "%zu\n", line->bytes.size);
    return TR_SAME;
}

TR_ACTOR(meter, tr_received);
TR_BEHAVIOR(meter, void, TR_ON(tr_received, on_line));

static tr_next on_start(tr_self *self)
{
    tr_listen(self, meter, TR_TCP("127.0.0.1:7000", .framing = TR_LINES));
    return TR_SAME;
}

TR_ACTOR(server, tr_pre_start);
TR_BEHAVIOR(server, void, TR_ON(tr_pre_start, on_start));

/* ---- The test, which is the other side. ---- */

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : (fprintf(stderr, "line %d: " #condition "\n", __LINE__), exit(1)))

static void play(tr_kit *kit, tr_bytes before, tr_bytes behind)
{
    tr_kit_peer *whole = tr_kit_connect(kit, "127.0.0.1:7000");
    tr_kit_peer *broken = tr_kit_connect(kit, "127.0.0.1:7000");
    CHECK(tr_kit_send(broken, before) == before.size);
    CHECK(tr_kit_send(whole, before) == before.size);
    tr_kit_settle(kit);
    tr_kit_reset(broken);
    CHECK(tr_kit_send(whole, behind) == behind.size);
    CHECK(strcmp(tr_kit_receive_text(whole, TR_SECOND), "5\n12\n") == 0);
    tr_kit_finish(whole);
    tr_kit_settle(kit);
    CHECK(tr_kit_peer_status(whole) == TR_CLOSED);
    CHECK(tr_kit_open_channels(kit) == 1); /* the listener */
    tr_kit_close(whole);
    tr_kit_close(broken);
}

int main(void)
{
    static const char request[] = "hello\r\nworld, again\n";
    size_t size = sizeof request - 1;
    tr_kit *kit = tr_kit_new(NULL);
    server_ref server;
    CHECK(tr_try_spawn(tr_kit_client(kit), &server, server, "server") == TR_OK);
    tr_kit_settle(kit);
    for (size_t cut = 0; cut <= size; cut++)
        play(kit, (tr_bytes){request, cut}, (tr_bytes){request + cut, size - cut});
    tr_kit_free(kit); /* which looks for leaks */
    printf("cut and reset at each of %zu places\n", size + 1);
    return 0;
}
