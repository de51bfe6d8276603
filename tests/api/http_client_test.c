/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP as a client: requests as they leave, answers as they come in pieces or not at all, kept connections, limits and times.
 * On the network of kits, where the test is the server.
 */
#include "support/http.h"

#include <troupe/http_client.h>

static const char *url;
static tr_http_call how;

/* Says how an ask has ended. */
static void tell_answer(tr_self *self, tr_http_call_ask asked)
{
    const struct tr_http_answer *answer;
    tr_status status = tr_try_await(self, asked, &answer);
    if (status != TR_OK) {
        say("%s", tr_status_name(status));
        return;
    }
    const char *x = tr_http_answer_header(answer, "X");
    say("%d %.*s%s%s",
        answer->status,
        (int)answer->body.size,
        (const char *)answer->body.data,
        x ? " x=" : "",
        x ? x : "");
}

static tr_next ask(tr_self *self)
{
    tell_answer(self, tr_self_http_ask(self, url, &how));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next nothing(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

static tr_kit_peer *peer;

static void begin(void)
{
    HOST(host, nothing);
    (void)tr_kit_accept(kit, SERVER, 0); /* listens */
    url = "http://" SERVER "/a?b=c#d";
    how = (tr_http_call){.size = 0};
}

/* Lets the host ask, and the test accept its connection. */
static void connect_ask(void)
{
    host_run(ask);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
}

#define REST "User-Agent: troupe\r\nAccept: */*\r\n"
#define GET_A "GET /a?b=c HTTP/1.1\r\nHost: " SERVER "\r\n" REST "\r\n"

static void answer_with(const char *text)
{
    peer_send(peer, text);
    tr_kit_settle(kit);
}

/* ---- Requests and answers. ---- */

static void play_plain(void)
{
    begin();
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: y\r\n\r\nabc");
    SAID("200 abc x=y");
    /* The connection is kept. */
    host_run(ask);
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: "
                "chunked\r\n\r\n2\r\nno\r\n1;a=b\r\n!\r\n0\r\nT: "
                "t\r\n\r\n");
    SAID("404 no!");
    how.text = "body";
    how.authorization = "Bearer x";
    how.headers = (const struct tr_http_field[]){{"Accept", "a/b"}, {"X-A", "1"}, {NULL, NULL}};
    host_run(ask);
    PEER_GETS(peer,
              "POST /a?b=c HTTP/1.1\r\nHost: " SERVER
              "\r\nUser-Agent: troupe\r\nAuthorization: Bearer x\r\nContent-Type: text/plain; "
              "charset=utf-8\r\nAccept: a/b\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody");
    answer_with("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
    SAID("204 ");
    how = (tr_http_call){.method = "HEAD"};
    host_run(ask);
    PEER_GETS(peer, "HEAD /a?b=c HTTP/1.1\r\nHost: " SERVER "\r\n" REST "\r\n");
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n");
    SAID("200 ");
    how = (tr_http_call){.method = "PUT"};
    host_run(ask);
    PEER_GETS(peer, "PUT /a?b=c HTTP/1.1\r\nHost: " SERVER "\r\n" REST "Content-Length: 0\r\n\r\n");
    answer_with("HTTP/1.1 304 Not Modified\r\nContent-Length: 300\r\n\r\n");
    SAID("304 ");
    how = (tr_http_call){.size = 0};
    host_run(ask);
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200\r\n\r\nto the end");
    SAID("");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("200 to the end");
}

TEST(requests_leave_and_answers_come, "W-09")
{
    kits_each(play_plain);
}

/* ---- Answers that are wrong. ---- */

static const struct {
    const char *answer;
    const char *said;
} bad_answers[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "TR_BAD_DATA"},
    {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nX : y\r\n\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 200 OK\r\nX: a\x01\r\n\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 20 OK\r\n\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 600 OK\r\n\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 099 OK\r\n\r\n", "TR_BAD_DATA"},
    {"HTTP/2.0 200 OK\r\n\r\n", "TR_BAD_DATA"},
    {"\r\nHTTP/1.1 200 OK\r\n\r\n", "TR_BAD_DATA"},
    {"SSH-2.0-OpenSSH\r\n", "TR_BAD_DATA"},
    {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "TR_BAD_DATA"},
};

static void play_bad(void)
{
    for (size_t i = 0; i < sizeof bad_answers / sizeof bad_answers[0]; i++) {
        begin();
        connect_ask();
        PEER_GETS(peer, GET_A);
        answer_with(bad_answers[i].answer);
        const char *text = said();
        ck_assert_msg(strcmp(text, bad_answers[i].said) == 0,
                      "%s: %s, not %s",
                      bad_answers[i].answer,
                      text,
                      bad_answers[i].said);
        ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
        tr_kit_close(peer);
        tr_stop(test, host);
        tr_kit_settle(kit);
    }
}

TEST(an_ambiguous_answer_is_an_error_and_the_end, "W-09")
{
    kit_open(1, 1);
    play_bad();
    kit_close();
}

static void play_limits(void)
{
    char head[5000];
    begin();
    how.body_max = 3;
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
    SAID("200 abc");
    host_run(ask);
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd");
    SAID("TR_TOO_LARGE");
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\n");
    SAID("");
    answer_with("d");
    SAID("TR_TOO_LARGE");
    /* Heads, at the limit and behind it. */
    how = (tr_http_call){.head_max = 1000};
    for (int more = 0; more < 2; more++) {
        int size = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nY: ");
        memset(head + size, 'y', 1000);
        strcpy(head + 1000 - 4 + more, "\r\n\r\n");
        connect_ask();
        PEER_GETS(peer, GET_A);
        answer_with(head);
        SAID(more ? "TR_TOO_LARGE" : "200 ");
        tr_kit_close(peer);
        tr_kit_settle(kit);
    }
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i <= TR_HTTP_HEADERS_MAX; i++)
        answer_with("a: b\r\n");
    answer_with("\r\n");
    SAID("TR_TOO_LARGE");
}

TEST(heads_and_bodies_have_limits, "W-09", "W-04")
{
    kits_each(play_limits);
}

/* ---- Every byte. ---- */

static const char whole[] =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: "
    "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";

TEST(an_answer_may_be_split_at_every_byte, "W-09")
{
    kit_open(1, 1);
    begin();
    connect_ask();
    for (size_t at = 1; at < sizeof whole - 1; at++) {
        if (at > 1)
            host_run(ask);
        PEER_GETS(peer, GET_A);
        ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){whole, at}), at);
        tr_kit_settle(kit);
        SAID("");
        answer_with(whole + at);
        SAID("200 abcde x=y");
    }
    kit_close();
    kit_open(1, 1);
    const tr_kit_network narrow = {.piece_max = 1};
    tr_kit_set_network(kit, &narrow);
    begin();
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with(whole);
    SAID("200 abcde x=y");
    kit_close();
}

TEST(a_connection_may_end_at_every_byte, "W-09")
{
    kit_open(1, 1);
    begin();
    how.text = "x"; /* POST is not repeated */
    for (int resets = 0; resets < 2; resets++) {
        for (size_t at = 0; at < sizeof whole - 1; at++) {
            connect_ask();
            (void)tr_kit_receive(peer, TR_SECOND);
            if (at)
                ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){whole, at}), at);
            tr_kit_settle(kit);
            if (resets)
                tr_kit_reset(peer);
            else
                tr_kit_finish(peer);
            tr_kit_settle(kit);
            SAID(resets ? "TR_RESET" : "TR_CLOSED");
            tr_kit_close(peer);
            tr_kit_settle(kit);
        }
    }
    kit_close();
}

/* ---- Kept connections that end. ---- */

static void play_again(void)
{
    begin();
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    SAID("200 ");
    /* The server ends it while nobody asks: the next ask has a new one. */
    tr_kit_close(peer);
    tr_kit_settle(kit);
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    SAID("200 ");
    /* It ends it when the request comes: GET is sent again, once. */
    host_run(ask);
    PEER_GETS(peer, GET_A);
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    SAID("");
    tr_kit_close(peer);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    PEER_GETS(peer, GET_A);
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    SAID("TR_CLOSED");
    /* POST is not, and nothing is when a byte of the answer came. */
    tr_kit_close(peer);
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    SAID("200 ");
    how.method = "POST";
    host_run(ask);
    (void)tr_kit_receive(peer, TR_SECOND);
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    SAID("TR_RESET");
    how.method = NULL;
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    SAID("200 ");
    host_run(ask);
    PEER_GETS(peer, GET_A);
    answer_with("H");
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    SAID("TR_RESET");
    /* Bytes that nobody asked for end a kept connection. */
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    SAID("200 ");
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake");
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntruefake");
    SAID("200 true");
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    SAID("200 ok");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
}

TEST(a_kept_connection_that_ended_is_replaced_when_that_is_safe, "W-09")
{
    kits_each(play_again);
}

static void play_idle(void)
{
    begin();
    how.idle_ns = 5 * TR_SECOND;
    connect_ask();
    PEER_GETS(peer, GET_A);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    SAID("200 ");
    tr_kit_advance(kit, 4 * TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    tr_kit_advance(kit, 3 * TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
}

TEST(a_connection_without_an_ask_is_closed, "W-09")
{
    kits_each(play_idle);
}

/* ---- Times and limits. ---- */

static void play_times(void)
{
    begin();
    how.within_ns = TR_SECOND;
    connect_ask();
    PEER_GETS(peer, GET_A);
    tr_kit_advance(kit, 990 * MS);
    SAID("");
    tr_kit_advance(kit, 30 * MS);
    SAID("TR_TIMEOUT");
    tr_kit_advance(kit, 30 * MS);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET); /* it is not kept */
    connect_ask();
    PEER_GETS(peer, GET_A);
    for (int i = 0; i < 9; i++) { /* pieces do not make it longer */
        answer_with(i ? "x" : "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");
        tr_kit_advance(kit, 110 * MS);
    }
    tr_kit_advance(kit, 30 * MS);
    SAID("TR_TIMEOUT");
    url = "http://127.0.0.1:7777/";
    host_run(ask);
    SAID("TR_CONNECT_REFUSED");
}

TEST(an_ask_has_a_deadline, "W-09")
{
    kits_each(play_times);
}

static tr_next ask_three(tr_self *self)
{
    how.connections_max = 2;
    how.waiting_max = 1;
    tr_http_call_ask asked[4];
    for (int i = 0; i < 4; i++)
        asked[i] = tr_self_http_ask(self, url, &how);
    for (int i = 0; i < 4; i++)
        tell_answer(self, asked[i]);
    return TR_SAME;
}

static void play_line(void)
{
    begin();
    host_run(ask_three);
    tr_kit_peer *first = tr_kit_accept(kit, SERVER, TR_SECOND);
    tr_kit_peer *second = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 10 * MS));
    PEER_GETS(first, GET_A);
    PEER_GETS(second, GET_A);
    peer_send(second, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
    PEER_GETS(second, GET_A); /* of the third */
    peer_send(second, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n3");
    peer_send(first, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1");
    tr_kit_settle(kit);
    SAID("200 1; 200 2; 200 3; TR_LIMIT");
}

TEST(asks_wait_for_a_connection_in_order_up_to_a_limit, "W-09")
{
    kits_each(play_line);
}

/* ---- Bad asks. ---- */

static tr_next ask_badly(tr_self *self)
{
    static const char *const urls[] = {"",
                                       "ftp://a/",
                                       "http://",
                                       "http:///a",
                                       "http://a b/",
                                       "http://u@a/",
                                       "http://a:0/",
                                       "http://a:70000/",
                                       "http://[::1/",
                                       "http://a/\r\nX: y",
                                       "http://a/\xc3\xa4",
                                       "ws://a/",
                                       "a"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        tr_http_call_ask asked = tr_http_ask(self, urls[i]);
        ck_assert_int_eq(tr_try_await(self, asked, NULL), TR_INVALID_ARGUMENT);
    }
    const struct tr_http_field bad[][2] = {{{"Host", "x"}, {NULL, NULL}},
                                           {{"Content-Length", "1"}, {NULL, NULL}},
                                           {{"Transfer-Encoding", "chunked"}, {NULL, NULL}},
                                           {{"a b", "1"}, {NULL, NULL}},
                                           {{"a", "1\r\nb: c"}, {NULL, NULL}}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tr_http_call_ask asked = tr_http_ask(self, url, .headers = bad[i]);
        ck_assert_int_eq(tr_try_await(self, asked, NULL), TR_INVALID_ARGUMENT);
    }
#define BAD(...)                                                                                   \
    ck_assert_int_eq(tr_try_await(self, tr_http_ask(self, url, __VA_ARGS__), NULL),                \
                     TR_INVALID_ARGUMENT)
    BAD(.method = "GE T");
    BAD(.method = "CONNECT");
    BAD(.within_ns = -1);
    BAD(.text = "a", .body = TR_BYTES("b"));
    BAD(.length = 3);
    BAD(.head_max = 1 << 20);
    BAD(.body_max = SIZE_MAX);
    BAD(.authorization = "a\nb");
    BAD(.by = TR_TCP(SERVER, .framing = TR_LINES));
    BAD(.by = TR_TLS(SERVER, .trusts = "a.pem")); /* the URL has no TLS */
    ck_assert_int_eq(tr_try_await(self, tr_http_ask(self, NULL), NULL), TR_INVALID_ARGUMENT);
    say("all");
    return TR_SAME;
}

TEST(an_ask_that_is_wrong_sends_nothing, "W-09")
{
    kit_open(1, 1);
    begin();
    host_run(ask_badly);
    SAID("all");
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 10 * MS));
    kit_close();
}

/* ---- Bodies that wait. ---- */

static void play_expect(void)
{
    begin();
    how.text = "body";
    how.expects = true;
    connect_ask();
    const char *text = tr_kit_receive_text(peer, 10 * MS);
    ck_assert_ptr_nonnull(strstr(text, "Expect: 100-continue\r\n\r\n"));
    ck_assert_ptr_null(strstr(text, "body"));
    answer_with("HTTP/1.1 100 Continue\r\n\r\n");
    PEER_GETS(peer, "body");
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    SAID("200 ");
    /* A server that does not answer gets it after a while. */
    host_run(ask);
    ck_assert_ptr_null(strstr(tr_kit_receive_text(peer, 10 * MS), "body"));
    tr_kit_advance(kit, 990 * MS);
    PEER_GETS(peer, "body");
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    SAID("200 ");
    /* One that refuses does not get it, and the connection is not used again. */
    host_run(ask);
    (void)tr_kit_receive_text(peer, 10 * MS);
    answer_with("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    SAID("413 no");
    tr_kit_settle(kit);
    ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
}

TEST(a_body_may_wait_for_100_continue, "W-09")
{
    kits_each(play_expect);
}

static char large[300000];

static void play_early(void)
{
    const tr_kit_network narrow = {.window = 4096};
    tr_kit_set_network(kit, &narrow);
    begin();
    memset(large, 'l', sizeof large);
    how.body = (tr_bytes){large, sizeof large};
    connect_ask();
    (void)tr_kit_receive(peer, TR_SECOND);
    SAID("");
    answer_with("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    SAID("413 no");
    /* A server that reads all gets all. */
    connect_ask();
    size_t got = 0;
    while (got < sizeof large) {
        tr_bytes bytes = tr_kit_receive(peer, TR_SECOND);
        if (!bytes.size)
            break;
        got += bytes.size;
    }
    ck_assert_uint_gt(got, sizeof large);
    answer_with("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    SAID("200 ok");
}

TEST(an_answer_may_come_before_the_body_was_sent, "W-09")
{
    kit_open(1, 1);
    play_early();
    kit_close();
    kit_open(3, 1);
    play_early();
    kit_close();
}

SUITE("http client", requests_leave_and_answers_come, an_ambiguous_answer_is_an_error_and_the_end,
      heads_and_bodies_have_limits, an_answer_may_be_split_at_every_byte,
      a_connection_may_end_at_every_byte,
      a_kept_connection_that_ended_is_replaced_when_that_is_safe,
      a_connection_without_an_ask_is_closed, an_ask_has_a_deadline,
      asks_wait_for_a_connection_in_order_up_to_a_limit, an_ask_that_is_wrong_sends_nothing,
      a_body_may_wait_for_100_continue, an_answer_may_come_before_the_body_was_sent)
