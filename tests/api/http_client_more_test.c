/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP as a client: JSON both ways, redirects, streams, TLS, and memory that is refused, against the server of the library.
 * On the network of kits.
 */
#include "support/certificates.h"
#include "support/http.h"

#include <troupe/http_client.h>

#ifndef VERSION /* http2_client_more_test.c has another one */
#define VERSION TR_HTTP_VERSION_ANY
#endif

#define OTHER "127.0.0.2:7001"
#define SECURE "127.0.0.1:7443"

/* ---- The server. ---- */

TR_MESSAGE(order, (u64, id), (str, what));
TR_REQUEST(place_order, order, (u64, id), (str, what));

static tr_next on_place(tr_self *self, const struct place_order *message)
{
    tr_http_status(self, 201);
    return tr_reply(self, order, .id = message->id + 1, .what = message->what);
}

/* Answers with what came: method, target, secrets, and the size of the body. */
static tr_next on_any(tr_self *self, const struct tr_http_request *request)
{
    tr_bytes piece;
    size_t size = 0;
    while (tr_http_read(self, &piece))
        size += piece.size;
    const char *secret = tr_http_header(self, "authorization");
    const char *cookie = tr_http_header(self, "cookie");
    return tr_http_reply(self,
                         200,
                         .text = tr_format(self,
                                           "%s %s %s %s %zu",
                                           request->method,
                                           request->target,
                                           secret ? secret : "-",
                                           cookie ? cookie : "-",
                                           size));
}

static tr_next on_redirect(tr_self *self)
{
    const char *to = tr_http_query(self, "to");
    int status = atoi(tr_http_part(self, "status"));
    return tr_http_reply(self, status, .location = to, .text = "elsewhere");
}

static tr_next on_much(tr_self *self)
{
    char piece[10000];
    memset(piece, 'm', sizeof piece);
    tr_http_begin(self, 200, .type = "a/b");
    for (int i = 0; i < 100; i++)
        (void)tr_http_write(self, (tr_bytes){piece, sizeof piece});
    return tr_http_end(self);
}

static tr_next on_half(tr_self *self)
{
    tr_http_begin(self, 200, .type = "a/b");
    tr_http_print(self, "half");
    tr_sleep(self, MS); /* it is sent */
    return tr_fail(self, TR_FAILED, "as asked");
}

static tr_next on_refuse(tr_self *self)
{
    return tr_http_reply(self, 403, .text = "no");
}

TR_BEHAVIOR(api, void, TR_POST("/orders", place_order, on_place),
            TR_GET("/go/{status}", tr_http_request, on_redirect),
            TR_POST("/go/{status}", tr_http_request, on_redirect),
            TR_PUT("/refuse", tr_http_request, on_refuse),
            TR_GET("/much", tr_http_request, on_much), TR_GET("/half", tr_http_request, on_half),
            TR_ON(tr_http_request, on_any));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static struct certificates at;
static char server_pem[128], server_key[128], authority[128];
static bool has_tls;

static tr_next listen_all(tr_self *self)
{
    tr_listener_ref other;
    ck_assert_int_eq(tr_try_listen(self, &listener, api, TR_HTTP(SERVER)), TR_OK);
    ck_assert_int_eq(tr_try_listen(self, &other, api, TR_HTTP(OTHER)), TR_OK);
    if (has_tls)
        ck_assert_int_eq(
            tr_try_listen(
                self, &other, api, TR_HTTPS(SECURE, .certificate = server_pem, .key = server_key)),
            TR_OK);
    return TR_SAME;
}

static void tell_answer(tr_self *self, tr_http_call_ask asked)
{
    const struct tr_http_answer *answer;
    tr_status status = tr_try_await(self, asked, &answer);
    if (status == TR_OK)
        say("%d %.*s",
            answer->status,
            answer->body.size > 60 ? 4 : (int)answer->body.size,
            (const char *)answer->body.data);
    else
        say("%s", tr_status_name(status));
}

#define TELL(...) tell_answer(self, tr_http_ask(self, __VA_ARGS__, .version = VERSION))
#define AT "http://" SERVER

/* ---- JSON. ---- */

static tr_next ask_json(tr_self *self)
{
    const struct tr_http_answer *answer;
    const struct order *order;
    tr_http_call_ask asked = tr_http_ask(
        self, AT "/orders", .json = TR_AS_JSON(order, .id = 7, .what = "tea"), .version = VERSION);
    answer = tr_await(self, asked);
    ck_assert_int_eq(answer->status, 201);
    ck_assert_str_eq(answer->url, AT "/orders");
    ck_assert_int_eq(tr_http_try_json(self, answer, order, &order), TR_OK);
    say("%d %s", (int)order->id, order->what);
    answer = tr_await(self, tr_http_ask(self, AT "/x", .version = VERSION));
    ck_assert_int_eq(tr_http_try_json(self, answer, order, &order), TR_BAD_DATA);
    TELL(AT "/orders", .json = TR_AS_JSON(order, .id = 1, .what = "\xff"));
    TELL(AT "/orders", .text = "{\"id\":-1}", .type = "application/json");
    return TR_SAME;
}

static void play_json(void)
{
    HOST(host, listen_all);
    host_run(ask_json);
    SAID("8 tea; TR_BAD_DATA; 400 {\"er");
}

TEST(messages_go_and_come_as_json, "W-09")
{
    kits_each(play_json);
}

/* ---- Redirects. ---- */

static tr_next ask_redirects(tr_self *self)
{
    const struct tr_http_field cookie[] = {{"Cookie", "c=1"}, {NULL, NULL}};
    TELL(AT "/go/302?to=/x");
    TELL(AT "/go/302?to=/x", .redirects_max = 1);
    TELL(AT "/go/302?to=y/../../z%3fq=1", .redirects_max = 1);
    TELL(AT "/go/302?to=/go/302%3fto=/x", .redirects_max = 1);
    TELL(AT "/go/303?to=/x", .redirects_max = 9, .text = "body");
    TELL(AT "/go/302?to=/x", .redirects_max = 9, .text = "body");
    TELL(AT "/go/307?to=/x", .redirects_max = 9, .text = "body");
    TELL(AT "/go/308?to=/x", .redirects_max = 9, .authorization = "s", .headers = cookie);
    TELL(AT "/go/307?to=http://" OTHER "/x",
         .redirects_max = 9,
         .authorization = "s",
         .headers = cookie);
    TELL(AT "/go/307?to=http://" OTHER "/go/307%3fto=http://" SERVER "/x",
         .redirects_max = 9,
         .authorization = "s",
         .headers = cookie);
    TELL(AT "/go/307?to=ftp://a/", .redirects_max = 9);
    TELL(AT "/go/307?to=http://u@a/", .redirects_max = 9);
    return TR_SAME;
}

static void play_redirects(void)
{
    HOST(host, listen_all);
    host_run(ask_redirects);
    SAID("302 elsewhere; 200 GET /x - - 0; 200 GET /z?q=1 - - 0; TR_LIMIT; 200 GET /x - - 0; "
         "200 GET /x - - 0; 200 POST /x - - 4; 200 GET /x s c=1 0; 200 GET /x - - 0; "
         "200 GET /x - - 0; TR_BAD_DATA; TR_BAD_DATA");
}

TEST(redirects_are_followed_on_request_without_secrets, "W-09")
{
    kits_each(play_redirects);
}

/* ---- Streams. ---- */

static tr_next stream_down(tr_self *self)
{
    char buffer[5000];
    size_t got, size = 0, pieces = 0;
    const struct tr_http_answer *answer =
        tr_await(self, tr_http_ask(self, AT "/much", .streams = true, .version = VERSION));
    ck_assert_int_eq(answer->status, 200);
    ck_assert_uint_eq(answer->body.size, 0);
    do {
        ck_assert_int_eq(tr_http_receive(self, answer->stream, buffer, sizeof buffer, &got), TR_OK);
        size += got;
        pieces++;
    } while (got);
    ck_assert_uint_gt(pieces, 100);
    ck_assert_int_eq(tr_http_receive(self, answer->stream, buffer, sizeof buffer, &got),
                     TR_NOT_FOUND);
    /* One that has no body, and one that breaks off. */
    answer = tr_await(
        self, tr_http_ask(self, AT "/x", .method = "HEAD", .streams = true, .version = VERSION));
    ck_assert_int_eq(tr_http_receive(self, answer->stream, buffer, sizeof buffer, &got), TR_OK);
    ck_assert_uint_eq(got, 0);
    answer = tr_await(self, tr_http_ask(self, AT "/half", .streams = true, .version = VERSION));
    tr_status status;
    do
        status = tr_http_receive(self, answer->stream, buffer, sizeof buffer, &got);
    while (status == TR_OK && got);
    say("%zu %s", size, tr_status_name(status));
    TELL(AT "/much");
    TELL(AT "/half");
    return TR_SAME;
}

static tr_next stream_up(tr_self *self)
{
    char piece[10000];
    struct tr_http_stream stream;
    memset(piece, 'p', sizeof piece);
    for (int known = 0; known < 2; known++) {
        ck_assert_int_eq(tr_http_open(self,
                                      &stream,
                                      AT "/up",
                                      .method = "PUT",
                                      .length = known ? 500000 : 0,
                                      .version = VERSION),
                         TR_OK);
        for (int i = 0; i < 50; i++)
            ck_assert_int_eq(tr_http_send(self, stream, (tr_bytes){piece, sizeof piece}), TR_OK);
        if (known)
            ck_assert_int_eq(tr_http_send(self, stream, (tr_bytes){piece, 1}), TR_LIMIT);
        tell_answer(self, tr_http_finish(self, stream, false));
        ck_assert_int_eq(tr_http_send(self, stream, (tr_bytes){piece, 1}), TR_NOT_FOUND);
    }
    /* Too little, a refusal amid it, and one that waits for 100 Continue. */
    ck_assert_int_eq(
        tr_http_open(self, &stream, AT "/up", .method = "PUT", .length = 2, .version = VERSION),
        TR_OK);
    ck_assert_int_eq(tr_http_send(self, stream, (tr_bytes){piece, 1}), TR_OK);
    tell_answer(self, tr_http_finish(self, stream, false));
    ck_assert_int_eq(
        tr_http_open(
            self, &stream, AT "/refuse", .method = "PUT", .expects = true, .version = VERSION),
        TR_OK);
    ck_assert_int_eq(tr_http_send(self, stream, (tr_bytes){piece, 1}), TR_CLOSED);
    tell_answer(self, tr_http_finish(self, stream, false));
    ck_assert_int_eq(
        tr_http_open(self, &stream, AT "/up", .method = "PUT", .expects = true, .version = VERSION),
        TR_OK);
    ck_assert_int_eq(tr_http_send(self, stream, (tr_bytes){piece, 1}), TR_OK);
    tell_answer(self, tr_http_finish(self, stream, false));
    ck_assert_int_eq(tr_http_send(self, stream, (tr_bytes){piece, TR_HTTP_PIECE_MAX + 1}),
                     TR_TOO_LARGE);
    ck_assert_int_eq(tr_http_open(self, &stream, AT "/up", .text = "x"), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_http_open(self, &stream, "http://127.0.0.1:1/"), TR_CONNECT_REFUSED);
    return TR_SAME;
}

enum { MANY = 12 };

/* Opens many streams, and reads them one after the other. */
static tr_next stream_many(tr_self *self)
{
    static char buffer[50000];
    struct tr_http_stream streams[MANY];
    for (int i = 0; i < MANY; i++)
        streams[i] = tr_await(self,
                              tr_http_ask(self,
                                          AT "/much",
                                          .streams = true,
                                          .connections_max = MANY + 1,
                                          .version = VERSION))
                         ->stream;
    TELL(AT "/much", .connections_max = MANY + 1); /* nobody has read anything yet */
    for (int i = 0; i < MANY; i++) {
        size_t got, size = 0;
        tr_status status;
        do {
            status = tr_http_receive(self, streams[MANY - 1 - i], buffer, sizeof buffer, &got);
            size += status == TR_OK ? got : 0;
        } while (status == TR_OK && got);
        if (size != 1000000)
            say("%zu %s", size, tr_status_name(status));
    }
    return TR_SAME;
}

static tr_next stream_left(tr_self *self)
{
    struct tr_http_stream stream;
    ck_assert_int_eq(tr_http_open(self, &stream, AT "/up", .method = "PUT", .version = VERSION),
                     TR_OK);
    tr_sleep(self, TR_HTTP_STREAM_NS + 2 * TR_SECOND);
    say("%s", tr_status_name(tr_http_send(self, stream, TR_BYTES("x"))));
    return TR_SAME;
}

static void play_down(void)
{
    HOST(host, listen_all);
    host_run(stream_down);
    tr_kit_advance(kit, TR_SECOND);
    SAID("1000000 TR_RESET; 200 mmmm; TR_RESET");
}

static void play_up(void)
{
    HOST(host, listen_all);
    host_run(stream_up);
    tr_kit_advance(kit, TR_SECOND);
    SAID("200 PUT /up - - 500000; 200 PUT /up - - 500000; TR_INVALID_TRANSITION; 403 no; 200 PUT "
         "/up - - 1");
    host_run(stream_left);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("TR_NOT_FOUND");
}

static void play_many(void)
{
    HOST(host, listen_all);
    host_run(stream_many);
    SAID("200 mmmm");
}

TEST(streams_that_nobody_reads_do_not_stop_the_others, "W-09", "W-11")
{
    kits_each(play_many);
}

TEST(bodies_of_any_size_are_read_and_sent_in_pieces, "W-09")
{
    kits_each(play_down);
    kits_each(play_up);
}

/* ---- TLS. ---- */

static tr_next ask_securely(tr_self *self)
{
    const char *url = "https://shop.example:7443/x";
    TELL(url, .by = TR_TLS(SECURE, .trusts = authority));
    TELL(url, .by = TR_TLS(SECURE));
    TELL("https://other.example:7443/x", .by = TR_TLS(SECURE, .trusts = authority));
    TELL("https://other.example:7443/x", .by = TR_TLS(SECURE, .insecure = true));
    TELL("https://shop.example:7443/go/307?to=http://" SERVER "/x",
         .redirects_max = 3,
         .by = TR_TLS(SECURE, .trusts = authority));
    TELL("https://shop.example:7443/go/307?to=http://" SERVER "/x",
         .redirects_max = 3,
         .may_downgrade = true,
         .by = TR_TLS(SECURE, .trusts = authority));
    TELL("https://" SERVER "/x", .by = TR_TLS(SERVER, .trusts = authority));
    return TR_SAME;
}

TEST(tls_is_verified_and_never_given_up, "W-09")
{
    certificates_init(&at);
    snprintf(server_pem, sizeof server_pem, "%s", certificate_path(&at, "shop.pem"));
    snprintf(server_key, sizeof server_key, "%s", certificate_path(&at, "shop.key"));
    snprintf(authority, sizeof authority, "%s", certificate_path(&at, "authority.pem"));
    has_tls = true;
    for (int workers = 1; workers <= 3; workers += 2) {
        kit_open(workers, 1);
        tr_kit_advance(kit, (time(NULL) - 1704067200) * TR_SECOND); /* a kit begins in 2024 */
        HOST(host, listen_all);
        host_run(ask_securely);
        SAID("200 GET /x - - 0; TR_TLS_FAILED; TR_TLS_FAILED; 200 GET /x - - 0; TR_NOT_PERMITTED; "
             "200 GET /x - - "
             "0; TR_TLS_FAILED");
        kit_close();
    }
    has_tls = false;
    certificates_deinit(&at);
}

SUITE("http client, more", messages_go_and_come_as_json,
      redirects_are_followed_on_request_without_secrets,
      bodies_of_any_size_are_read_and_sent_in_pieces,
      streams_that_nobody_reads_do_not_stop_the_others, tls_is_verified_and_never_given_up)
