/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Errors on the paths of a gateway: each has a stable code and the id of its cause, also if the HTTP layer has refused the request
 * before the gateway saw it. For gateways of their own and for the clause TR_GATEWAY, HTTP/1.1 and HTTP/2. On the network of kits.
 */
#include "support/desk_sockets.h"
#include "support/h2.h"
#include "support/heard_log.h"

/* A site with a page of its own, whose function that finds the guard can fail. */
static tr_guard_ref find_guard(tr_self *self, const void *state)
{
    (void)state;
    if (tr_http_header(self, "x-fail"))
        tr_crash(self, TR_BAD_DATA, "a secret of the site");
    return (tr_guard_ref){0};
}

static tr_next on_page(tr_self *self)
{
    return tr_http_reply(self, 200, .text = "page");
}

TR_BEHAVIOR(site, void, TR_GET("/", tr_http_request, on_page), TR_GATEWAY(desk, find_guard));

static tr_next open_site(tr_self *self)
{
    static const tr_http_options options = {
        .origins = desk_origins, .body_max = 1000, .logs = true, .has_ids = true};
    listener = tr_listen(self, site, TR_HTTP(SERVER, .http = &options));
    return TR_SAME;
}

#define CODE(code) "\"code\":\"" code "\""
#define SHAKE_OF(version, key, more)                                                               \
    " HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: "                                   \
    "Upgrade\r\nSec-WebSocket-Version: " version "\r\nSec-WebSocket-Key: " key "\r\n" more "\r\n"
#define GOOD_KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define TEN "          "
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND_1                                                                                 \
    HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED " "
#define ADD "POST /actors/desk/a/add" H

static const struct {
    const char *request;
    int status;
    const char *code;
} rows[] = {
    /* Methods that no gateway has. */
    {"PUT /actors/desk/a/add" H "Content-Length: 2\r\n\r\n{}", 405, CODE("request/bad_method")},
    {"PATCH /actors/desk/a/add" H "\r\n", 405, CODE("request/bad_method")},
    {"DELETE /actors/desk/a" H "\r\n", 405, CODE("request/bad_method")},
    {"PROPFIND /actors/desk/a/add" H "\r\n", 405, CODE("request/bad_method")},
    /* Paths below /actors that name nothing. */
    {"GET /actors/chair/a/add" H "\r\n", 404, CODE("actor/unknown_kind")},
    {"GET /actors/desk/a/add/more" H "\r\n", 404, CODE("actor/unknown_kind")},
    {"DELETE /actors/chair/a/add/more" H "\r\n", 405, CODE("request/bad_method")},
    {"GET /actors/chair/a" SHAKE "\r\n", 404, CODE("actor/unknown_kind")},
    /* Handshakes. */
    {"GET /actors/desk/a" SHAKE_OF("13", GOOD_KEY, "Origin: http://evil.example\r\n"),
     403,
     CODE("request/bad_origin")},
    {"GET /actors/desk/a" SHAKE_OF("13", "abc", ""), 400, CODE("request/malformed")},
    {"GET /actors/desk/a" SHAKE_OF("12", GOOD_KEY, ""), 426, CODE("request/no_websocket")},
    /* Bodies. */
    {ADD "Content-Length: 5000\r\n\r\n", 413, CODE("request/too_large")},
    {ADD "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" THOUSAND_1 "\r\n0\r\n\r\n",
     413,
     CODE("request/too_large")},
    {ADD "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, CODE("request/malformed")},
    {ADD "Content-Length: 9\r\n\r\n{", 408, CODE("request/timeout")},
    {ADD "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}", 415, CODE("request/bad_encoding")},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void play_rows(turn *open)
{
    char status[32];
    desks_begin(open);
    for (size_t i = 0; i < ROWS; i++) {
        tr_kit_peer *one = peer_new();
        peer_send(one, rows[i].request);
        const char *text = desks_plain(tr_kit_receive_text(one, TR_MINUTE));
        snprintf(status, sizeof status, "HTTP/1.1 %d ", rows[i].status);
        ck_assert_msg(strncmp(text, status, strlen(status)) == 0, "%s: %s", rows[i].request, text);
        snprintf(status, sizeof status, "\"status\":%d}}", rows[i].status);
        ck_assert_msg(strstr(text, rows[i].code), "%s: %s", rows[i].request, text);
        ck_assert_msg(strstr(text, status), "%s: %s", rows[i].request, text);
        tr_kit_close(one);
        tr_kit_settle(kit);
    }
    ck_assert_int_eq(tr_durable_exists(test, desk, "a"), TR_NOT_FOUND); /* nothing has woken */
    kit_close();
}

TEST(what_the_http_layer_refuses_below_actors_has_a_code_too, "H-06")
{
    play_rows(open_plain);
    play_rows(open_site);
}

TEST(the_methods_of_a_path_are_named, "H-06")
{
    desks_begin(open_plain);
    peer = peer_new();
    DESK_ASK(peer,
             "DELETE /actors/desk/a/add" H "\r\n",
             "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD, POST, OPTIONS\r\n\r\n"
             "{\"error\":{\"code\":\"request/bad_method\",\"message\":\"this method is not served "
             "here\",\"status\":405}}");
    /* A listed page of another origin may read this answer too. */
    peer_send(peer, "DELETE /actors/desk/a/add" H "Origin: https://friend.example\r\n\r\n");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_ptr_nonnull(strstr(text, "Access-Control-Allow-Origin: https://friend.example\r\n"));
    tr_kit_close(peer);
    kit_close();
}

/* The answer is made when the turn is over; its words tell nothing. The rest of the site has the errors of all sites. */
TEST(a_session_that_fails_answers_with_a_code_and_its_cause, "H-06")
{
    heard_begin();
    desks_begin(open_site);
    peer = peer_new();
    peer_send(peer,
              "GET /actors/desk/a/look" H
              "X-Fail: 1\r\nX-Request-Id: r-7\r\nOrigin: https://friend.example\r\n\r\n");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_int_eq(strncmp(text, "HTTP/1.1 500 ", 13), 0);
    ck_assert_ptr_nonnull(strstr(text, "\r\nx-request-id: r-7\r\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\r\nAccess-Control-Allow-Origin: https://friend.example\r\n"));
    ck_assert_ptr_nonnull(strstr(text,
                                 "\r\n\r\n{\"error\":{\"code\":\"actor/failed\",\"message\":\"the "
                                 "actor has failed\",\"status\":500}}"));
    const char *cause = strstr(text, "\r\nX-Troupe-Causal: ");
    ck_assert_ptr_nonnull(cause);
    char wanted[64];
    snprintf(wanted,
             sizeof wanted,
             " us r-7 causal=%016" PRIx64 "\n",
             (uint64_t)strtoull(cause + 19, NULL, 16));
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "DELETE /" H "\r\n");
    text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_ptr_nonnull(strstr(text, "{\"error\":{\"code\":405,"));
    ck_assert_ptr_null(strstr(text, "Causal"));
    tr_kit_close(peer);
    kit_close();
    const char *log = heard_end();
    /* The line of the request has the same id. */
    const char *line = strstr(log, " GET /actors/desk/a/look 500 ");
    ck_assert_msg(line && strstr(line, wanted) == strstr(line, " us r-7"), "%s: %s", wanted, log);
}

/* The id of the answer is that of the line of the request, also if all is well. */
TEST(the_cause_in_an_answer_is_that_of_the_log, "H-06", "W-04")
{
    heard_begin();
    desks_begin(open_site);
    peer = peer_new();
    peer_send(peer, "GET /actors/desk/a/look" H "\r\n");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    const char *cause = strstr(text, "\r\nX-Troupe-Causal: ");
    ck_assert_ptr_nonnull(cause);
    char wanted[64];
    snprintf(wanted,
             sizeof wanted,
             " causal=%016" PRIx64 "\n",
             (uint64_t)strtoull(cause + 19, NULL, 16));
    tr_kit_close(peer);
    kit_close();
    const char *log = heard_end();
    const char *line = strstr(log, " GET /actors/desk/a/look 200 ");
    ck_assert_ptr_nonnull(line);
    ck_assert_msg(strncmp(strchr(line, '\n') + 1 - strlen(wanted), wanted, strlen(wanted)) == 0,
                  "%s: %s",
                  wanted,
                  log);
}

TEST(errors_of_streams_have_codes_and_causes, "H-06", "W-11")
{
    static struct h2_client client;
    static char large[1200];
    static const char *const fails[] = {"x-fail", "1", NULL};
    desks_begin(open_site);
    memset(large, ' ', sizeof large - 1);
    h2_open(&client);
    int32_t ids[] = {
        h2_post(&client, "/actors/desk/a/add", large),
        h2_ask(&client, "DELETE", "/actors/desk/a/add", NULL, (tr_bytes){NULL, 0}, false),
        h2_ask(&client, "GET", "/actors/desk/a/look", fails, (tr_bytes){NULL, 0}, false)};
    static const char *const codes[] = {
        CODE("request/too_large"), CODE("request/bad_method"), CODE("actor/failed")};
    h2_run(&client, TR_SECOND);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const struct h2_answer *answer = h2_answer_of(&client, ids[i]);
        ck_assert_msg(strstr(answer->body, codes[i]), "%s: %s", codes[i], answer->body);
        ck_assert_msg(strstr(answer->head, "x-troupe-causal: "), "%s: %s", codes[i], answer->head);
    }
    h2_close(&client);
    kit_close();
}

SUITE("errors of gateways", what_the_http_layer_refuses_below_actors_has_a_code_too,
      the_methods_of_a_path_are_named, a_session_that_fails_answers_with_a_code_and_its_cause,
      the_cause_in_an_answer_is_that_of_the_log, errors_of_streams_have_codes_and_causes)
