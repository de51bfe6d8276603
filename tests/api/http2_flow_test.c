/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP/2: flow control both ways, and clients that do not read or have gone. On the network of kits, with a client on
 * nghttp2.
 */
#include "support/h2.h"

static size_t most; /* bytes that waited to be sent, at most */

static tr_next on_much(tr_self *self)
{
    char piece[10000];
    memset(piece, 'm', sizeof piece);
    tr_http_begin(self, 200, .type = "a/b");
    for (int i = 0; i < 100; i++) {
        tr_status status = tr_http_write(self, (tr_bytes){piece, sizeof piece});
        if (status != TR_OK) {
            say("%s %d", tr_status_name(status), tr_http_is_gone(self));
            return tr_http_end(self);
        }
        size_t size = tr_output_size(self, tr_peer(self));
        most = size > most ? size : most;
    }
    return tr_http_end(self);
}

/* Writes much at once. */
static tr_next on_one(tr_self *self)
{
    static char body[1000000];
    memset(body, 'o', sizeof body);
    return tr_http_reply(self, 200, .body = {body, sizeof body});
}

static tr_next on_size(tr_self *self)
{
    most = tr_output_size(self, tr_peer(self));
    return tr_http_reply(self, 204);
}

static tr_next on_count(tr_self *self)
{
    tr_bytes piece;
    size_t size = 0, pieces = 0;
    while (tr_http_read(self, &piece)) {
        size += piece.size;
        pieces++;
        most = piece.size > most ? piece.size : most;
        tr_sleep(self, 10 * MS);
    }
    tr_http_begin(self, 200, .type = "a/b", .length = 6);
    tr_http_print(self, "%06zu", size);
    return tr_http_end(self);
}

/* Reads its body late. */
static tr_next on_late(tr_self *self)
{
    tr_sleep(self, TR_SECOND);
    return on_count(self);
}

/* Does not notice that the client is gone. */
static tr_next on_stay(tr_self *self)
{
    tr_sleep(self, TR_SECOND);
    say("gone %d", tr_http_is_gone(self));
    return tr_http_reply(self, 200, .text = "for nobody");
}

static tr_next on_ignore(tr_self *self)
{
    return tr_http_reply(self, 204);
}

TR_BEHAVIOR(api, void, TR_POST("/ignore", tr_http_request, on_ignore),
            TR_GET("/much", tr_http_request, on_much), TR_GET("/one", tr_http_request, on_one),
            TR_GET("/size", tr_http_request, on_size), TR_POST("/count", tr_http_request, on_count),
            TR_POST("/late", tr_http_request, on_late),
            TR_GET("/stay", tr_http_request, on_stay));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen_api(tr_self *self)
{
    listener = tr_listen(self, api, TR_HTTP(SERVER));
    return TR_SAME;
}

static struct h2_client client;

static void begin(turn *listens)
{
    HOST(host, listens);
    h2_open(&client);
    most = 0;
}

static void end(void)
{
    h2_close(&client);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1); /* the listener */
}

TEST(a_writer_waits_for_the_window_and_nothing_is_kept, "W-11", "W-05")
{
    kit_open(1, 1);
    begin(listen_api);
    client.holds_window = true;
    int32_t first = h2_get(&client, "/much");
    int32_t second = h2_get(&client, "/much");
    h2_run(&client, 10 * MS);
    /* The window of the connection is 65,535 bytes, and the streams share it. */
    ck_assert_uint_eq(h2_answer_of(&client, first)->size + h2_answer_of(&client, second)->size,
                      65535);
    int32_t quick = h2_ask(&client, "POST", "/ignore", NULL, (tr_bytes){NULL, 0}, false);
    h2_run(&client, 10 * MS);
    ck_assert_int_eq(h2_answer_of(&client, quick)->status, 204);
    client.holds_window = false;
    size_t size = h2_answer_of(&client, first)->size;
    ck_assert_int_eq(nghttp2_session_consume(client.session, first, size), 0);
    size = h2_answer_of(&client, second)->size;
    ck_assert_int_eq(nghttp2_session_consume(client.session, second, size), 0);
    h2_run(&client, TR_SECOND);
    ck_assert_uint_eq(h2_answer_of(&client, first)->size, 1000000);
    ck_assert_uint_eq(h2_answer_of(&client, second)->size, 1000000);
    ck_assert_uint_le(most, TR_OUTPUT_MAX + 20000);
    end();
    kit_close();
}

TEST(a_writer_waits_for_a_client_that_does_not_read, "W-11", "W-05")
{
    enum { WINDOW = 1 << 30 };
    kit_open(1, 1);
    HOST(host, listen_api);
    h2_open_on(&client, peer_new(), WINDOW);
    nghttp2_session_set_local_window_size(client.session, 0, 0, WINDOW);
    h2_run(&client, MS);
    most = 0;
    const uint8_t *data;
    int32_t ids[3];
    ids[0] = h2_get(&client, "/one");
    ids[1] = h2_get(&client, "/one");
    ids[2] = h2_get(&client, "/much");
    h2_get(&client, "/size");
    ssize_t size = nghttp2_session_mem_send(client.session, &data);
    for (; size > 0; size = nghttp2_session_mem_send(client.session, &data))
        ck_assert_uint_eq(tr_kit_send(client.peer, (tr_bytes){data, (size_t)size}), (size_t)size);
    tr_kit_settle(kit); /* it takes 64 KiB, and reads nothing */
    ck_assert_uint_gt(most, 0);
    ck_assert_uint_le(most, TR_OUTPUT_MAX + 20000);
    for (int i = 0; i < 10; i++)
        h2_run(&client, MS);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(h2_answer_of(&client, ids[i])->size, 1000000);
    ck_assert_uint_le(most, TR_OUTPUT_MAX + 20000);
    end();
    kit_close();
}

TEST(streams_share_the_window_whatever_their_priority, "W-11", "W-05")
{
    kit_open(1, 1);
    HOST(host, listen_api);
    h2_open_on(&client, peer_new(), 1 << 30);
    client.holds_window = true;
    const char *const urgent[] = {"priority", "u=0", NULL};
    int32_t first = h2_ask(&client, "GET", "/one", urgent, (tr_bytes){NULL, 0}, false);
    int32_t second = h2_get(&client, "/one");
    h2_run(&client, MS);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(nghttp2_submit_window_update(client.session, 0, 0, 40000), 0);
        h2_run(&client, MS);
    }
    ck_assert_uint_gt(h2_answer_of(&client, first)->size, 150000);
    ck_assert_uint_gt(h2_answer_of(&client, second)->size, 150000);
    end();
    kit_close();
}

TEST(a_turn_ends_as_it_likes_when_the_client_has_gone, "W-11")
{
    for (int resets = 0; resets < 2; resets++) {
        kit_open(1, 1);
        begin(listen_api);
        h2_get(&client, "/stay");
        h2_run(&client, MS);
        if (resets)
            tr_kit_reset(client.peer);
        tr_kit_close(client.peer);
        tr_kit_advance(kit, 900 * MS);
        SAID("");
        tr_kit_advance(kit, 200 * MS);
        SAID(resets ? "gone 1" : "gone 0"); /* it may still read */
        tr_kit_advance(kit, TR_SECOND);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
        h2_forget(&client);
        kit_close();
    }
}

TEST(a_window_that_stays_closed_resets_its_stream, "W-11", "W-04")
{
    kit_open(1, 1);
    begin(listen_api);
    client.holds_window = true;
    int32_t stalled = h2_get(&client, "/much");
    h2_run(&client, 10 * MS);
    tr_kit_advance(kit, TR_STALL_NS + TR_SECOND);
    h2_run(&client, 10 * MS);
    H2_RESET(&client, stalled, NGHTTP2_ENHANCE_YOUR_CALM);
    SAID("TR_STALLED 1");
    /* The window of the connection is used up, and the connection lives. */
    int32_t quick = h2_ask(&client, "POST", "/ignore", NULL, (tr_bytes){NULL, 0}, false);
    h2_run(&client, 10 * MS);
    ck_assert_int_eq(h2_answer_of(&client, quick)->status, 204);
    end();
    kit_close();
}

TEST(a_client_sends_ahead_what_the_window_allows_and_no_more, "W-11", "W-05")
{
    static char body[400000];
    memset(body, 'b', sizeof body);
    kit_open(1, 1);
    begin(listen_api);
    int32_t id = h2_ask(&client, "POST", "/count", NULL, (tr_bytes){body, sizeof body}, false);
    int32_t slow = h2_ask(&client, "POST", "/stay", NULL, (tr_bytes){body, sizeof body}, false);
    h2_run(&client, TR_SECOND);
    H2_GETS(&client, id, 200, "400000");
    ck_assert_uint_le(most, TR_HTTP2_WINDOW);
    ck_assert_int_eq(h2_answer_of(&client, slow)->status, 405);
    end();
    kit_close();
}

TEST(bodies_that_nobody_reads_yet_do_not_stop_the_others, "W-11", "W-05")
{
    enum { LATE = 15 };
    static char body[600000];
    int32_t late[LATE];
    memset(body, 'b', sizeof body);
    kit_open(1, 1);
    begin(listen_api);
    for (int i = 0; i < LATE; i++) {
        late[i] = h2_ask(&client, "POST", "/late", NULL, (tr_bytes){body, 100000}, false);
        h2_run(&client, MS);
    }
    int32_t id = h2_ask(&client, "POST", "/count", NULL, (tr_bytes){body, sizeof body}, false);
    h2_run(&client, 20 * MS);
    H2_GETS(&client, id, 200, "600000");
    ck_assert_int_eq(h2_answer_of(&client, late[0])->status, 0);
    ck_assert_uint_eq(h2_answer_of(&client, late[0])->upload.size, 100000 - TR_HTTP2_WINDOW);
    h2_run(&client, TR_SECOND);
    for (int i = 0; i < LATE; i++)
        H2_GETS(&client, late[i], 200, "100000");
    end();
    kit_close();
}

SUITE("flow control of http/2", a_writer_waits_for_the_window_and_nothing_is_kept,
      a_writer_waits_for_a_client_that_does_not_read,
      streams_share_the_window_whatever_their_priority,
      a_turn_ends_as_it_likes_when_the_client_has_gone,
      a_window_that_stays_closed_resets_its_stream,
      a_client_sends_ahead_what_the_window_allows_and_no_more,
      bodies_that_nobody_reads_yet_do_not_stop_the_others)
