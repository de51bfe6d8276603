/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP/2 as a client, against servers that end connections in the middle of something, send floods, or break off anywhere.
 * Frames are made by hand, on the network of kits.
 */
#include "support/h2_server.h"

static char body[1000000];

/* Gives the client as much window as it can need. */
static void send_windows(void)
{
    const unsigned char more[] = {0x10, 0, 0, 0};
    send_settings(100, 0xffffff);
    send_frame(NGHTTP2_WINDOW_UPDATE, 0, 0, more, sizeof more);
}

/* Lets the client fill its output with a body that nobody reads. */
static void upload(void)
{
    begin();
    connect_ask();
    send_windows();
    answer_with(1, "");
    SAID("200  v2");
    memset(body, 'b', sizeof body);
    how.body = (tr_bytes){body, sizeof body};
    host_run(ask);
}

static void play_queued(void)
{
    upload();
    tr_kit_peer *first = peer;
    how.body = (tr_bytes){NULL, 0};
    how.text = "small";
    host_run(ask); /* waits behind the full output */
    send_goaway(3, NGHTTP2_NO_ERROR);
    receive();
    ck_assert_int_eq(COUNT(HEADERS, 5), 0);
    SAID("");
    accept_it();
    send_settings(100, 65535);
    ck_assert_int_eq(COUNT(HEADERS, 1), 1);
    answer_with(1, "new");
    SAID("200 new v2");
    peer = first;
    answer_with(3, "old");
    SAID("200 old v2");
}

TEST(goaway_moves_what_was_not_sent, "W-09", "W-11")
{
    kits_each(play_queued);
}

static void play_big_head(void)
{
    static char value[70000];
    const struct tr_http_field headers[] = {{"X", value}, {NULL, NULL}};
    memset(value, 'v', sizeof value - 1);
    begin();
    connect_ask();
    answer_with(1, "");
    SAID("200  v2");
    how.headers = headers;
    host_run(ask);
    SAID("TR_TOO_LARGE");
    how.headers = NULL;
    host_run(ask); /* the connection stays */
    answer_with(5, "b");
    SAID("200 b v2");
}

TEST(a_head_that_http2_does_not_take_is_too_large, "W-09", "W-11")
{
    kits_each(play_big_head);
}

/* A server that says goodbye to each connection, and answers nothing. */
static void play_many_goaways(void)
{
    tr_kit_peer *last = NULL;
    int count = 0;
    begin();
    how.connections_max = 2;
    how.within_ns = 10 * TR_SECOND;
    for (int i = 0; i < 8; i++) {
        host_run(ask);
        peer = tr_kit_accept(kit, SERVER, 10 * MS);
        if (!peer)
            continue;
        last = peer;
        count++;
        send_settings(100, 65535);
        send_goaway(0x7f, NGHTTP2_NO_ERROR);
    }
    ck_assert_int_eq(count, 4); /* twice .connections_max */
    peer = last;
    answer_with(1, "a"); /* what ends makes place for one */
    SAID("200 a v2");
    peer = tr_kit_accept(kit, SERVER, 10 * MS);
    ck_assert_ptr_nonnull(peer);
    send_settings(100, 65535);
    send_goaway(0x7f, NGHTTP2_NO_ERROR);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 10 * MS));
    tr_kit_advance(kit, 11 * TR_SECOND);
    (void)said();
}

TEST(goaways_do_not_multiply_connections, "W-09", "W-11")
{
    kits_each(play_many_goaways);
}

static void play_stop(void)
{
    const tr_kit_network small = {.window = 20000};
    tr_kit_set_network(kit, &small);
    upload();
    /* The output now has less than it takes, and more than half of that: nothing is added to it. */
    came_size = tr_kit_receive(peer, 0).size;
    tr_kit_settle(kit);
    ck_assert_uint_eq(came_size, 20000);
    tr_system_shutdown(tr_kit_system(kit), 10 * MS);
    tr_kit_advance(kit, TR_SECOND);
    receive();
    ck_assert_uint_le(came_size, 40000);                  /* what was on the way */
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET); /* nobody takes a part for all */
    (void)said();
}

TEST(a_stop_amid_an_upload_sends_nothing_more, "W-09", "W-11")
{
    kits_each(play_stop);
}

/* ---- Floods. ---- */

static void flood(int count, uint8_t type, uint8_t flags, uint32_t id, const void *data,
                  size_t size)
{
    for (int i = 0; i < count; i++)
        send_frame(type, flags, id, data, size);
}

static void flood_continuations(void)
{
    send_frame(NGHTTP2_HEADERS, 0, 1, "\x88", 1);
    flood(TR_HTTP2_CONTINUATIONS_MAX + 1, NGHTTP2_CONTINUATION, 0, 1, "\0\1x\1y", 5);
}

static void flood_settings(void)
{
    flood(1100, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
}

static void flood_pings(void)
{
    flood(1100, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678", 8);
}

/* Of a stream that is closed: nothing of it needs an answer. */
static void flood_resets(void)
{
    flood(1100, NGHTTP2_RST_STREAM, 0, 1, "\0\0\0\1", 4);
}

static void flood_empty_data(void)
{
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\x88", 1);
    flood(1100, NGHTTP2_DATA, 0, 1, NULL, 0);
}

static void flood_unknown(void)
{
    flood(1100, 0xbe, 0, 0, "x", 1);
}

static void overflow_window(void)
{
    flood(2, NGHTTP2_WINDOW_UPDATE, 0, 0, "\x7f\xff\xff\xff", 4);
}

static void overflow_window_of_stream(void)
{
    flood(2, NGHTTP2_WINDOW_UPDATE, 0, 1, "\x7f\xff\xff\xff", 4);
}

static void send_large_frame(void)
{
    send_frame(NGHTTP2_DATA, 0, 1, body, 16385);
}

static void play_floods(void)
{
    static const struct {
        void (*play)(void);
        bool ends; /* the connection, not the stream alone */
    } floods[] = {{flood_continuations, true},
                  {flood_settings, true},
                  {flood_pings, true},
                  {flood_empty_data, true},
                  {flood_unknown, true},
                  {overflow_window, true},
                  {overflow_window_of_stream, false},
                  {send_large_frame, true}};
    begin();
    for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++) {
        connect_ask();
        floods[i].play();
        SAID("TR_BAD_DATA");
        ck_assert_int_eq(COUNT(GOAWAY, 0), floods[i].ends);
        ck_assert_int_eq(tr_kit_peer_status(peer) != TR_OK, floods[i].ends);
        tr_kit_close(peer);
        tr_kit_settle(kit);
    }
    connect_ask(); /* a storm behind the end of a stream hits the next ask */
    answer_with(1, "");
    SAID("200  v2");
    host_run(ask);
    flood_resets();
    SAID("TR_BAD_DATA");
    ck_assert_int_eq(COUNT(GOAWAY, 0), 1);
}

TEST(floods_of_a_server_end_its_connection, "W-09", "W-11")
{
    kit_open(1, 1);
    play_floods();
    kit_close();
}

/* A block of 5 KB that means 4 MB. */
static void play_bomb(void)
{
    static unsigned char block[6000];
    size_t size = 0;
    begin();
    connect_ask();
    block[size++] = 0x88;
    memcpy(block + size, "\x40\1x\x7f\xa1\x1e", 6); /* x, of 4000 bytes, goes into the table */
    size += 6;
    memset(block + size, 'v', 4000);
    size += 4000;
    memset(block + size, 0xbe, 1000); /* and again */
    size += 1000;
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, block, size);
    SAID("TR_TOO_LARGE");
    ck_assert_int_eq(COUNT(RST_STREAM, 1), 1);
    host_run(ask); /* the connection stays */
    answer_with(3, "a");
    SAID("200 a v2");
}

TEST(compressed_headers_are_counted_as_they_are, "W-09", "W-11")
{
    kits_each(play_bomb);
}

static void play_push(void)
{
    begin();
    connect_ask(); /* its settings, which forbid it, are not acknowledged */
    send_frame(
        NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, "\0\0\0\2\x82\x86\x84\x41\1a", 10);
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, "\x88", 1);
    send_frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 2, "pushed", 6);
    answer_with(1, "a");
    const char *text = said();
    ck_assert(strcmp(text, "200 a v2") == 0 || strcmp(text, "TR_BAD_DATA") == 0);
}

TEST(what_is_pushed_is_no_answer, "W-09", "W-11")
{
    kits_each(play_push);
}

static void play_no_streams(void)
{
    begin();
    how.connections_max = 1;
    connect_ask();
    answer_with(1, "");
    SAID("200  v2");
    send_settings(0, 65535);
    how.within_ns = TR_SECOND;
    host_run(ask);
    tr_kit_advance(kit, 2 * TR_SECOND);
    SAID("TR_TIMEOUT");
    host_run(ask);
    ck_assert_int_eq(COUNT(HEADERS, 0), 1);
    send_settings(1, 65535);
    ck_assert_int_eq(COUNT(HEADERS, 3), 1);
    answer_with(3, "a");
    SAID("200 a v2");
}

TEST(a_server_may_allow_no_streams_for_a_while, "W-09", "W-11")
{
    kits_each(play_no_streams);
}

/* ---- Pieces. ---- */

static unsigned char answer[200];
static size_t answer_size;

/* Settings, a ping, a head of two frames, data with padding, trailers. */
static void answer_make(void)
{
    unsigned char *at = answer;
    at = h2_frame(at, NGHTTP2_SETTINGS, 0, 0, "\0\3\0\0\0\x64", 6);
    at = h2_frame(at, NGHTTP2_PING, 0, 0, "12345678", 8);
    at = h2_frame(at, NGHTTP2_HEADERS, 0, 1, "\x88", 1);
    at = h2_frame(at, NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, "\0\1x\1y", 5);
    at = h2_frame(at, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\3ab\0\0\0", 6);
    at = h2_frame(at, NGHTTP2_DATA, 0, 1, "c", 1);
    at = h2_frame(
        at, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, "\0\1t\1u", 5);
    answer_size = (size_t)(at - answer);
}

static void send_part(size_t from, size_t to)
{
    tr_kit_send(peer, (tr_bytes){answer + from, to - from});
    tr_kit_settle(kit);
}

TEST(an_answer_may_come_in_two_pieces, "W-09", "W-11")
{
    answer_make();
    for (size_t at = 1; at < answer_size; at++) {
        kit_open(1, at);
        begin();
        host_run(ask);
        accept_it();
        send_part(0, at);
        SAID("");
        send_part(at, answer_size);
        SAID("200 abc v2");
        kit_close();
    }
}

TEST(a_connection_may_end_at_any_byte, "W-09", "W-11")
{
    answer_make();
    for (size_t at = 0; at <= answer_size; at++) {
        for (int resets = 0; resets < 2; resets++) {
            kit_open(1, at + 1);
            begin();
            how.text = "body"; /* it is not asked again */
            host_run(ask);
            accept_it();
            send_part(0, at);
            receive();
            if (resets)
                tr_kit_reset(peer);
            else
                tr_kit_close(peer);
            tr_kit_settle(kit);
            SAID(at == answer_size ? "200 abc v2" : resets ? "TR_RESET" : "TR_CLOSED");
            kit_close();
        }
    }
}

SUITE("http/2 client on the wire", goaway_moves_what_was_not_sent,
      a_head_that_http2_does_not_take_is_too_large, goaways_do_not_multiply_connections,
      a_stop_amid_an_upload_sends_nothing_more, floods_of_a_server_end_its_connection,
      compressed_headers_are_counted_as_they_are, what_is_pushed_is_no_answer,
      a_server_may_allow_no_streams_for_a_while, an_answer_may_come_in_two_pieces,
      a_connection_may_end_at_any_byte)
