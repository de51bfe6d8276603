/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP: ids of requests, in the answer, in the log and in the requests of a turn; answers as gzip; bodies that are gzip; forms
 * with files as they come. On the network of kits.
 */
#include "support/heard_log.h"
#include "support/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <troupe/http_client.h>
#include <unistd.h>
#include <zlib.h>

TR_MESSAGE(number, (u64, value), (str, text));
TR_REQUEST(echo_number, number, (u64, value), (str, text));

static char text_2000[2001];

static tr_next on_number(tr_self *self, const struct echo_number *message)
{
    return tr_reply(self, number, .value = message->value, .text = message->text);
}

static tr_next on_text(tr_self *self)
{
    const struct tr_http_field tag[] = {{"ETag", "\"a\""}, {NULL, NULL}};
    const char *how = tr_http_part(self, "how");
    if (strcmp(how, "plain") == 0)
        tr_http_keep_plain(self);
    if (strcmp(how, "set") == 0)
        tr_http_set(self, "etag", "\"b\"");
    if (strcmp(how, "coded") == 0)
        tr_http_set(self, "content-encoding", "br");
    if (strcmp(how, "png") == 0)
        return tr_http_reply(self, 200, .type = "image/png", .text = text_2000);
    if (strcmp(how, "small") == 0)
        return tr_http_reply(self, 200, .text = "small");
    if (strcmp(how, "fixed") == 0)
        return tr_http_reply(self, 200, .text = text_2000, .cache = "no-transform");
    return tr_http_reply(self, 200, .text = text_2000, .headers = strcmp(how, "tag") ? NULL : tag);
}

static tr_next on_id(tr_self *self)
{
    const struct tr_http_answer *answer;
    const char *id = tr_http_request_id(self);
    char made[24];
    snprintf(made, sizeof made, "%016" PRIx64, tr_causal_id(self));
    answer = tr_await(self, tr_http_ask(self, "http://127.0.0.1:7001/show"));
    return tr_http_reply(self,
                         200,
                         .text = tr_format(self,
                                           "%s %d %.*s",
                                           strcmp(id, made) == 0 ? "made" : id,
                                           answer->status,
                                           (int)answer->body.size,
                                           (const char *)answer->body.data));
}

static tr_next on_show(tr_self *self)
{
    const char *id = tr_http_header(self, "x-request-id");
    const char *trace = tr_http_header(self, "traceparent");
    ck_assert_ptr_null(tr_http_request_id(self)); /* not asked for */
    return tr_http_reply(
        self, 200, .text = tr_format(self, "%zu %s", strlen(id), trace ? trace : "-"));
}

static tr_next on_form(tr_self *self)
{
    struct tr_http_form_part part;
    tr_bytes piece;
    while (tr_http_next_part(self, &part)) {
        size_t size = 0;
        char first = '-';
        while (tr_http_read_part(self, &piece)) {
            first = size ? first : *(const char *)piece.data;
            size += piece.size;
            if (strcmp(part.name, "skip") == 0)
                break;
        }
        say("%s %s %s %zu %c",
            part.name,
            part.filename ? part.filename : "-",
            part.type,
            size,
            first);
    }
    ck_assert(!tr_http_read_part(self, &piece));
    return tr_http_reply(self, 200, .text = "all");
}

static tr_next on_fields(tr_self *self)
{
    const char *a = tr_http_form(self, "a");
    const char *b = tr_http_form(self, "b");
    const char *file = tr_http_form(self, "f");
    return tr_http_reply(
        self,
        200,
        .text = tr_format(self, "%s %s %s", a ? a : "-", b ? b : "-", file ? file : "-"));
}

TR_BEHAVIOR(api, void, TR_POST("/n", echo_number, on_number),
            TR_GET("/text/{how}", tr_http_request, on_text), TR_GET("/id", tr_http_request, on_id),
            TR_POST("/form", tr_http_request, on_form),
            TR_POST("/fields", tr_http_request, on_fields));
TR_BEHAVIOR(other, void, TR_GET("/show", tr_http_request, on_show),
            TR_POST("/n", echo_number, on_number));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen_api(tr_self *self)
{
    const tr_http_options options = {.has_ids = true,
                                     .logs = true,
                                     .compresses = true,
                                     .inflates = true,
                                     .body_max = 5000,
                                     .parts_max = 5};
    tr_listener_ref second;
    listener = tr_listen(self, api, TR_HTTP(SERVER, .http = &options));
    second = tr_listen(self, other, TR_HTTP("127.0.0.1:7001"));
    (void)second;
    return TR_SAME;
}

static tr_kit_peer *peer;

static void begin(void)
{
    memset(text_2000, 't', sizeof text_2000 - 1);
    HOST(host, listen_api);
    peer = peer_new();
}

#define H " HTTP/1.1\r\nHost: a\r\nX-Request-Id: r-1\r\n"

/* ---- Ids. ---- */

static void play_ids(void)
{
    begin();
    peer_send(peer, "GET /id" H "traceparent: 00-1-2-3\r\n\r\n");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_ptr_nonnull(strstr(text, "\r\nx-request-id: r-1\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "\r\n\r\nr-1 200 3 00-1-2-3"));
    /* One that is missing, or that could fool a reader, is made. */
    static const char *const heads[] = {
        "", "X-Request-Id: a b\r\n", "X-Request-Id: <x>\r\n", "X-Request-Id:\r\n"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char request[200];
        snprintf(request, sizeof request, "GET /id HTTP/1.1\r\nHost: a\r\n%s\r\n", heads[i]);
        peer_send(peer, request);
        text = tr_kit_receive_text(peer, TR_SECOND);
        ck_assert_ptr_nonnull(strstr(text, "\r\n\r\nmade 200 16 -"));
    }
}

TEST(requests_have_ids, "W-12")
{
    kits_each(play_ids);
}

TEST(the_log_of_requests_has_no_queries, "W-04", "H-06")
{
    heard_begin();
    kit_open(1, 1);
    begin();
    peer_send(peer, "GET /id?token=secret" H "\r\n");
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), " 200 "));
    kit_close();
    const char *log = heard_end();
    ck_assert_ptr_nonnull(strstr(log, " GET /id 200 "));
    ck_assert_ptr_null(strstr(log, "secret"));
}

/* ---- Answers as gzip. ---- */

/* Asks for a text. Returns the answer; *is_gzip: its body is, and it is right. */
static const char *get_text(const char *how, const char *accepts, bool *is_gzip)
{
    static char head[1000];
    char request[200];
    unsigned char plain[3000];
    snprintf(request, sizeof request, "GET /text/%s" H "%s\r\n", how, accepts);
    peer_send(peer, request);
    tr_bytes answer = tr_kit_receive(peer, TR_SECOND);
    const char *end = memmem(answer.data, answer.size, "\r\n\r\n", 4);
    ck_assert_ptr_nonnull(end);
    size_t size = (size_t)(end + 4 - (const char *)answer.data);
    snprintf(head, sizeof head, "%.*s", (int)size, (const char *)answer.data);
    *is_gzip = strstr(head, "\r\ncontent-encoding: gzip\r\n");
    if (!*is_gzip)
        return head;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)(end + 4),
                       .avail_in = (uInt)(answer.size - size),
                       .next_out = plain,
                       .avail_out = sizeof plain};
    ck_assert_int_eq(inflateInit2(&stream, 31), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.total_out, 2000);
    ck_assert(memcmp(plain, text_2000, 2000) == 0);
    ck_assert_uint_lt(answer.size - size, 100);
    inflateEnd(&stream);
    return head;
}

#define GZIP "Accept-Encoding: br, gzip\r\n"
#define VARY "\r\nvary: accept-encoding\r\n"

static void play_gzip(void)
{
    bool is_gzip;
    begin();
    const char *head = get_text("any", GZIP, &is_gzip);
    ck_assert(is_gzip && strstr(head, VARY));
    head = get_text("tag", GZIP, &is_gzip);
    ck_assert(is_gzip && strstr(head, "\r\nETag: W/\"a\"\r\n"));
    head = get_text("set", GZIP, &is_gzip);
    ck_assert(is_gzip && strstr(head, "\r\netag: W/\"b\"\r\n"));
    head = get_text("any", "", &is_gzip);
    ck_assert(!is_gzip && strstr(head, VARY) && strstr(head, "\r\nContent-Length: 2000\r\n"));
    head = get_text("any", "Accept-Encoding: gzip;q=0\r\n", &is_gzip);
    ck_assert(!is_gzip && strstr(head, VARY));
    static const char *const never[] = {"plain", "coded", "png", "small", "fixed"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        head = get_text(never[i], GZIP, &is_gzip);
        ck_assert_msg(!is_gzip && !strstr(head, VARY), "%s: %s", never[i], head);
    }
}

TEST(answers_are_compressed_for_clients_that_accept_it, "W-12")
{
    kits_each(play_gzip);
}

/* ---- Bodies that are gzip. ---- */

/* Sends a body as gzip. Returns the answer. */
static const char *post_gzip(tr_kit_peer *to, const char *body, size_t size, size_t less)
{
    unsigned char packed[1000];
    unsigned char request[1300];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)body,
                       .avail_in = (uInt)size,
                       .next_out = packed,
                       .avail_out = sizeof packed};
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t length = stream.total_out - less;
    deflateEnd(&stream);
    int head = snprintf((char *)request,
                        sizeof request,
                        "POST /n" H "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                        length);
    memcpy(request + head, packed, length);
    size_t all = (size_t)head + length;
    ck_assert_uint_eq(tr_kit_send(to, (tr_bytes){request, all}), all);
    tr_kit_settle(kit);
    return tr_kit_receive_text(to, TR_SECOND);
}

static void play_inflate(void)
{
    static char bomb[200000];
    begin();
    const char document[] = "{\"value\":7,\"text\":\"tea\"}";
    ck_assert_ptr_nonnull(strstr(post_gzip(peer, document, sizeof document - 1, 0),
                                 "\r\n\r\n{\"value\":7,\"text\":\"tea\"}"));
    ck_assert_ptr_nonnull(strstr(post_gzip(peer, document, sizeof document - 1, 3), " 400 "));
    tr_kit_close(peer);
    peer = peer_new();
    memset(bomb, ' ', sizeof bomb);
    ck_assert_ptr_nonnull(strstr(post_gzip(peer, bomb, sizeof bomb, 0), " 413 "));
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "POST /n" H "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert(strstr(text, " 415 ") && strstr(text, "\r\naccept-encoding: gzip\r\n"));
    /* Without .inflates it is 415 too. */
    tr_kit_peer *plain = tr_kit_connect(kit, "127.0.0.1:7001");
    ck_assert_ptr_nonnull(strstr(post_gzip(plain, document, sizeof document - 1, 0), " 415 "));
}

TEST(bodies_may_be_gzip_within_the_limit, "W-12")
{
    kits_each(play_inflate);
}

/* ---- Forms with files. ---- */

#define FORM "Content-Type: multipart/form-data; boundary=xx\r\nTransfer-Encoding: chunked\r\n\r\n"

static void send_chunk(const char *text, size_t size)
{
    char head[16];
    snprintf(head, sizeof head, "%zx\r\n", size);
    peer_send(peer, head);
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){text, size}), size);
    tr_kit_settle(kit);
    peer_send(peer, "\r\n");
}

static void play_form(void)
{
    static char large[30000];
    begin();
    memset(large, 'L', sizeof large);
    peer_send(peer, "POST /form" H FORM);
    const char first[] =
        "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n--xx\r\n"
        "Content-Disposition: form-data; name=\"f\"; filename=\"b.txt\"\r\nContent-Type: "
        "a/b\r\n\r\n";
    for (size_t i = 0; i < sizeof first - 1; i += 7) {
        size_t left = sizeof first - 1 - i;
        send_chunk(first + i, left < 7 ? left : 7);
    }
    for (int i = 0; i < 10; i++) /* more than .body_max: it is not kept */
        send_chunk(large, sizeof large);
    const char last[] =
        "\r\n--xx\r\nContent-Disposition: form-data; name=\"skip\"\r\n\r\n0123456789\r\n--xx--\r\n";
    send_chunk(last, sizeof last - 1);
    peer_send(peer, "0\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "\r\n\r\nall"));
    SAID("a -  5 v; f b.txt a/b 300000 L; skip -  10 0");
    /* A small form by name. */
    static const char fields[] =
        "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--xx\r\n"
        "Content-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\nfile\r\n--xx\r\n"
        "Content-Disposition: form-data; name=\"b\"\r\n\r\n\r\n--xx--\r\n";
    char request[600];
    snprintf(request,
             sizeof request,
             "POST /fields" H
             "Content-Type: multipart/form-data; boundary=xx\r\nContent-Length: %zu\r\n\r\n%s",
             sizeof fields - 1,
             fields);
    peer_send(peer, request);
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "\r\n\r\n1\r\n2  -"));
    (void)said();
}

static const struct {
    const char *type;
    const char *body;
    const char *status;
} forms[] = {
    {"text/plain", "x", " 415 "},
    {"multipart/form-data", "x", " 415 "},
    {"multipart/form-data; boundary=xx",
     "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue",
     " 400 "},
    {"multipart/form-data; boundary=xx", "--xx\r\nNonsense\r\n\r\nvalue\r\n--xx--\r\n", " 400 "},
    {"multipart/form-data; boundary=xx",
     "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--xx\r\nContent-Disposition: "
     "form-data; "
     "name=\"a\"\r\n\r\n\r\n--xx\r\nContent-Disposition: form-data; "
     "name=\"a\"\r\n\r\n\r\n--xx\r\nContent-Disposition: "
     "form-data; name=\"a\"\r\n\r\n\r\n--xx\r\nContent-Disposition: form-data; "
     "name=\"a\"\r\n\r\n\r\n--xx\r\n"
     "Content-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--xx--\r\n",
     " 413 "},
};

static void play_bad_forms(void)
{
    begin();
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char request[1500];
        snprintf(request,
                 sizeof request,
                 "POST /form" H "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
                 forms[i].type,
                 strlen(forms[i].body),
                 forms[i].body);
        peer_send(peer, request);
        const char *text = tr_kit_receive_text(peer, TR_SECOND);
        ck_assert_msg(strstr(text, forms[i].status), "%s: %s", forms[i].body, text);
        tr_kit_close(peer);
        peer = peer_new();
    }
    (void)said();
}

TEST(forms_with_files_are_read_as_they_come, "W-12")
{
    kits_each(play_form);
    kits_each(play_bad_forms);
}

SUITE("http, wired", requests_have_ids, the_log_of_requests_has_no_queries,
      answers_are_compressed_for_clients_that_accept_it, bodies_may_be_gzip_within_the_limit,
      forms_with_files_are_read_as_they_come)
