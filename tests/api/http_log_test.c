/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The access log: each request is one line with the status that the client got, in whatever way its turn has ended. HTTP/1.1 and
 * HTTP/2, on the network of kits.
 */
#include "support/h2.h"
#include "support/heard_log.h"
#include "support/http.h"

#include <troupe/gateway.h>

TR_MESSAGE(number_is, (i32, number));
TR_REQUEST(number, number_is, (i32, number));
TR_REQUEST(never, number_is);
TR_ACTOR(sink, never);

static tr_next on_never(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "a sink that fails");
}

TR_BEHAVIOR(sink, void, TR_ON(never, on_never));

static tr_next on_number(tr_self *self, const struct number *message)
{
    return tr_reply(self, number_is, .number = message->number);
}

/* Ends in the way that the path names. */
static tr_next on_end(tr_self *self)
{
    const char *how = tr_http_part(self, "how");
    if (strcmp(how, "fail") == 0)
        return tr_fail(self, TR_BAD_DATA, "as it was asked");
    if (strcmp(how, "crash") == 0)
        tr_crash(self, TR_BAD_DATA, "as it was asked");
    if (strcmp(how, "await") == 0)
        tr_await(self, tr_ask(self, tr_spawn(self, sink, "sink"), never));
    if (strcmp(how, "half") == 0) {
        tr_http_begin(self, 200);
        (void)tr_http_write(self, TR_BYTES("half"));
        return tr_fail(self, TR_BAD_DATA, "in the middle");
    }
    if (strcmp(how, "gone") == 0) {
        for (int i = 0; i < 100 && !tr_http_is_gone(self); i++)
            (void)tr_sleep(self, TR_MILLISECOND);
        return tr_fail(self, TR_CLOSED, "nobody is there");
    }
    if (strcmp(how, "wait") == 0)
        (void)tr_sleep(self, TR_HOUR);
    return TR_SAME; /* without an answer */
}

static tr_next on_fields(tr_self *self)
{
    const char *a = tr_http_form(self, "a");
    return tr_http_reply(self, 200, .text = a ? a : "-");
}

static tr_next on_parts(tr_self *self)
{
    struct tr_http_form_part part;
    while (tr_http_next_part(self, &part))
        ;
    return tr_http_reply(self, 200, .text = "all");
}

static tr_next on_json(tr_self *self)
{
    const struct number *message = TR_HTTP_JSON(self, number);
    return tr_http_reply(self, 200, .text = tr_format(self, "%d", (int)message->number));
}

TR_BEHAVIOR(api, void, TR_POST("/number", number, on_number),
            TR_GET("/end/{how}", tr_http_request, on_end),
            TR_POST("/fields", tr_http_request, on_fields),
            TR_POST("/parts", tr_http_request, on_parts),
            TR_POST("/json", tr_http_request, on_json));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen_api(tr_self *self)
{
    static const tr_http_options options = {.logs = true, .inflates = true, .body_max = 100};
    listener = tr_listen(self, api, TR_HTTP(SERVER, .http = &options));
    return TR_SAME;
}

#define H " HTTP/1.1\r\nHost: a\r\n"
/* 120 spaces and a text: more than .body_max. */
#define TEN "          "
#define WIDE(text) TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN text

/* A row: a request on a connection of its own, and what its line says: method, path, status and bytes. */
struct ending {
    const char *request;
    const char *line;
};

static const struct ending endings[] = {
    {"POST /number" H "Content-Length: 13\r\n\r\n{\"number\":42}", " POST /number 200 13 "},
    {"GET /nowhere?token=secret" H "\r\n", " GET /nowhere 404 "},
    {"DELETE /number" H "\r\n", " DELETE /number 405 "},
    /* The turn ends within a verb that reads the body. */
    {"POST /number" H "Content-Length: 1000\r\n\r\n", " POST /number 413 "},
    {"POST /number" H "Content-Length: 3\r\n\r\n{x}", " POST /number 400 "},
    {"POST /number" H "Transfer-Encoding: chunked\r\n\r\nx\r\n", " POST /number 400 "},
    {"POST /number" H "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}", " POST /number 415 "},
    {"POST /number" H "Content-Length: 10\r\n\r\n", " POST /number 408 "},
    {"POST /fields" H "Content-Length: 1000\r\n\r\n", " POST /fields 413 "},
    {"POST /parts" H "Content-Length: 2\r\n\r\nab", " POST /parts 415 "},
    {"POST /json" H "Content-Length: 3\r\n\r\n{x}", " POST /json 400 "},
    /* The turn fails: the answer is made after the turn. */
    {"GET /end/fail" H "\r\n", " GET /end/fail 500 "},
    {"GET /end/crash" H "\r\n", " GET /end/crash 500 "},
    {"GET /end/await" H "\r\n", " GET /end/await 500 "},
    {"GET /end/silent" H "\r\n", " GET /end/silent 500 "},
    {"GET /end/half" H "\r\n", " GET /end/half 200 4 "},
    /* The head cannot be read: what stands in its lines is not written. */
    {"GET /bad" H "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", " GET /bad 400 "},
    {"GET /old HTTP/3.7\r\nHost: a\r\n\r\n", " GET - 505 "},
    {"nonsense\r\n\r\n", " - - 400 "},
};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

static void play_endings(void)
{
    char status[8];
    HOST(host, listen_api);
    for (size_t i = 0; i < ENDINGS; i++) {
        tr_kit_peer *peer = peer_new();
        peer_send(peer, endings[i].request);
        const char *answer = tr_kit_receive_text(peer, TR_MINUTE);
        const char *space = strchr(strchr(endings[i].line + 1, ' ') + 1, ' ');
        snprintf(status, sizeof status, "%.5s", space);
        bool is_reset = !answer[0]; /* the half of an answer */
        ck_assert_msg(is_reset || strncmp(answer + 8, status, strlen(status)) == 0,
                      "%s: %s",
                      endings[i].line,
                      answer);
        tr_kit_close(peer);
        tr_kit_settle(kit);
    }
}

TEST(each_request_is_a_line_with_the_status_that_was_sent, "W-04")
{
    heard_begin();
    kit_open(1, 1);
    play_endings();
    kit_close();
    const char *log = heard_end();
    for (size_t i = 0; i < ENDINGS; i++) {
        int wanted = 0;
        for (size_t other = 0; other < ENDINGS; other++)
            wanted += strstr(endings[other].line, endings[i].line) != NULL;
        ck_assert_msg(heard_count(log, endings[i].line) == wanted,
                      "\"%s\" is not %d times in:\n%s",
                      endings[i].line,
                      wanted,
                      log);
    }
    ck_assert_int_eq(heard_count(log, " us\n"), ENDINGS);
    ck_assert_ptr_null(strstr(log, "secret"));
    ck_assert_ptr_null(strstr(log, "Host"));
}

/* Its session is stopped while it waits. */
TEST(a_request_that_a_shutdown_ends_is_a_line_too, "W-04", "W-07")
{
    heard_begin();
    kit_open(1, 1);
    HOST(host, listen_api);
    tr_kit_peer *stopped = peer_new();
    peer_send(stopped, "GET /end/wait" H "\r\n");
    tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(stopped, TR_SECOND), " 503 "));
    kit_close();
    const char *log = heard_end();
    ck_assert_int_eq(heard_count(log, " GET /end/wait 503 "), 1);
}

/* The same of streams: they end in on_turn_done. */
TEST(each_stream_is_a_line_with_the_status_that_was_sent, "W-04", "W-11")
{
    static struct h2_client client;
    static const struct {
        const char *path;
        const char *body; /* NULL: GET */
        int status;
        const char *line;
    } rows[] = {
        {"/number", "{\"number\":42}", 200, " POST /number 200 13 "},
        {"/number", "{x}", 400, " POST /number 400 "},
        {"/number", WIDE("{\"number\":42}"), 413, " POST /number 413 "},
        {"/end/fail", NULL, 500, " GET /end/fail 500 "},
        {"/end/crash?token=secret", NULL, 500, " GET /end/crash 500 "},
        {"/end/silent", NULL, 500, " GET /end/silent 500 "},
        {"/nowhere", NULL, 404, " GET /nowhere 404 "},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    heard_begin();
    kit_open(1, 1);
    HOST(host, listen_api);
    for (size_t i = 0; i < ROWS; i++) {
        h2_open(&client);
        int32_t id = rows[i].body ? h2_post(&client, rows[i].path, rows[i].body)
                                  : h2_get(&client, rows[i].path);
        h2_run(&client, TR_SECOND);
        ck_assert_int_eq(h2_answer_of(&client, id)->status, rows[i].status);
        h2_close(&client);
    }
    /* A client that is gone gets no answer: the status is 0. */
    h2_open(&client);
    int32_t gone = h2_get(&client, "/end/gone");
    h2_run(&client, 10 * TR_MILLISECOND);
    ck_assert_int_eq(
        nghttp2_submit_rst_stream(client.session, NGHTTP2_FLAG_NONE, gone, NGHTTP2_CANCEL), 0);
    h2_run(&client, TR_SECOND);
    h2_close(&client);
    kit_close();
    const char *log = heard_end();
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_msg(
            heard_count(log, rows[i].line) == 1, "\"%s\" is not in:\n%s", rows[i].line, log);
    ck_assert_int_eq(heard_count(log, " GET /end/gone 0 0 "), 1);
    ck_assert_int_eq(heard_count(log, " us\n"), ROWS + 1);
    ck_assert_ptr_null(strstr(log, "secret"));
}

SUITE("access log", each_request_is_a_line_with_the_status_that_was_sent,
      a_request_that_a_shutdown_ends_is_a_line_too,
      each_stream_is_a_line_with_the_status_that_was_sent)
