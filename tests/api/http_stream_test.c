/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP: bodies that are read as they come, answers that are written as they are made, events, cookies, forms, files, and
 * what a balancer asks. On the network of kits.
 */
#include "support/http.h"

#include <sys/stat.h>
#include <unistd.h>

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static size_t most; /* bytes that waited to be sent, at most */

/* Counts a body of any size. */
static tr_next on_count(tr_self *self)
{
    tr_bytes piece;
    size_t size = 0;
    const char *name = tr_http_part(self, "name");
    while (tr_http_read(self, &piece))
        size += piece.size;
    return tr_http_reply(
        self, 200, .text = tr_format(self, "%s %zu %s", name, size, tr_http_header(self, "x")));
}

/* Writes much, for a client that reads slowly. */
static tr_next on_much(tr_self *self)
{
    char piece[10000];
    memset(piece, 'm', sizeof piece);
    tr_http_begin(self, 200, .type = "a/b");
    for (int i = 0; i < 100; i++) {
        if (tr_http_write(self, (tr_bytes){piece, sizeof piece}) != TR_OK) {
            say("gone %d", tr_http_is_gone(self));
            return tr_http_end(self);
        }
        size_t size = tr_output_size(self, tr_peer(self));
        most = size > most ? size : most;
    }
    return tr_http_end(self);
}

/* Writes so much that it is sent at once, to a client that has gone. */
static tr_next on_lost(tr_self *self)
{
    static const char piece[20000];
    tr_http_begin(self, 200, .type = "a/b", .length = tr_http_query(self, "whole") ? 20000 : 0);
    tr_kit_fail_network(kit, "send", 1, TR_RESET);
    tr_status first = tr_http_write(self, (tr_bytes){piece, sizeof piece});
    tr_status second = tr_http_write(self, (tr_bytes){piece, sizeof piece});
    say("%s %s %d", tr_status_name(first), tr_status_name(second), tr_http_is_gone(self));
    return tr_http_end(self);
}

/* An answer that is taken at once, though the client may not read it. */
static tr_next on_large(tr_self *self)
{
    static const char body[30000];
    return tr_http_reply(self, 200, .body = {body, sizeof body});
}

static tr_next on_late(tr_self *self)
{
    tr_sleep(self, TR_MINUTE);
    tr_next next = tr_http_reply(self, 200, .text = "late");
    say("late %d", tr_http_is_gone(self));
    return next;
}

static tr_next on_known(tr_self *self)
{
    tr_http_begin(self, 200, .type = "a/b", .length = 6, .cache = "no-store");
    tr_http_print(self, "%s", "abc");
    tr_http_print(self, "%d", 123);
    return tr_http_end(self);
}

static tr_next on_events(tr_self *self)
{
    tr_http_event(self, "tick", "1");
    tr_sleep(self, TR_SECOND);
    tr_http_event(self, NULL, "two\nlines");
    return tr_http_end(self);
}

static tr_next on_cookie(tr_self *self)
{
    const char *b = tr_http_cookie(self, "b");
    const char *none = tr_http_cookie(self, "bb");
    const struct tr_http_field set[] = {{"Set-Cookie", "a=1; HttpOnly"}, {NULL, NULL}};
    return tr_http_reply(self,
                         200,
                         .text = tr_format(self, "%s %s", b ? b : "-", none ? none : "-"),
                         .headers = set);
}

static tr_next on_form(tr_self *self)
{
    const char *name = tr_http_form(self, "name");
    const char *mail = tr_http_form(self, "mail");
    const char *none = tr_http_form(self, "none");
    return tr_http_reply(
        self, 303, .location = tr_format(self, "/%s/%s/%s", name, mail, none ? none : "-"));
}

TR_MESSAGE(order, (u32, count), (str, what));
static tr_next on_json(tr_self *self)
{
    const struct order *order = TR_HTTP_JSON(self, order);
    return tr_http_reply_json(self, 202, order, .count = order->count + 1, .what = order->what);
}

/* Takes what has no row. */
static tr_next on_rest(tr_self *self, const struct tr_http_request *message)
{
    return tr_http_reply(self, 200, .text = message->method);
}

static char directory[] = "/tmp/troupe-http-XXXXXX";
TR_BEHAVIOR(api, void, TR_PUT("/count/{name}", tr_http_request, on_count),
            TR_GET("/much", tr_http_request, on_much), TR_GET("/known", tr_http_request, on_known),
            TR_GET("/lost", tr_http_request, on_lost), TR_GET("/large", tr_http_request, on_large),
            TR_GET("/late", tr_http_request, on_late),
            TR_GET("/events", tr_http_request, on_events),
            TR_GET("/cookie", tr_http_request, on_cookie),
            TR_POST("/form", tr_http_request, on_form), TR_POST("/json", tr_http_request, on_json),
            TR_FILES("/files/{path...}", directory), TR_ON(tr_http_request, on_rest));

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static const tr_http_options options = {.has_health = true, .logs = true};
ONCE(listen_api, listener = tr_listen(self, api, TR_HTTP(SERVER, .http = &options)))
ONCE(pause_listener, tr_listener_pause(self, listener))
ONCE(resume_listener, tr_listener_resume(self, listener))

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
#define TEXT "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"

/* ---- Reading. ---- */

static void play_upload(void)
{
    enum { SIZE = 300000, STEP = 10000 };
    static char piece[STEP];
    memset(piece, 'p', sizeof piece);
    begin();
    peer_send(peer, "PUT /count/a%20b" H "X: y\r\nContent-Length: 300000\r\n\r\n");
    for (int sent = 0; sent < SIZE;) {
        size_t size = tr_kit_send(peer, (tr_bytes){piece, STEP});
        sent += (int)size;
        if (!size)
            tr_kit_advance(kit, TR_MILLISECOND);
        tr_kit_settle(kit);
    }
    HTTP_GETS(peer, TEXT "\r\na b 300000 y"); /* the head stays, however much was read */
    peer_send(peer, "PUT /count/c" H "X: y\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 30; i++) {
        peer_send(peer, "2710\r\n");
        ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){piece, STEP}), STEP);
        peer_send(peer, "\r\n");
    }
    HTTP_ASK(peer, "0\r\n\r\n", TEXT "\r\nc 300000 y");
    end();
}

TEST(a_body_of_any_size_is_read_as_it_comes, "W-05")
{
    kits_each(play_upload);
}

/* ---- Writing. ---- */

static void play_download(void)
{
    const tr_kit_network narrow = {.window = 4096};
    tr_kit_set_network(kit, &narrow);
    begin();
    most = 0;
    peer_send(peer, "GET /much" H "\r\n");
    size_t got = 0;
    for (;;) {
        tr_bytes bytes = tr_kit_receive(peer, TR_SECOND);
        if (!bytes.size)
            break;
        got += bytes.size;
    }
    ck_assert_uint_gt(got, 1000000);
    ck_assert_uint_lt(got, 1002000);
    ck_assert_uint_lt(most, 2 * TR_OUTPUT_MAX); /* the writer has waited */
    HTTP_ASK(peer,
             "GET /known" H "\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nCache-Control: no-store\r\n\r\nabc123");
    peer_send(peer, "GET /much" H "\r\n");
    tr_kit_reset(peer); /* the client goes away amid the answer */
    tr_kit_settle(kit);
    SAID("gone 1");
    end();
}

TEST(an_answer_is_written_as_fast_as_the_client_reads, "W-05")
{
    kits_each(play_download);
}

static void play_lost(void)
{
    begin();
    peer_send(peer, "GET /lost" H "\r\n");
    SAID("TR_CLOSED TR_CLOSED 1");
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "GET /lost?whole=1" H "\r\n");
    SAID("TR_CLOSED TR_CLOSED 1");
    end();
}

TEST(a_client_that_has_gone_is_closed_in_whatever_way_it_went, "W-05")
{
    kits_each(play_lost);
}

static void play_stalled(void)
{
    const tr_kit_network narrow = {.window = 4096};
    tr_kit_set_network(kit, &narrow);
    begin();
    peer_send(peer, "GET /large" H "\r\nGET /late" H "\r\n");
    tr_kit_advance(kit, 2 * TR_MINUTE); /* the client does not read: TR_STALLED */
    SAID("late 1");
    end();
}

TEST(an_answer_to_a_client_that_was_cut_off_is_dropped, "W-05", "C-04")
{
    kits_each(play_stalled);
}

static void play_events(void)
{
    begin();
    HTTP_ASK(peer,
             "GET /events" H "\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
             "Transfer-Encoding: chunked\r\n\r\n15\r\nevent: tick\ndata: 1\n\n\r\n");
    HTTP_GETS(peer, "17\r\ndata: two\ndata: lines\n\n\r\n0\r\n\r\n");
    /* HTTP/1.0 has no chunks: the end of the connection is the end. */
    HTTP_ASK(peer,
             "GET /known HTTP/1.0\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nCache-Control: no-store\r\nConnection: "
             "close\r\n\r\nabc123");
    tr_kit_close(peer);
    peer = peer_new();
    HTTP_ASK(peer,
             "GET /events HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
             "Connection: close\r\n\r\nevent: tick\ndata: 1\n\n");
    HTTP_GETS(peer, "data: two\ndata: lines\n\n");
    end();
}

TEST(events_leave_when_they_are_written, "W-05", "W-03")
{
    kits_each(play_events);
}

/* ---- Cookies, forms, JSON, what has no row. ---- */

static void play_more(void)
{
    begin();
    HTTP_ASK(peer,
             "GET /cookie" H "Cookie: a=1; b=two; c=3\r\n\r\n",
             TEXT "Set-Cookie: a=1; HttpOnly\r\n\r\ntwo -");
    HTTP_ASK(peer,
             "POST /form" H "Content-Length: 31\r\n\r\nname=a+b&mail=c%40d.e&other=%zz",
             "HTTP/1.1 303 See Other\r\nLocation: /a b/c@d.e/-\r\n\r\n");
    HTTP_ASK(peer,
             "POST /json" H "Content-Length: 25\r\n\r\n{\"count\":1,\"what\":\"tea\"} ",
             "HTTP/1.1 202 Accepted\r\n\r\n{\"count\":2,\"what\":\"tea\"}");
    peer_send(peer, "POST /json" H "Content-Length: 12\r\n\r\n{\"count\":-1}");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert(strncmp(text, "HTTP/1.1 400 ", 13) == 0);
    ck_assert_ptr_nonnull(strstr(text, "count"));
    HTTP_ASK(peer, "DELETE /what" H "\r\n", TEXT "\r\nDELETE");
    HTTP_ASK(peer, "OPTIONS /what" H "\r\n", TEXT "\r\nOPTIONS");
    end();
}

TEST(cookies_forms_and_json_of_raw_requests, "W-01")
{
    kits_each(play_more);
}

static void play_health(void)
{
    begin();
    HTTP_ASK(peer, "GET /healthz" H "\r\n", TEXT "\r\nok\n");
    HTTP_ASK(peer, "GET /readyz" H "\r\n", TEXT "\r\nok\n");
    host_run(pause_listener);
    HTTP_ASK(peer, "GET /healthz" H "\r\n", TEXT "\r\nok\n");
    HTTP_ASK(peer,
             "GET /readyz" H "\r\n",
             "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; "
             "charset=utf-8\r\n\r\nnot ready\n");
    host_run(resume_listener);
    HTTP_ASK(peer, "HEAD /readyz" H "\r\n", TEXT "\r\n");
    end();
}

TEST(a_balancer_sees_whether_the_listener_takes_requests, "W-07")
{
    kits_each(play_health);
}

/* ---- Files. ---- */

static void file_write(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void in_directory(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", directory, name);
}

static void files_make(void)
{
    char path[128];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    in_directory("sub", path, sizeof path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    file_write("a.txt", "0123456789");
    file_write(".hidden", "secret");
    file_write("sub/index.html", "<p>");
    in_directory("out", path, sizeof path);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    in_directory("up", path, sizeof path);
    ck_assert_int_eq(symlink("../", path), 0);
    in_directory("in", path, sizeof path);
    ck_assert_int_eq(symlink("a.txt", path), 0);
}

static void files_remove(void)
{
    static const char *const names[] = {"a.txt", ".hidden", "sub/index.html", "out", "up", "in"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        in_directory(names[i], path, sizeof path);
        ck_assert_int_eq(unlink(path), 0);
    }
    in_directory("sub", path, sizeof path);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

/* Asks for a file. Returns the answer. */
static const char *get_file(const char *path, const char *headers)
{
    char request[512];
    snprintf(request, sizeof request, "GET /files/%s" H "%s\r\n", path, headers);
    peer_send(peer, request);
    return tr_kit_receive_text(peer, TR_SECOND);
}

#define FILE_IS(path, headers, status, body)                                                       \
    do {                                                                                           \
        const char *answer_ = get_file(path, headers);                                             \
        ck_assert_msg(strncmp(answer_, "HTTP/1.1 " status " ", 13) == 0, "%s: %s", path, answer_); \
        const char *body_ = strstr(answer_, "\r\n\r\n");                                           \
        ck_assert_msg(body_ &&strcmp(body_ + 4, body) == 0, "%s: %s", path, answer_);              \
    } while (0)

#define NOTHING "{\"error\":{\"code\":404,\"message\":\"nothing is served here\"}}"

static void play_files(void)
{
    char tag[100], modified[100], condition[128];
    begin();
    FILE_IS("a.txt", "", "200", "0123456789");
    const char *answer = get_file("a.txt", "");
    ck_assert_int_eq(sscanf(strstr(answer, "ETag: "), "ETag: %99[^\r]", tag), 1);
    ck_assert_int_eq(sscanf(strstr(answer, "Last-Modified: "), "Last-Modified: %99[^\r]", modified),
                     1);
    ck_assert_ptr_nonnull(strstr(answer, "Content-Type: text/plain"));
    snprintf(condition, sizeof condition, "If-None-Match: \"x\", W/%s\r\n", tag);
    FILE_IS("a.txt", condition, "304", "");
    FILE_IS("a.txt", "If-None-Match: \"x\"\r\n", "200", "0123456789");
    snprintf(condition, sizeof condition, "If-Modified-Since: %s\r\n", modified);
    FILE_IS("a.txt", condition, "304", "");
    FILE_IS("a.txt", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "200", "0123456789");
    FILE_IS("a.txt", "Range: bytes=2-4\r\n", "206", "234");
    FILE_IS("a.txt", "Range: bytes=7-\r\n", "206", "789");
    FILE_IS("a.txt", "Range: bytes=-1\r\n", "206", "9");
    FILE_IS("a.txt", "Range: bytes=0-99999\r\n", "206", "0123456789");
    ck_assert_ptr_nonnull(
        strstr(get_file("a.txt", "Range: bytes=9-9\r\n"), "Content-Range: bytes 9-9/10\r\n"));
    ck_assert_ptr_nonnull(
        strstr(get_file("a.txt", "Range: bytes=10-\r\n"), "Content-Range: bytes */10\r\n"));
    FILE_IS("a.txt", "Range: bytes=10-\r\n", "416", "");
    FILE_IS("a.txt", "Range: bytes=-0\r\n", "416", "");
    FILE_IS("a.txt", "Range: bytes=4-2\r\n", "200", "0123456789");
    FILE_IS("a.txt", "Range: bytes=1-2,4-5\r\n", "200", "0123456789");
    FILE_IS("a.txt", "Range: lines=1-2\r\n", "200", "0123456789");
    FILE_IS("a.txt", "Range: bytes=1-2\r\nIf-Range: \"x\"\r\n", "200", "0123456789");
    FILE_IS("in", "", "200", "0123456789");
    FILE_IS("sub/", "", "200", "<p>");
    HTTP_ASK(peer, "POST /files/a.txt" H "\r\n", TEXT "\r\nPOST");
    end();
}

static void play_outside(void)
{
    begin();
    FILE_IS("missing", "", "404", NOTHING);
    FILE_IS("sub", "", "404", NOTHING);
    FILE_IS("", "", "404", NOTHING);
    FILE_IS(".hidden", "", "404", NOTHING);
    FILE_IS("sub/.", "", "200", "<p>"); /* as "sub/" */
    FILE_IS("out", "", "404", NOTHING);
    FILE_IS("up/passwd", "", "404", NOTHING);
    FILE_IS("%2e%2e%2fetc/passwd", "", "404", NOTHING);
    FILE_IS("..%2f..%2f..%2f..%2fetc%2fpasswd", "", "404", NOTHING);
    FILE_IS("%2fetc/passwd", "", "404", NOTHING);
    FILE_IS("a.txt/", "", "404", NOTHING);
    /* Dots are resolved before the row is looked for. */
    HTTP_ASK(peer, "GET /files/../../etc/passwd" H "\r\n", TEXT "\r\nGET");
    end();
}

TEST(files_below_a_directory_and_no_others, "W-10", "W-03")
{
    files_make();
    kit_open(1, 1);
    play_files();
    kit_close();
    kit_open(1, 1);
    play_outside();
    kit_close();
    files_remove();
}

SUITE("http streams", a_body_of_any_size_is_read_as_it_comes,
      an_answer_is_written_as_fast_as_the_client_reads,
      a_client_that_has_gone_is_closed_in_whatever_way_it_went,
      an_answer_to_a_client_that_was_cut_off_is_dropped, events_leave_when_they_are_written,
      cookies_forms_and_json_of_raw_requests, a_balancer_sees_whether_the_listener_takes_requests,
      files_below_a_directory_and_no_others)
