/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP/2 as a client: asks that share a connection, against the server of the library and against frames that the test makes by
 * hand: limits of streams, windows, resets, GOAWAY, settings, pings, garbage, times and idle ends. On the network of kits.
 */
#include "support/h2_server.h"

static void play_share(void)
{
    begin();
    ask_count = 3;
    connect_ask();
    ck_assert_int_eq(COUNT(HEADERS, 0), 3);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 10 * MS)); /* all on one connection */
    answer_with(5, "c");
    answer_with(1, "a");
    answer_with(3, "b");
    SAID("200 a v2; 200 b v2; 200 c v2");
    ask_count = 1;
    host_run(ask);
    ck_assert_int_eq(COUNT(HEADERS, 7), 1);
    answer_with(7, "");
    SAID("200  v2");
    /* A ping is answered. */
    send_frame(NGHTTP2_PING, 0, 0, "12345678", 8);
    ck_assert_int_eq(COUNT(PING, 0), 1);
    /* Idle: GOAWAY, then the end. */
    tr_kit_advance(kit, TR_HTTP_IDLE_NS + 2 * TR_SECOND);
    ck_assert_int_eq(COUNT(GOAWAY, 0), 1);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
}

TEST(asks_share_a_connection_which_ends_when_idle, "W-09", "W-11")
{
    kits_each(play_share);
}

static void play_limits(void)
{
    begin();
    how.connections_max = 1;
    connect_ask();
    send_settings(2, 65535);
    answer_with(1, "");
    SAID("200  v2");
    ask_count = 4;
    host_run(ask);
    ck_assert_int_eq(COUNT(HEADERS, 0), 3); /* two wait */
    answer_with(3, "a");
    ck_assert_int_eq(COUNT(HEADERS, 0), 4);
    send_settings(4, 65535); /* the server allows more */
    ck_assert_int_eq(COUNT(HEADERS, 0), 5);
    answer_with(9, "d");
    answer_with(7, "c");
    answer_with(5, "b");
    SAID("200 a v2; 200 b v2; 200 c v2; 200 d v2");
    /* With another connection nobody waits. */
    send_settings(1, 65535);
    how.connections_max = 2;
    ask_count = 2;
    host_run(ask);
    ck_assert_int_eq(COUNT(HEADERS, 11), 1);
    answer_with(11, "e");
    accept_it();
    send_settings(1, 65535);
    answer_with(1, "f");
    SAID("200 e v2; 200 f v2");
}

TEST(streams_of_a_host_are_limited, "W-09", "W-11")
{
    kits_each(play_limits);
}

static void play_resets(void)
{
    static const struct {
        uint32_t code;
        const char *said;
    } resets[] = {{NGHTTP2_CANCEL, "TR_RESET"},
                  {NGHTTP2_INTERNAL_ERROR, "TR_RESET"},
                  {NGHTTP2_NO_ERROR, "TR_RESET"},
                  {NGHTTP2_HTTP_1_1_REQUIRED, "TR_RESET"}};
    begin();
    connect_ask();
    answer_with(1, "");
    SAID("200  v2");
    uint32_t id = 3;
    for (size_t i = 0; i < sizeof resets / sizeof resets[0]; i++, id += 2) {
        host_run(ask);
        send_reset(id, resets[i].code);
        SAID(resets[i].said);
    }
    /* One that was refused is asked again, once, also a POST. */
    how.text = "body";
    host_run(ask);
    ck_assert_int_eq(COUNT(HEADERS, id), 1);
    send_reset(id, NGHTTP2_REFUSED_STREAM);
    SAID("");
    id += 2;
    ck_assert_int_eq(COUNT(HEADERS, id), 1);
    answer_with(id, "x");
    SAID("200 x v2");
    id += 2;
    host_run(ask);
    send_reset(id, NGHTTP2_REFUSED_STREAM);
    send_reset(id + 2, NGHTTP2_REFUSED_STREAM);
    SAID("TR_RESET");
    id += 4;
    ck_assert_int_eq(COUNT(HEADERS, id), 0);
    /* A part of an answer is no answer. */
    host_run(ask);
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, "\x88", 1);
    send_frame(NGHTTP2_DATA, 0, id, "ab", 2);
    send_reset(id, NGHTTP2_REFUSED_STREAM);
    SAID("TR_RESET");
    host_run(ask); /* the connection stays */
    answer_with(id + 2, "y");
    SAID("200 y v2");
}

TEST(a_reset_ends_one_ask_and_a_refusal_is_repeated_once, "W-09", "W-11")
{
    kits_each(play_resets);
}

static void play_goaway(void)
{
    begin();
    how.text = "body";
    ask_count = 2;
    connect_ask();
    ck_assert_int_eq(COUNT(HEADERS, 0), 2);
    tr_kit_peer *first = peer;
    send_goaway(1, NGHTTP2_NO_ERROR); /* 3 was not handled */
    accept_it();
    send_settings(100, 65535);
    ck_assert_int_eq(COUNT(HEADERS, 1), 1);
    answer_with(1, "new");
    tr_kit_peer *second = peer;
    peer = first;
    answer_with(1, "old");
    SAID("200 old v2; 200 new v2");
    ck_assert_int_eq(tr_kit_peer_status(first), TR_CLOSED);
    /* What may have been handled is not asked again. */
    peer = second;
    ask_count = 1;
    host_run(ask);
    send_goaway(3, NGHTTP2_INTERNAL_ERROR);
    receive();
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("TR_CLOSED");
    /* A GET is, if the connection has carried an answer before. */
    how.text = NULL;
    connect_ask();
    answer_with(1, "");
    SAID("200  v2");
    host_run(ask);
    receive();
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("");
    accept_it();
    send_settings(100, 65535);
    answer_with(1, "again");
    SAID("200 again v2");
}

TEST(goaway_moves_what_was_not_handled, "W-09", "W-11")
{
    kits_each(play_goaway);
}

static void play_garbage(void)
{
    static const char one[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    begin();
    host_run(ask);
    accept_it();
    tr_kit_send(peer, (tr_bytes){one, sizeof one - 1});
    tr_kit_settle(kit);
    SAID("TR_BAD_DATA");
    ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
    connect_ask(); /* data before a head */
    send_frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, "abc", 3);
    SAID("TR_BAD_DATA");
    connect_ask(); /* a block that is none */
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff", 6);
    SAID("TR_BAD_DATA");
    connect_ask(); /* a header of HTTP/1.1 */
    send_frame(NGHTTP2_HEADERS,
               NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM,
               1,
               "\x88\x00\x0a"
               "connection"
               "\x05"
               "close",
               19);
    SAID("TR_BAD_DATA");
    host_run(ask); /* more than its length */
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 3, "\x88\x0f\x0d\x01\x31", 5);
    send_frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 3, "abc", 3);
    SAID("TR_BAD_DATA");
    host_run(ask); /* pushed */
    send_frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
    send_frame(NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 5, "\0\0\0\2\x82", 5);
    SAID("TR_BAD_DATA");
    connect_ask(); /* a flood */
    for (int i = 0; i < 1100; i++)
        send_frame(NGHTTP2_PING, NGHTTP2_FLAG_NONE, 0, "12345678", 8);
    SAID("TR_BAD_DATA");
    ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
}

TEST(garbage_of_a_server_is_bad_data, "W-09", "W-11")
{
    kit_open(1, 1);
    play_garbage();
    kit_close();
}

static void play_heads(void)
{
    unsigned char head[3000];
    begin();
    how.head_max = 1000;
    connect_ask();
    head[0] = 0x88;
    memcpy(head + 1, "\0\1x\x7f\xe9\x06", 6); /* x, of 1000 bytes */
    memset(head + 7, 'v', 1000);
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, head, 1007);
    SAID("TR_TOO_LARGE");
    const unsigned char *reset;
    ck_assert_int_eq(count_frames(NGHTTP2_RST_STREAM, 1, &reset), 1);
    ck_assert_int_eq(reset[12], NGHTTP2_CANCEL);
    how.body_max = 3; /* the connection stays */
    host_run(ask);
    answer_with(3, "abc");
    SAID("200 abc v2");
    host_run(ask);
    answer_with(5, "abcd");
    SAID("TR_TOO_LARGE");
    host_run(ask); /* answers of 1xx: "\x08\x03" "103" */
    send_frame(NGHTTP2_HEADERS,
               NGHTTP2_FLAG_END_HEADERS,
               7,
               "\x08\x03"
               "103",
               5);
    answer_with(7, "abc");
    SAID("200 abc v2");
    host_run(ask);
    for (int i = 0; i <= TR_HTTP_INTERIM_MAX; i++)
        send_frame(NGHTTP2_HEADERS,
                   NGHTTP2_FLAG_END_HEADERS,
                   9,
                   "\x08\x03"
                   "103",
                   5);
    SAID("TR_BAD_DATA");
}

TEST(heads_and_bodies_of_an_answer_are_limited, "W-09", "W-11")
{
    kits_each(play_heads);
}

static void play_window(void)
{
    static char body[40000];
    begin();
    memset(body, 'b', sizeof body);
    how.body = (tr_bytes){body, sizeof body};
    host_run(ask);
    accept_it();
    send_settings(100, 10000);
    how.body = (tr_bytes){NULL, 0};
    size_t before = came_size;
    receive();
    ck_assert_uint_le(came_size - before, 65535);
    /* The first window was the default one: all has gone. The next body has the new one. */
    answer_with(1, "");
    SAID("200  v2");
    how.body = (tr_bytes){body, sizeof body};
    host_run(ask);
    receive();
    before = came_size;
    tr_kit_advance(kit, TR_SECOND);
    receive();
    ck_assert_uint_eq(came_size, before);            /* it waits */
    const unsigned char more[] = {0, 0, 0x75, 0x30}; /* 30000 */
    send_frame(NGHTTP2_WINDOW_UPDATE, 0, 3, more, sizeof more);
    receive();
    ck_assert_uint_lt(came_size - before, 30000); /* that of the connection is used up */
    send_frame(NGHTTP2_WINDOW_UPDATE, 0, 0, more, sizeof more);
    receive();
    ck_assert_uint_ge(came_size - before, 30000);
    const unsigned char *last;
    ck_assert_int_gt(count_frames(NGHTTP2_DATA, 3, &last), 0);
    ck_assert_int_eq(last[4], NGHTTP2_FLAG_END_STREAM);
    answer_with(3, "z");
    SAID("200 z v2");
    /* An answer before the body has gone ends the upload. */
    host_run(ask);
    answer_with(5, "early");
    SAID("200 early v2");
    ck_assert_int_eq(COUNT(RST_STREAM, 5), 1);
}

TEST(a_body_waits_for_the_window_of_the_server, "W-09", "W-11")
{
    kits_each(play_window);
}

static void play_times(void)
{
    begin();
    how.within_ns = TR_SECOND;
    connect_ask();
    answer_with(1, "");
    SAID("200  v2");
    host_run(ask);
    tr_kit_advance(kit, 500 * MS);
    send_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 3, "\x88", 1);
    tr_kit_advance(kit, 520 * MS);
    SAID("TR_TIMEOUT");
    ck_assert_int_eq(COUNT(RST_STREAM, 3), 1);
    ck_assert_int_eq(COUNT(PING, 0), 0); /* it has said something */
    host_run(ask);                       /* the same connection */
    answer_with(5, "b");
    SAID("200 b v2");
    /* A server that is silent is asked whether it is there. */
    host_run(ask);
    tr_kit_advance(kit, 1020 * MS);
    SAID("TR_TIMEOUT");
    const unsigned char *ping;
    ck_assert_int_eq(count_frames(NGHTTP2_PING, 0, &ping), 1);
    send_frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, ping + 9, 8);
    host_run(ask);
    answer_with(9, "c");
    SAID("200 c v2");
    how.within_ns = 10 * TR_SECOND;
    host_run(ask); /* one that is open fails with the connection */
    how.within_ns = TR_SECOND;
    host_run(ask);
    tr_kit_advance(kit, 1020 * MS);
    SAID("TR_TIMEOUT");
    tr_kit_peer *silent = peer;
    connect_ask(); /* meanwhile another one is used */
    answer_with(1, "d");
    SAID("200 d v2");
    tr_kit_advance(kit, TR_HTTP2_PING_NS);
    SAID("TR_STALLED");
    ck_assert_int_eq(tr_kit_peer_status(silent), TR_RESET);
}

TEST(a_deadline_resets_the_stream_and_doubts_a_silent_server, "W-09", "W-11")
{
    kits_each(play_times);
}

SUITE("http/2 client", asks_share_a_connection_which_ends_when_idle, streams_of_a_host_are_limited,
      a_reset_ends_one_ask_and_a_refusal_is_repeated_once, goaway_moves_what_was_not_handled,
      garbage_of_a_server_is_bad_data, heads_and_bodies_of_an_answer_are_limited,
      a_body_waits_for_the_window_of_the_server,
      a_deadline_resets_the_stream_and_doubts_a_silent_server)
