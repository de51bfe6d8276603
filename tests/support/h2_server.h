/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of HTTP/2 as a client: a host that asks, and a server whose frames the test makes by hand.
 *
 *     begin();
 *     connect_ask();
 *     answer_with(1, "a");
 *     SAID("200 a v2");
 */
#ifndef TROUPE_TESTS_SUPPORT_H2_SERVER_H
#define TROUPE_TESTS_SUPPORT_H2_SERVER_H

#include "support/h2.h"

#include <troupe/http_client.h>

#define AT "http://" SERVER

static tr_http_call how;
static int ask_count;

KITS_UNUSED static void tell_answer(tr_self *self, tr_http_call_ask asked)
{
    const struct tr_http_answer *answer;
    tr_status status = tr_try_await(self, asked, &answer);
    if (status != TR_OK)
        say("%s", tr_status_name(status));
    else
        say("%d %.*s v%u",
            answer->status,
            (int)answer->body.size,
            (const char *)answer->body.data,
            (unsigned)answer->version);
}

/** Asks `ask_count` times at once. */
KITS_UNUSED static tr_next ask(tr_self *self)
{
    tr_http_call_ask asked[8];
    for (int i = 0; i < ask_count; i++)
        asked[i] = tr_self_http_ask(self, AT "/a", &how);
    for (int i = 0; i < ask_count; i++)
        tell_answer(self, asked[i]);
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

KITS_UNUSED static tr_next nothing(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

/* ---- Frames by hand: the test is the server. ---- */

static tr_kit_peer *peer;
static unsigned char came[1 << 20];
static size_t came_size;

KITS_UNUSED static void begin(void)
{
    HOST(host, nothing);
    (void)tr_kit_accept(kit, SERVER, 0); /* listens */
    how = (tr_http_call){.version = TR_HTTP_VERSION_2};
    ask_count = 1;
}

/** Appends what the client has sent. */
KITS_UNUSED static void receive(void)
{
    for (;;) {
        tr_bytes bytes = tr_kit_receive(peer, 10 * MS);
        if (!bytes.size)
            return;
        ck_assert_uint_le(came_size + bytes.size, sizeof came);
        memcpy(came + came_size, bytes.data, bytes.size);
        came_size += bytes.size;
    }
}

/** Counts the frames of a kind, for a stream or (0) any, that have come so far. *last: the last one of them. */
KITS_UNUSED static int count_frames(uint8_t type, uint32_t id, const unsigned char **last)
{
    int count = 0;
    receive();
    for (size_t at = 24; at + 9 <= came_size;) {
        const unsigned char *frame = came + at;
        size_t size = (size_t)frame[0] << 16 | (size_t)frame[1] << 8 | frame[2];
        uint32_t its = (uint32_t)frame[5] << 24 | (uint32_t)frame[6] << 16 |
                       (uint32_t)frame[7] << 8 | frame[8];
        if (frame[3] == type && (!id || its == id)) {
            count++;
            if (last)
                *last = frame;
        }
        at += 9 + size;
    }
    return count;
}

#define COUNT(type, id) count_frames(NGHTTP2_##type, id, NULL)

/** Lets the test accept the connection of an ask. */
KITS_UNUSED static void accept_it(void)
{
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    came_size = 0;
    receive();
    ck_assert_uint_ge(came_size, 24);
    ck_assert_int_eq(memcmp(came, H2_PREFACE, 24), 0);
}

KITS_UNUSED static void send_frame(uint8_t type, uint8_t flags, uint32_t id, const void *data,
                                   size_t size)
{
    static unsigned char frame[70000];
    const unsigned char *end = h2_frame(frame, type, flags, id, data, size);
    tr_kit_send(peer, (tr_bytes){frame, (size_t)(end - frame)});
    tr_kit_settle(kit);
}

/** Sends settings: at most this many streams, and a window for each. */
KITS_UNUSED static void send_settings(uint32_t streams, uint32_t window)
{
    const unsigned char data[] = {0,
                                  3,
                                  (unsigned char)(streams >> 24),
                                  0,
                                  0,
                                  (unsigned char)streams,
                                  0,
                                  4,
                                  0,
                                  (unsigned char)(window >> 16),
                                  (unsigned char)(window >> 8),
                                  (unsigned char)window};
    send_frame(NGHTTP2_SETTINGS, 0, 0, data, sizeof data);
}

KITS_UNUSED static void connect_ask(void)
{
    host_run(ask);
    accept_it();
    send_settings(100, 65535);
}

/** Sends an answer with this body. "\x88" is :status 200. */
KITS_UNUSED static void answer_with(uint32_t id, const char *body)
{
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, "\x88", 1);
    send_frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, id, body, strlen(body));
}

KITS_UNUSED static void send_goaway(uint32_t last, uint32_t code)
{
    const unsigned char data[] = {0, 0, 0, (unsigned char)last, 0, 0, 0, (unsigned char)code};
    send_frame(NGHTTP2_GOAWAY, 0, 0, data, sizeof data);
}

KITS_UNUSED static void send_reset(uint32_t id, uint32_t code)
{
    const unsigned char data[] = {0, 0, 0, (unsigned char)code};
    send_frame(NGHTTP2_RST_STREAM, 0, id, data, sizeof data);
}

#endif
