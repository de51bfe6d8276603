/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP/2: the rows of HTTP/1.1 over streams that interleave, with flow control both ways, limits, failures and ends. On the
 * network of kits, with a client on nghttp2.
 */
#include "support/h2.h"

#include <sys/stat.h>
#include <unistd.h>

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

TR_MESSAGE(number, (u64, value), (str, text));
TR_REQUEST(echo_number, number, (u64, value), (str, text));

static tr_next on_number(tr_self *self, const struct echo_number *message)
{
    return tr_reply(self, number, .value = message->value, .text = message->text);
}

static tr_next on_refuse(tr_self *self)
{
    return tr_refuse(self, 409, "not now");
}

static tr_next on_body(tr_self *self)
{
    tr_bytes body = tr_http_body(self, 1 << 20);
    return tr_http_reply(self, 200, .body = body, .type = "a/b");
}

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

static tr_next on_stop(tr_self *self)
{
    tr_http_reply(self, 200, .text = "bye");
    return TR_STOP;
}

static tr_next on_slow(tr_self *self)
{
    tr_sleep(self, TR_SECOND);
    return tr_http_reply(self, 200, .text = "slow");
}

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
    }
    return tr_http_end(self);
}

static tr_next on_events(tr_self *self)
{
    tr_http_event(self, "tick", "1");
    tr_sleep(self, TR_SECOND);
    tr_http_event(self, NULL, "2\n3");
    return tr_http_end(self);
}

static tr_next on_see(tr_self *self, const struct tr_http_request *request)
{
    tr_http_set(self, "X-Set", "1");
    tr_http_set(self, "Connection", "close");
    return tr_http_reply(self,
                         200,
                         .text = tr_format(self,
                                           "%s %s %s %s %s %s",
                                           request->method,
                                           request->path,
                                           tr_http_query(self, "q"),
                                           request->host,
                                           tr_http_header(self, "cookie"),
                                           tr_http_cookie(self, "b")));
}

TR_BEHAVIOR(api, void, TR_GET("/n/{value}", echo_number, on_number),
            TR_POST("/n", echo_number, on_number), TR_GET("/refuse", tr_http_request, on_refuse),
            TR_POST("/body", tr_http_request, on_body),
            TR_POST("/ignore", tr_http_request, on_ignore),
            TR_GET("/fail", tr_http_request, on_fail), TR_GET("/crash", tr_http_request, on_crash),
            TR_GET("/half", tr_http_request, on_half), TR_GET("/stop", tr_http_request, on_stop),
            TR_GET("/slow", tr_http_request, on_slow), TR_GET("/much", tr_http_request, on_much),
            TR_GET("/events", tr_http_request, on_events), TR_GET("/see", tr_http_request, on_see),
            TR_FILES("/files/{path...}", "h2_files"));

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static const tr_http_options few = {.streams_max = 2, .body_max = 100, .head_max = 512};
static const tr_http_options no_h2 = {.has_no_http2 = true};
ONCE(listen_api, listener = tr_listen(self, api, TR_HTTP(SERVER)))
ONCE(listen_few, listener = tr_listen(self, api, TR_HTTP(SERVER, .http = &few)))
ONCE(listen_old, listener = tr_listen(self, api, TR_HTTP(SERVER, .http = &no_h2)))
ONCE(stop_listener, tr_stop(self, listener))

static struct h2_client client;

static void begin(turn *listens)
{
    HOST(host, listens);
    h2_open(&client);
}

static void end(void)
{
    h2_close(&client);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1); /* the listener */
}

/* ---- The same handlers. ---- */

static void play_rows(void)
{
    begin(listen_api);
    int32_t typed = h2_get(&client, "/n/7?text=tea");
    int32_t json = h2_post(&client, "/n", "{\"value\":8,\"text\":\"x\"}");
    int32_t wrong = h2_get(&client, "/n/x");
    int32_t refused = h2_get(&client, "/refuse");
    int32_t nowhere = h2_get(&client, "/nowhere");
    int32_t method = h2_ask(&client, "PUT", "/n", NULL, TR_BYTES("x"), false);
    int32_t echoed = h2_post(&client, "/body", "all of it");
    int32_t none = h2_post(&client, "/ignore", "");
    h2_run(&client, TR_SECOND);
    H2_GETS(&client, typed, 200, "{\"value\":7,\"text\":\"tea\"}");
    ck_assert_str_eq(h2_answer_of(&client, typed)->head,
                     "content-type: application/json\ncontent-length: 24\n");
    H2_GETS(&client, json, 200, "{\"value\":8,\"text\":\"x\"}");
    ck_assert_int_eq(h2_answer_of(&client, wrong)->status, 400);
    ck_assert_ptr_nonnull(strstr(h2_answer_of(&client, wrong)->body, "value"));
    H2_GETS(&client, refused, 409, "{\"error\":{\"code\":409,\"message\":\"not now\"}}");
    ck_assert_int_eq(h2_answer_of(&client, nowhere)->status, 404);
    ck_assert_int_eq(h2_answer_of(&client, method)->status, 405);
    ck_assert_ptr_nonnull(strstr(h2_answer_of(&client, method)->head, "allow: POST"));
    H2_GETS(&client, echoed, 200, "all of it");
    H2_GETS(&client, none, 204, "");
    end();
}

TEST(rows_answer_streams_as_they_answer_http_1, "W-11", "W-01")
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        kit_open(1 + (int)(seed % 2), seed);
        play_rows();
        kit_close();
    }
}

TEST(requests_look_as_in_http_1, "W-11")
{
    kit_open(1, 1);
    begin(listen_api);
    const char *const fields[] = {"cookie", "a=1", "x-b", "2", "cookie", "b=2", NULL};
    int32_t see = h2_ask(&client, "GET", "/see/../see?q=%41", fields, (tr_bytes){NULL, 0}, false);
    int32_t head = h2_ask(&client, "HEAD", "/n/7", NULL, (tr_bytes){NULL, 0}, false);
    int32_t options = h2_ask(&client, "OPTIONS", "*", NULL, (tr_bytes){NULL, 0}, false);
    int32_t bad = h2_get(&client, "/n/%zz");
    h2_run(&client, TR_SECOND);
    H2_GETS(&client, see, 200, "GET /see A a a=1; b=2 2");
    ck_assert_ptr_nonnull(strstr(h2_answer_of(&client, see)->head, "x-set: 1\n"));
    ck_assert_ptr_null(strstr(h2_answer_of(&client, see)->head, "connection"));
    H2_GETS(&client, head, 200, "");
    ck_assert_ptr_nonnull(strstr(h2_answer_of(&client, head)->head, "content-length: 23\n"));
    ck_assert_int_eq(h2_answer_of(&client, options)->status, 204);
    ck_assert_int_eq(h2_answer_of(&client, bad)->status, 400);
    end();
    kit_close();
}

TEST(streams_interleave, "W-11")
{
    kit_open(1, 1);
    begin(listen_api);
    int32_t slow = h2_get(&client, "/slow");
    int32_t open = h2_ask(&client, "POST", "/body", NULL, TR_BYTES("ab"), true);
    int32_t events = h2_get(&client, "/events");
    int32_t quick = h2_get(&client, "/n/1");
    h2_run(&client, 10 * MS);
    H2_GETS(&client, quick, 200, "{\"value\":1,\"text\":null}");
    ck_assert_int_eq(h2_answer_of(&client, slow)->status, 0);
    ck_assert_str_eq(h2_answer_of(&client, events)->body, "event: tick\ndata: 1\n\n");
    ck_assert(!h2_answer_of(&client, events)->is_over);
    h2_run(&client, 2 * TR_SECOND);
    H2_GETS(&client, slow, 200, "slow");
    H2_GETS(&client, events, 200, "event: tick\ndata: 1\n\ndata: 2\ndata: 3\n\n");
    ck_assert_int_eq(h2_answer_of(&client, open)->status, 0);
    h2_more(&client, open, "cd", false);
    h2_run(&client, TR_SECOND);
    H2_GETS(&client, open, 200, "abcd");
    end();
    kit_close();
}

TEST(a_client_that_expects_100_continue_gets_it, "W-11", "W-03")
{
    kit_open(1, 1);
    begin(listen_api);
    const char *const fields[] = {"expect", "100-continue", NULL};
    int32_t waits = h2_ask(&client, "POST", "/body", fields, TR_BYTES(""), true);
    int32_t ignored = h2_ask(&client, "POST", "/ignore", fields, TR_BYTES(""), true);
    h2_run(&client, 10 * MS);
    ck_assert_int_eq(h2_answer_of(&client, waits)->continues, 1);
    ck_assert_int_eq(h2_answer_of(&client, ignored)->continues, 0);
    ck_assert_int_eq(h2_answer_of(&client, ignored)->status, 204);
    H2_RESET(&client, ignored, NGHTTP2_NO_ERROR); /* its body is not wanted */
    h2_more(&client, waits, "now", false);
    h2_run(&client, TR_SECOND);
    H2_GETS(&client, waits, 200, "now");
    end();
    kit_close();
}

static void write_file(void)
{
    FILE *file;
    ck_assert(mkdir("h2_files", 0700) == 0 || access("h2_files", R_OK) == 0);
    file = fopen("h2_files/a.txt", "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 20000; i++)
        fprintf(file, "%09d\n", i);
    fclose(file);
}

TEST(files_and_ranges_are_served, "W-11", "W-10")
{
    char directory[] = "/tmp/troupe_h2_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    write_file();
    kit_open(1, 1);
    begin(listen_api);
    const char *const range[] = {"range", "bytes=10-19", NULL};
    int32_t part = h2_ask(&client, "GET", "/files/a.txt", range, (tr_bytes){NULL, 0}, false);
    int32_t all = h2_get(&client, "/files/a.txt");
    int32_t head = h2_ask(&client, "HEAD", "/files/a.txt", NULL, (tr_bytes){NULL, 0}, false);
    int32_t out = h2_get(&client, "/files/%2e%2e/x");
    h2_run(&client, TR_SECOND);
    H2_GETS(&client, part, 206, "000000001\n");
    ck_assert_uint_eq(h2_answer_of(&client, all)->size, 200000);
    ck_assert(h2_answer_of(&client, all)->is_over);
    H2_GETS(&client, head, 200, "");
    ck_assert_ptr_nonnull(strstr(h2_answer_of(&client, head)->head, "content-length: 200000\n"));
    ck_assert_int_ge(h2_answer_of(&client, out)->status, 400);
    end();
    kit_close();
    unlink("h2_files/a.txt");
    rmdir("h2_files");
    rmdir(directory);
}

/* ---- Limits. ---- */

TEST(streams_heads_and_bodies_have_limits, "W-11", "W-04")
{
    static char large[600];
    static char path[700];
    memset(large, 'x', sizeof large - 1);
    memset(path, 'p', sizeof path - 1);
    path[0] = '/';
    kit_open(1, 1);
    begin(listen_few);
    h2_run(&client, MS);
    ck_assert_uint_eq(nghttp2_session_get_remote_settings(client.session,
                                                          NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
                      2);
    const char *const fields[] = {"x-large", large, NULL};
    int32_t head = h2_ask(&client, "GET", "/n/1", fields, (tr_bytes){NULL, 0}, false);
    h2_run(&client, 10 * MS);
    ck_assert_int_eq(h2_answer_of(&client, head)->status, 431);
    int32_t target = h2_get(&client, path);
    h2_run(&client, 10 * MS);
    ck_assert_int_eq(h2_answer_of(&client, target)->status, 414);
    int32_t body = h2_post(&client, "/n", large);
    h2_run(&client, 10 * MS);
    ck_assert_int_eq(h2_answer_of(&client, body)->status, 413);
    end();
    kit_close();
}

TEST(heads_bodies_and_pauses_have_their_time, "W-11", "W-04")
{
    kit_open(1, 1);
    begin(listen_api);
    int32_t slow = h2_ask(&client, "POST", "/body", NULL, TR_BYTES("a"), true);
    h2_run(&client, MS);
    tr_kit_advance(kit, TR_HTTP_BODY_NS + TR_SECOND);
    h2_run(&client, MS);
    ck_assert_int_eq(h2_answer_of(&client, slow)->status, 408);
    ck_assert(!client.has_goaway);
    /* Pings do not keep a connection. */
    for (int i = 0; i < 8; i++) {
        nghttp2_submit_ping(client.session, 0, NULL);
        h2_run(&client, MS);
        tr_kit_advance(kit, 10 * TR_SECOND);
    }
    h2_run(&client, MS);
    H2_ENDED(&client, NGHTTP2_NO_ERROR);
    ck_assert_int_eq(client.goaway_last, slow);
    end();
    kit_close();
}

/* ---- Failures and ends. ---- */

TEST(a_handler_that_fails_is_500_and_the_connection_ends, "W-11", "W-06")
{
    const char *const paths[] = {"/fail", "/crash"};
    for (int i = 0; i < 2; i++) {
        kit_open(1, 1);
        begin(listen_api);
        int32_t other = h2_get(&client, "/slow");
        int32_t id = h2_get(&client, paths[i]);
        h2_run(&client, TR_SECOND);
        ck_assert_int_eq(h2_answer_of(&client, id)->status, 500);
        ck_assert_ptr_null(strstr(h2_answer_of(&client, id)->body, "secret"));
        ck_assert(h2_answer_of(&client, id)->is_over);
        ck_assert(
            h2_answer_of(&client, other)->is_over); /* its turn was cancelled, and has answered */
        ck_assert(client.has_goaway);
        ck_assert_int_ne(tr_kit_peer_status(client.peer), TR_OK);
        end();
        kit_close();
    }
}

TEST(half_an_answer_is_a_reset_of_its_stream, "W-11", "W-06")
{
    kit_open(1, 1);
    begin(listen_api);
    int32_t half = h2_get(&client, "/half");
    int32_t good = h2_get(&client, "/n/1");
    h2_run(&client, TR_SECOND);
    H2_RESET(&client, half, NGHTTP2_INTERNAL_ERROR);
    ck_assert(!h2_answer_of(&client, half)->is_over);
    ck_assert_int_eq(h2_answer_of(&client, good)->status, 200);
    ck_assert(!client.has_goaway);
    end();
    kit_close();
}

TEST(a_session_that_stops_says_goaway, "W-11", "W-07")
{
    kit_open(1, 1);
    begin(listen_api);
    int32_t id = h2_get(&client, "/stop");
    h2_run(&client, TR_SECOND);
    H2_GETS(&client, id, 200, "bye");
    H2_ENDED(&client, NGHTTP2_NO_ERROR);
    end();
    kit_close();
}

TEST(a_listener_that_stops_lets_streams_answer, "W-11", "W-07")
{
    kit_open(1, 1);
    begin(listen_api);
    struct h2_client idle;
    h2_open(&idle);
    h2_run(&idle, MS);
    int32_t slow = h2_get(&client, "/slow");
    h2_run(&client, MS);
    host_run(stop_listener);
    h2_run(&idle, MS);
    H2_ENDED(&idle, NGHTTP2_NO_ERROR);
    int32_t late = h2_get(&client, "/n/1");
    h2_run(&client, 2 * TR_SECOND);
    H2_GETS(&client, slow, 200, "slow");
    H2_ENDED(&client, NGHTTP2_NO_ERROR);
    ck_assert_int_eq(h2_answer_of(&client, late)->status,
                     0); /* not handled: it may be sent again */
    h2_close(&idle);
    h2_close(&client);
    kit_close();
}

TEST(a_client_that_resets_a_stream_ends_no_other, "W-11")
{
    kit_open(1, 1);
    begin(listen_api);
    int32_t much = h2_get(&client, "/much");
    client.holds_window = true;
    h2_run(&client, MS);
    nghttp2_submit_rst_stream(client.session, 0, much, NGHTTP2_CANCEL);
    int32_t good = h2_get(&client, "/slow");
    h2_run(&client, 2 * TR_SECOND);
    SAID("TR_CLOSED 1");
    ck_assert_int_eq(h2_answer_of(&client, good)->status, 200);
    end();
    kit_close();
}

TEST(http_1_and_2_are_told_apart_by_their_first_bytes, "W-11", "W-02")
{
    kit_open(1, 1);
    begin(listen_api);
    /* Not at the beginning, or not quite. */
    const char *const texts[] = {"GET /n/1 HTTP/1.1\r\nHost: a\r\n\r\n" H2_PREFACE,
                                 "PRI * HTTP/2.0\r\n\r\nSMx\r\n\r\n",
                                 "PRI /n/1 HTTP/1.1\r\nHost: a\r\n\r\n"};
    for (int i = 0; i < 3; i++) {
        tr_kit_peer *peer = peer_new();
        for (const char *at = texts[i]; *at; at++) {
            (void)tr_kit_send(peer, (tr_bytes){at, 1});
            tr_kit_settle(kit);
        }
        const char *text = tr_kit_receive_text(peer, TR_SECOND);
        ck_assert_msg(strstr(text, "HTTP/1.1 505") || strstr(text, "HTTP/1.1 501") ||
                          strstr(text, "HTTP/1.1 400"),
                      "%d: %s",
                      i,
                      text);
        tr_kit_close(peer);
    }
    end();
    kit_close();
    kit_open(1, 1);
    HOST(host, listen_old);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, H2_PREFACE);
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "HTTP/1.1 505"));
    tr_kit_close(peer);
    kit_close();
}

SUITE("http/2", rows_answer_streams_as_they_answer_http_1, requests_look_as_in_http_1,
      streams_interleave, a_client_that_expects_100_continue_gets_it, files_and_ranges_are_served,
      streams_heads_and_bodies_have_limits, heads_bodies_and_pauses_have_their_time,
      a_handler_that_fails_is_500_and_the_connection_ends, half_an_answer_is_a_reset_of_its_stream,
      a_session_that_stops_says_goaway, a_listener_that_stops_lets_streams_answer,
      a_client_that_resets_a_stream_ends_no_other, http_1_and_2_are_told_apart_by_their_first_bytes)
