/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP on the wire: keep-alive, pipelining, chunks, HEAD, 100-continue, limits, timeouts, failures and ends. On the
 * network of kits, whose pieces and delays come from the seed.
 */
#include "support/http.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

TR_MESSAGE(number, (u64, value));
TR_REQUEST(echo_number, number, (u64, value));

static tr_next on_number(tr_self *self, const struct echo_number *message)
{
    return tr_reply(self, number, .value = message->value);
}

/* Answers with all that was sent. */
static tr_next on_body(tr_self *self)
{
    tr_bytes body = tr_http_body(self, 1 << 20);
    return tr_http_reply(self, 200, .body = body, .type = "a/b");
}

/* Does not read the body. */
static tr_next on_ignore(tr_self *self)
{
    return tr_http_reply(self, 204);
}

static tr_next on_fail(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "a secret");
}

static tr_next on_crash(tr_self *self)
{
    tr_crash(self, TR_FAILED, "a secret");
}

static tr_next on_half(tr_self *self)
{
    tr_http_begin(self, 200, .type = "a/b");
    tr_http_print(self, "half");
    return TR_SAME;
}

static tr_next on_half_crash(tr_self *self)
{
    tr_http_begin(self, 200, .type = "a/b", .length = 10);
    tr_http_print(self, "half");
    tr_crash(self, TR_FAILED, "in the middle");
}

/* Answers, and then fails: the answer is sent. */
static tr_next on_late(tr_self *self)
{
    tr_http_reply(self, 200, .text = "before");
    return tr_fail(self, TR_FAILED, "after its answer");
}

static tr_next on_stop(tr_self *self)
{
    tr_http_reply(self, 200, .text = "bye");
    return TR_STOP;
}

/* Answers after a second. */
static tr_next on_slow(tr_self *self)
{
    tr_sleep(self, TR_SECOND);
    return tr_http_reply(self, 200, .text = "slow");
}

static tr_next on_inject(tr_self *self)
{
    tr_http_set(self, "x", tr_http_query(self, "value"));
    return tr_http_reply(self, 200, .text = "clean");
}

TR_BEHAVIOR(api, void, TR_GET("/n/{value}", echo_number, on_number),
            TR_POST("/n", echo_number, on_number), TR_POST("/body", tr_http_request, on_body),
            TR_POST("/ignore", tr_http_request, on_ignore),
            TR_GET("/fail", tr_http_request, on_fail), TR_GET("/crash", tr_http_request, on_crash),
            TR_GET("/half", tr_http_request, on_half),
            TR_GET("/half-crash", tr_http_request, on_half_crash),
            TR_GET("/late", tr_http_request, on_late), TR_GET("/stop", tr_http_request, on_stop),
            TR_GET("/slow", tr_http_request, on_slow),
            TR_GET("/inject", tr_http_request, on_inject));

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static const tr_http_options options = {.body_max = 100, .server = "test"};
ONCE(listen_api, listener = tr_listen(self, api, TR_HTTP(SERVER)))
ONCE(listen_small, listener = tr_listen(self, api, TR_HTTP(SERVER, .http = &options)))
ONCE(stop_listener, tr_stop(self, listener))

static tr_kit_peer *peer;

static void begin(void)
{
    HOST(host, listen_api);
    peer = peer_new();
}

static void end(void)
{
    tr_kit_close(peer);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1); /* the listener */
}

#define H " HTTP/1.1\r\nHost: a\r\n"
#define CLOSED(peer_) ck_assert_int_eq(tr_kit_peer_status(peer_), TR_CLOSED)

/* ---- Keep-alive and pipelining. ---- */

static void play_pipeline(void)
{
    char all[4096] = "";
    char want[4096] = "";
    begin();
    for (int i = 0; i < 16; i++) {
        char one[160];
        if (i % 5 == 4)
            snprintf(one, sizeof one, "GET /slow" H "\r\n");
        else
            snprintf(one, sizeof one, "GET /n/%d" H "\r\n", i);
        strcat(all, one);
        if (i % 5 == 4)
            snprintf(one,
                     sizeof one,
                     "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nslow");
        else
            snprintf(one, sizeof one, "HTTP/1.1 200 OK\r\n\r\n{\"value\":%d}", i);
        strcat(want, one);
    }
    peer_send(peer, all);
    char got[8192] = "";
    while (strlen(http_plain(got)) < strlen(want)) {
        const char *text = tr_kit_receive_text(peer, 10 * TR_SECOND);
        ck_assert_uint_gt(strlen(text), 0);
        strcat(got, text);
    }
    ck_assert_str_eq(http_plain(got), want);
    end();
}

TEST(requests_sent_ahead_are_answered_in_order, "W-03")
{
    kits_each_anywhere(play_pipeline);
}

static void play_one_send(void)
{
    char all[2048] = "";
    begin();
    for (int i = 0; i < 16; i++)
        strcat(all, "GET /n/7" H "\r\n");
    peer_send(peer, all);
    /* One call of the system has sent all answers: the second would fail. */
    const char *text = tr_kit_receive_text(peer, 0);
    int count = 0;
    for (const char *at = text; (at = strstr(at, "HTTP/1.1 200 OK")); at++)
        count++;
    ck_assert_int_eq(count, 16);
    end();
}

TEST(answers_of_one_run_leave_together, "W-03", "C-08")
{
    kits_each(play_one_send);
}

static void play_close(void)
{
    begin();
    HTTP_ASK(peer,
             "GET /n/1" H "Connection: close\r\n\r\n",
             "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"value\":1}");
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    HTTP_ASK(peer,
             "GET /n/1 HTTP/1.0\r\n\r\n",
             "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"value\":1}");
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    HTTP_ASK(peer,
             "GET /n/1 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
             "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n{\"value\":1}");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    HTTP_ASK(peer,
             "GET /stop" H "\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nbye");
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    tr_kit_finish(peer); /* the client ends without a request */
    tr_kit_settle(kit);
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "GET /slow" H "\r\n");
    tr_kit_finish(peer); /* it may end its side before the answer */
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, 10 * TR_SECOND), "slow"));
    end();
}

TEST(connections_end_when_the_client_or_the_version_asks_for_it, "W-03")
{
    kits_each(play_close);
}

/* ---- Bodies. ---- */

static void play_chunks(void)
{
    static const char chunked[] = "POST /body" H "Transfer-Encoding: chunked\r\n\r\n"
                                  "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX: y\r\n\r\n";
    const tr_kit_network pieces = {.piece_max = TR_KIT_RANDOM, .delay_ns = TR_MILLISECOND};
    begin();
    tr_kit_set_network(kit, &pieces);
    for (int i = 0; i < 3; i++) {
        peer_send(peer, chunked);
        HTTP_GETS(peer, "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nhello world");
    }
    peer_send(peer, "POST /body" H "Content-Length: 11\r\n\r\nhello");
    tr_kit_advance(kit, TR_SECOND);
    HTTP_ASK(peer, " world", "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nhello world");
    /* Split at every byte. */
    for (size_t at = 1; at < sizeof chunked - 1; at++) {
        ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){chunked, at}), at);
        tr_kit_advance(kit, 2 * TR_MILLISECOND);
        peer_send(peer, chunked + at);
        HTTP_GETS(peer, "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nhello world");
    }
    end();
}

TEST(bodies_come_by_length_and_in_chunks_split_anywhere, "W-02", "W-03")
{
    kit_open(1, 1);
    play_chunks();
    kit_close();
    kit_open(3, 2);
    play_chunks();
    kit_close();
}

static void play_continue(void)
{
    begin();
    HTTP_ASK(peer,
             "POST /body" H "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n",
             "HTTP/1.1 100 Continue\r\n\r\n");
    HTTP_ASK(peer, "hi", "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nhi");
    /* A body that nobody wants is not asked for, and the connection ends. */
    HTTP_ASK(peer,
             "POST /ignore" H "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n",
             "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    CLOSED(peer);
    end();
}

TEST(a_client_that_expects_100_continue_gets_it_when_the_body_is_read, "W-03")
{
    kits_each(play_continue);
}

static void play_ignored(void)
{
    begin();
    /* A body that the handler has not read is dropped, and the next request is where it ends. */
    HTTP_ASK(peer,
             "POST /ignore" H "Content-Length: 5\r\n\r\nhelloGET /n/1" H "\r\n",
             "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{\"value\":1}");
    HTTP_ASK(
        peer, "POST /ignore" H "Content-Length: 5\r\n\r\nhe", "HTTP/1.1 204 No Content\r\n\r\n");
    HTTP_ASK(peer, "lloGET /n/2" H "\r\n", HTTP_OK("{\"value\":2}"));
    HTTP_ASK(peer,
             "POST /ignore" H "Content-Length: 1000000\r\n\r\nhello",
             "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    CLOSED(peer);
    /* It may still send, and sees the answer and no reset. */
    for (int i = 0; i < 10; i++) {
        char more[1000];
        memset(more, 'x', sizeof more);
        ck_assert_uint_gt(tr_kit_send(peer, (tr_bytes){more, sizeof more}), 0);
        tr_kit_settle(kit);
    }
    CLOSED(peer);
    end();
}

TEST(a_body_that_nobody_reads_is_dropped_or_ends_the_connection, "W-03")
{
    kits_each(play_ignored);
}

/* ---- Limits and timeouts. ---- */

static void play_limits(void)
{
    char text[400];
    HOST(host, listen_small);
    for (int size = 99; size <= 101; size++) {
        peer = peer_new();
        int at = snprintf(text, sizeof text, "POST /n" H "Content-Length: %d\r\n\r\n", size);
        memset(text + at, ' ', (size_t)size);
        memcpy(text + at, "{\"value\":4}", 11);
        text[at + size] = '\0';
        if (size <= 100)
            HTTP_ASK(peer, text, "HTTP/1.1 200 OK\r\nServer: test\r\n\r\n{\"value\":4}");
        else
            HTTP_ASK(peer,
                     text,
                     "HTTP/1.1 413 Content Too Large\r\nServer: test\r\nConnection: close\r\n\r\n"
                     "{\"error\":{\"code\":413,\"message\":\"the body is too large\"}}");
        tr_kit_close(peer);
    }
    tr_kit_settle(kit);
}

/* The client is amid its body when the answer comes, and continues to send. */
static void play_too_large_still_sending(void)
{
    static const char block[1000];
    HOST(host, listen_small);
    peer = peer_new();
    peer_send(peer, "POST /n" H "Content-Length: 100000\r\n\r\n");
    for (int i = 0; i < 20; i++) {
        ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){block, sizeof block}), sizeof block);
        tr_kit_settle(kit);
        ck_assert_int_ne(tr_kit_peer_status(peer), TR_RESET);
    }
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), " 413 "));
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_close(peer);
    tr_kit_settle(kit);
}

TEST(a_client_that_still_sends_sees_413_and_no_reset, "W-04", "CH-20")
{
    kits_each(play_too_large_still_sending);
}

TEST(a_typed_body_above_its_limit_is_413, "W-04")
{
    kits_each(play_limits);
}

static void play_timeouts(void)
{
    begin();
    peer_send(peer, "GET /n/1 HT");
    tr_kit_advance(kit, TR_HTTP_HEAD_NS / 2);
    peer_send(peer, "TP/1.1\r\n"); /* it is the first byte that counts */
    tr_kit_advance(kit, TR_HTTP_HEAD_NS / 2 - TR_MILLISECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    tr_kit_advance(kit, 2 * TR_SECOND);
    HTTP_GETS(peer,
              "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"
              "{\"error\":{\"code\":408,\"message\":\"Request Timeout\"}}");
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "POST /body" H "Content-Length: 10\r\n\r\nhello");
    tr_kit_advance(kit, TR_HTTP_BODY_NS - TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    tr_kit_advance(kit, 2 * TR_SECOND);
    HTTP_GETS(peer,
              "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"
              "{\"error\":{\"code\":408,\"message\":\"the body took too long\"}}");
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    for (int i = 0; i < 3; i++) { /* each request starts the time again */
        tr_kit_advance(kit, TR_HTTP_KEEP_NS - TR_SECOND);
        HTTP_ASK(peer, "GET /n/1" H "\r\n", HTTP_OK("{\"value\":1}"));
    }
    tr_kit_advance(kit, TR_HTTP_KEEP_NS - TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    tr_kit_advance(kit, 2 * TR_SECOND);
    HTTP_GETS(peer, "");
    CLOSED(peer);
    end();
}

TEST(heads_bodies_and_pauses_have_their_time, "W-04")
{
    kit_open(1, 1);
    play_timeouts();
    kit_close();
    kit_open(3, 2);
    play_timeouts();
    kit_close();
}

static void play_cut(void)
{
    begin();
    peer_send(peer, "POST /body" H "Content-Length: 10\r\n\r\nhello");
    tr_kit_finish(peer);
    HTTP_GETS(peer,
              "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
              "{\"error\":{\"code\":400,\"message\":\"the body ended before its length\"}}");
    tr_kit_close(peer);
    peer = peer_new();
    HTTP_ASK(peer,
             "POST /body" H "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX",
             "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
             "{\"error\":{\"code\":400,\"message\":\"a chunk of the body is malformed\"}}");
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    HTTP_ASK(peer,
             "GET / HTTP/1.1\r\n\r\nGET /n/1" H "\r\n",
             "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
             "{\"error\":{\"code\":400,\"message\":\"there is no field Host\"}}");
    CLOSED(peer);
    end();
}

TEST(what_is_malformed_is_400_and_ends_the_connection, "W-02")
{
    kits_each(play_cut);
}

/* A client that goes away at every byte of a request, in order or by a reset, leaves nothing behind. */
TEST(a_client_may_go_away_at_every_byte, "W-02", "W-06")
{
    static const char text[] = "POST /body" H "Content-Length: 5\r\n\r\nhelloGET /slow" H "\r\n";
    for (size_t at = 1; at <= sizeof text - 1; at++) {
        for (int resets = 0; resets <= 1; resets++) {
            kit_open(1, at);
            begin();
            ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){text, at}), at);
            tr_kit_settle(kit);
            if (resets)
                tr_kit_reset(peer);
            tr_kit_close(peer);
            tr_kit_advance(kit, 200 * TR_SECOND);
            ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
            kit_close();
        }
    }
}

/* The same for the answers: the server can send so many bytes, then the client is gone. */
TEST(a_client_may_go_away_at_every_byte_of_an_answer, "W-02", "W-06")
{
    static const char text[] = "POST /body" H "Content-Length: 5\r\n\r\nhelloGET /n/1" H "\r\n";
    for (size_t size = 1; size <= 320; size++) {
        const tr_kit_network network = {.size = sizeof network, .window = size};
        kit_open(1, size);
        begin();
        ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){text, sizeof text - 1}), sizeof text - 1);
        tr_kit_set_network(kit, &network);
        tr_kit_settle(kit);
        tr_kit_reset(peer);
        tr_kit_close(peer);
        tr_kit_advance(kit, 200 * TR_SECOND);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
        kit_close();
    }
}

/* ---- Failures. ---- */

#define FAILED_500                                                                                 \
    "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n"                              \
    "{\"error\":{\"code\":500,\"message\":\"Internal Server Error\"}}"

static void play_failures(void)
{
    begin();
    HTTP_ASK(peer, "GET /fail" H "\r\n", FAILED_500);
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    HTTP_ASK(peer, "GET /crash" H "\r\nGET /n/1" H "\r\n", FAILED_500);
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    HTTP_ASK(peer,
             "GET /late" H "\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nbefore");
    CLOSED(peer);
    tr_kit_close(peer);
    peer = peer_new();
    HTTP_ASK(peer, "GET /inject?value=a%0d%0aX:%20b" H "\r\n", FAILED_500);
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "GET /half" H "\r\n");
    (void)tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "GET /half-crash" H "\r\n");
    (void)tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    end();
}

TEST(a_handler_that_fails_is_500_and_half_an_answer_is_a_reset, "W-06")
{
    kits_each(play_failures);
}

/* ---- The end. ---- */

static void play_drain(void)
{
    begin();
    tr_kit_peer *busy = peer_new();
    HTTP_ASK(peer, "GET /n/1" H "\r\n", HTTP_OK("{\"value\":1}"));
    peer_send(busy, "GET /slow" H "\r\n");
    host_run(stop_listener);
    CLOSED(peer); /* idle: at once */
    ck_assert_int_eq(tr_kit_peer_status(busy), TR_OK);
    const char *text = http_plain(tr_kit_receive_text(busy, 10 * TR_SECOND));
    ck_assert_str_eq(text,
                     "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: "
                     "close\r\n\r\nslow");
    tr_kit_settle(kit);
    CLOSED(busy);
    tr_kit_close(busy);
    tr_kit_close(peer);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_listener_that_stops_ends_idle_connections_and_lets_busy_ones_answer, "W-07")
{
    kits_each(play_drain);
}

SUITE("http on the wire", requests_sent_ahead_are_answered_in_order,
      answers_of_one_run_leave_together, connections_end_when_the_client_or_the_version_asks_for_it,
      bodies_come_by_length_and_in_chunks_split_anywhere,
      a_client_that_expects_100_continue_gets_it_when_the_body_is_read,
      a_body_that_nobody_reads_is_dropped_or_ends_the_connection,
      a_typed_body_above_its_limit_is_413, a_client_that_still_sends_sees_413_and_no_reset,
      heads_bodies_and_pauses_have_their_time, what_is_malformed_is_400_and_ends_the_connection,
      a_client_may_go_away_at_every_byte, a_client_may_go_away_at_every_byte_of_an_answer,
      a_handler_that_fails_is_500_and_half_an_answer_is_a_reset,
      a_listener_that_stops_ends_idle_connections_and_lets_busy_ones_answer)
