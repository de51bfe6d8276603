/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP without memory: each allocation of a play is refused once, alone and with all that follow. Nothing crashes and
 * nothing leaks; each client gets an answer or an end, and with memory all of it works again. On the network of kits.
 */
#include "support/http.h"

TR_MESSAGE(number, (u64, value), (str, text));
TR_REQUEST(echo_number, number, (u64, value), (str, text));

static tr_next on_number(tr_self *self, const struct echo_number *message)
{
    return tr_reply(self, number, .value = message->value, .text = message->text);
}

static tr_next on_count(tr_self *self)
{
    tr_bytes piece;
    size_t size = 0;
    while (tr_http_read(self, &piece))
        size += piece.size;
    tr_http_begin(self, 200, .type = "a/b");
    tr_http_print(self, "%zu", size);
    return tr_http_end(self);
}

static tr_next on_message(tr_self *self, const struct tr_ws_message *message)
{
    (void)tr_ws_send(self, message->channel, message->bytes, message->is_text);
    return TR_SAME;
}

TR_BEHAVIOR(api, void, TR_WEBSOCKET("/ws", tr_ws_message, on_message),
            TR_POST("/n/{value}", echo_number, on_number),
            TR_PUT("/count", tr_http_request, on_count));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static bool is_listening;

static tr_next listen_api(tr_self *self)
{
    if (!is_listening)
        is_listening = tr_try_listen(self, &listener, api, TR_HTTP(SERVER)) == TR_OK;
    return TR_SAME;
}

#define H " HTTP/1.1\r\nHost: a\r\n"

static void send(tr_kit_peer *peer, const char *text)
{
    if (peer)
        (void)tr_kit_send(peer, (tr_bytes){text, strlen(text)});
    tr_kit_settle(kit);
}

#define SHAKE                                                                                      \
    "GET /ws" H "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"       \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

/* A WebSocket with a message in one frame, one in two, a silence and a close. */
static void play_websocket(void)
{
    tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
    send(peer, SHAKE);
    send(peer,
         "\x81\x81"
         "aaaa"
         "b"
         "\x01\x81"
         "aaaa"
         "c"
         "\x80\x81"
         "aaaa"
         "d");
    tr_kit_advance(kit, 31 * TR_SECOND);
    send(peer,
         "\x88\x80"
         "aaaa");
    if (peer)
        tr_kit_close(peer);
    tr_kit_settle(kit);
}

/* A client sends requests of all kinds, and may get no answer. */
static void play(void)
{
    (void)TELL_RUN(test, host, listen_api);
    tr_kit_settle(kit);
    tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
    send(peer, "POST /n/7?x=%C3%A4" H "Content-Length: 13\r\n\r\n{\"text\":");
    send(peer, "\"tea\"}GET /nowhere" H "\r\n");
    send(peer, "PUT /count" H "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
    send(peer, "5\r\nhel");
    send(peer, "lo\r\n0\r\n\r\nPOST /n/1" H "Content-Length: 0\r\n\r\nGARBAGE\r\n\r\n");
    if (peer)
        tr_kit_close(peer);
    tr_kit_settle(kit);
    play_websocket();
}

/* With memory all of it works. */
static void check(void)
{
    host_run(listen_api);
    ck_assert(is_listening);
    tr_kit_peer *peer = peer_new();
    HTTP_ASK(peer,
             "POST /n/7" H "Content-Length: 14\r\n\r\n{\"text\":\"tea\"}",
             HTTP_OK("{\"value\":7,\"text\":\"tea\"}"));
    HTTP_ASK(peer,
             "PUT /count" H "Content-Length: 3\r\n\r\nabc",
             "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nTransfer-Encoding: "
             "chunked\r\n\r\n1\r\n3\r\n0\r\n\r\n");
    peer_send(peer, SHAKE);
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), " 101 "));
    peer_send(peer,
              "\x81\x81"
              "aaaa"
              "b");
    PEER_GETS(peer, "\x81\x01\x03");
    tr_kit_close(peer);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

static tr_next nothing(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

static uint64_t play_once(uint64_t nth, bool and_all_after)
{
    kit_open(2, nth + 1);
    is_listening = false;
    HOST(host, nothing);
    uint64_t before = tr_kit_allocations(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    play();
    tr_kit_fail_allocation(kit, 0, false);
    uint64_t count = tr_kit_allocations(kit) - before;
    tr_kit_advance(kit, 5 * TR_MINUTE);
    check();
    kit_close();
    return count;
}

TEST(each_allocation_may_fail, "W-01", "W-06", "W-08")
{
    uint64_t count = play_once(0, false);
    ck_assert_uint_gt(count, 5);
    for (uint64_t nth = 1; nth <= count + 1; nth++) {
        play_once(nth, false);
        play_once(nth, true);
    }
}

SUITE("http without memory", each_allocation_may_fail)
