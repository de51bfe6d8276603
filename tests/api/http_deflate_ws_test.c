/* SPDX-License-Identifier: Apache-2.0 */
/**
 * permessage-deflate of sessions (RFC 7692), by the categories 12 and 13 of the Autobahn test suite: sizes, fragments and
 * parameters, on the network of kits. The client makes frames of its own (support/ws_client.h) and deflates by zlib.
 */
#include "support/http.h"
#include "support/ws_client.h"

#include <zlib.h>

enum { MESSAGE_MAX = 1 << 18 };

static tr_next on_echo(tr_self *self, const struct tr_ws_message *message)
{
    if (tr_ws_send(self, message->channel, message->bytes, message->is_text) != TR_OK)
        return tr_fail(self, TR_FAILED, "no echo");
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_WEBSOCKET("/", tr_ws_message, on_echo));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen_session(tr_self *self)
{
    const tr_http_options options = {.ws_message_max = MESSAGE_MAX, .ws_compresses = true};
    listener = tr_listen(self, session, TR_HTTP(SERVER, .http = &options));
    return TR_SAME;
}

static tr_kit_peer *peer;

/* Connects with an offer. Returns what was agreed, "" for nothing. */
static const char *connect_with(const char *offer)
{
    static char agreed[200];
    static const char name[] = "\r\nSec-WebSocket-Extensions: ";
    char request[500];
    snprintf(request,
             sizeof request,
             "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Extensions: %s\r\n\r\n",
             offer);
    peer = peer_new();
    peer_send(peer, request);
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_msg(strncmp(text, "HTTP/1.1 101 ", 13) == 0, "%s", text);
    const char *at = strstr(text, name);
    size_t skip = sizeof name - 1;
    snprintf(
        agreed, sizeof agreed, "%.*s", at ? (int)strcspn(at + skip, "\r") : 0, at ? at + skip : "");
    return agreed;
}

static void disconnect(void)
{
    tr_kit_close(peer);
    tr_kit_settle(kit);
}

static struct ws_bytes deflated(const void *data, size_t size, int bits)
{
    struct ws_bytes out = {.data = malloc(2 * size + 1000)};
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data,
                       .avail_in = (uInt)size,
                       .next_out = out.data,
                       .avail_out = (uInt)(2 * size + 1000)};
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, -bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&stream, size ? Z_SYNC_FLUSH : Z_FULL_FLUSH), Z_OK);
    out.size = stream.total_out - 4; /* RFC 7692, 7.2.1: without 00 00 FF FF */
    deflateEnd(&stream);
    return out;
}

/* Inflates in portions of 100 bytes, so that zlib has no more than a window of that many bits to look back at. */
static void inflates_to(const unsigned char *bytes, size_t size, int bits, const void *want,
                        size_t want_size)
{
    unsigned char *in = malloc(size + 4);
    unsigned char *out = malloc(want_size + 100);
    memcpy(in, bytes, size);
    memcpy(in + size, "\0\0\xff\xff", 4);
    z_stream stream = {.next_in = in, .avail_in = (uInt)size + 4, .next_out = out};
    ck_assert_int_eq(inflateInit2(&stream, -bits), Z_OK);
    do {
        stream.avail_out = 100;
        int result = inflate(&stream, Z_SYNC_FLUSH);
        ck_assert_msg(result == Z_OK || result == Z_BUF_ERROR, "%d bits: %s", bits, stream.msg);
    } while (!stream.avail_out && stream.total_out <= want_size);
    ck_assert_uint_eq(stream.total_out, want_size);
    ck_assert_mem_eq(out, want, want_size);
    inflateEnd(&stream);
    free(in);
    free(out);
}

/* Sends bytes as one message in frames of at most `frame_max` bytes. Returns what comes. */
static struct ws_bytes send_message(const unsigned char *data, size_t size, unsigned first,
                                    size_t frame_max)
{
    struct ws_bytes input = {0};
    struct ws_bytes heard = {0};
    for (size_t at = 0; at == 0 || at < size; at += frame_max) {
        size_t part = size - at < frame_max ? size - at : frame_max;
        struct ws_made frame = {.first = (at ? 0 : first) | (at + part == size ? 0x80 : 0),
                                .is_masked = true};
        ws_add_frame(&input, frame, data + at, part);
    }
    for (size_t at = 0; at < input.size && tr_kit_peer_status(peer) == TR_OK;) {
        at += tr_kit_send(peer, (tr_bytes){input.data + at, input.size - at});
        for (;;) {
            tr_bytes bytes = tr_kit_receive(peer, 0);
            if (!bytes.size)
                break;
            ws_add(&heard, bytes.data, bytes.size);
        }
    }
    free(input.data);
    return heard;
}

/* A deflated message comes back whole, deflated again if it is not small. */
static void echoes(const char *data, size_t size, bool is_text, int bits, int server_bits,
                   size_t frame_max)
{
    struct ws_bytes out = deflated(data, size, bits);
    struct ws_bytes heard = send_message(out.data, out.size, is_text ? 0x41 : 0x42, frame_max);
    ck_assert_uint_gt(heard.size, 1);
    unsigned length = heard.data[1];
    size_t head = length == 126 ? 4 : length == 127 ? 10 : 2;
    ck_assert_uint_eq(heard.data[0] & 0xbf, is_text ? 0x81 : 0x82);
    if (heard.data[0] & 0x40) {
        inflates_to(heard.data + head, heard.size - head, server_bits, data, size);
    } else {
        ck_assert_uint_lt(size, 64); /* it would grow */
        ck_assert_uint_eq(heard.size, head + size);
        ck_assert_mem_eq(heard.data + head, data, size);
    }
    free(heard.data);
    free(out.data);
}

static char *text_make(size_t size)
{
    static const char words[] = "{\"id\":12345,\"name\":\"Alyssa P. Hacker\"},";
    char *data = malloc(size + 1);
    for (size_t i = 0; i < size; i++) /* repeated with changes, so that there is something to do */
        data[i] = words[(i + i / 997) % (sizeof words - 1)];
    return data;
}

/* Letters without order, twice: the second half refers to the first, which a small window does not reach. */
static char *far_make(size_t size)
{
    char *data = malloc(size + 1);
    uint32_t state = 1;
    for (size_t i = 0; i < size; i++) {
        state = state * 1103515245 + 12345;
        data[i] = i < size / 2 ? (char)('a' + (state >> 16) % 26) : data[i - size / 2];
    }
    return data;
}

/* RFC 7692, 7.2.3.6: an empty message is deflated too. The others are the sizes of category 12: RFC 7692, 7.2.1. */
static const size_t sizes[] = {0, 16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072};

/* 12.1 to 12.5; RFC 7692, 7.2.1 and 6.1: only the first fragment has RSV1. */
TEST(deflated_messages_are_echoed_over_fragments, "W-08", "WS-08")
{
    kit_open(1, 1);
    HOST(host, listen_session);
    ck_assert_str_eq(connect_with("permessage-deflate; client_max_window_bits"),
                     "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t frame_max = 1 << 20; frame_max >= 32; frame_max /= 64) {
            char *data = text_make(sizes[i]);
            echoes(data, sizes[i], true, 15, 15, frame_max);
            echoes(data, sizes[i], false, 15, 15, frame_max);
            free(data);
        }
    }
    disconnect();
    kit_close();
}

/* 13: what is offered, and what may be agreed (RFC 7692, 7.1). */
TEST(parameters_are_agreed_and_kept, "W-08", "WS-09")
{
    static const struct {
        const char *offer;
        const char *agreed; /* a part of it; NULL: there is none */
        int server_bits;
        const char *section; /* of RFC 7692 */
    } rows[] = {
        {"permessage-deflate", "permessage-deflate", 15, "7.1: no parameter is needed"},
        {"permessage-deflate; client_no_context_takeover",
         "client_no_context_takeover",
         15,
         "7.1.1.2: the answer may have it"},
        {"permessage-deflate; server_no_context_takeover",
         "server_no_context_takeover",
         15,
         "7.1.1.1: who accepts the offer answers with it"},
        {"permessage-deflate; server_max_window_bits=9",
         "server_max_window_bits=9",
         9,
         "7.1.2.1: the same or a smaller window"},
        {"permessage-deflate; server_max_window_bits=15",
         "permessage-deflate",
         15,
         "7.1.2.1: 8 to 15"},
        {"permessage-deflate; server_no_context_takeover; server_max_window_bits=10; "
         "client_max_window_bits",
         "server_max_window_bits=10",
         10,
         "7.1.3: several together"},
        {"permessage-deflate; server_max_window_bits=7, permessage-deflate",
         "permessage-deflate",
         15,
         "5.2: the next offer, because 7 is no value of 7.1.2.1"},
        {"permessage-deflate; server_max_window_bits=16", NULL, 0, "7.1.2.1: declined"},
        {"permessage-deflate; unknown", NULL, 0, "7.1: declined"},
        {"permessage-deflate; client_no_context_takeover=1", NULL, 0, "7.1.1.2: it has no value"},
        {"x-webkit-deflate-frame", NULL, 0, "5.1: another extension"},
    };
    kit_open(1, 1);
    HOST(host, listen_session);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *agreed = connect_with(rows[i].offer);
        if (rows[i].agreed) {
            char *data = far_make(5000);
            ck_assert_msg(strstr(agreed, rows[i].agreed),
                          "%s (%s): %s",
                          rows[i].offer,
                          rows[i].section,
                          agreed);
            echoes(data, 5000, true, 9, rows[i].server_bits, 1 << 20);
            free(data);
        } else {
            ck_assert_msg(!agreed[0], "%s (%s): %s", rows[i].offer, rows[i].section, agreed);
        }
        disconnect();
    }
    kit_close();
}

/* The code with which a session ends after one message. */
static unsigned code_after(const unsigned char *data, size_t size, unsigned first)
{
    connect_with("permessage-deflate");
    struct ws_bytes heard = send_message(data, size, first, 1 << 20);
    ck_assert_uint_ge(heard.size, 4);
    ck_assert_uint_eq(heard.data[0], 0x88);
    unsigned code = (unsigned)heard.data[2] << 8 | heard.data[3];
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    free(heard.data);
    disconnect();
    return code;
}

TEST(what_cannot_be_inflated_ends_the_websocket, "W-08")
{
    static const char zeros[MESSAGE_MAX + 1];
    kit_open(1, 1);
    HOST(host, listen_session);
    struct ws_bytes bomb = deflated(zeros, sizeof zeros, 15);
    ck_assert_uint_lt(bomb.size, 1000);
    /* RFC 6455, 7.4.1 and 10.4: the limit is that of the inflated message */
    ck_assert_uint_eq(code_after(bomb.data, bomb.size, 0x42), 1009);
    free(bomb.data);
    struct ws_bytes text = deflated("a\xc3\x28", 3, 15);
    ck_assert_uint_eq(code_after(text.data, text.size, 0x41), 1007); /* RFC 6455, 8.1 */
    free(text.data);
    /* RFC 7692, 7.2.2, and RFC 6455, 7.4.1: data that are not of the type of the message */
    ck_assert_uint_eq(code_after((const unsigned char *)"\x06", 1, 0x42), 1007);
    ck_assert_uint_eq(code_after((const unsigned char *)"\xf2\x48", 2, 0x41), 1007);
    ck_assert_uint_eq(code_after((const unsigned char *)"a", 1, 0x49),
                      1002); /* a ping: RFC 7692, 6 */
    ck_assert_uint_eq(code_after((const unsigned char *)"a", 1, 0x61),
                      1002); /* RSV2: RFC 6455, 5.2 */
    kit_close();
}

SUITE("websocket deflate", deflated_messages_are_echoed_over_fragments,
      parameters_are_agreed_and_kept, what_cannot_be_inflated_ends_the_websocket)
