/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Gateways: durable actors by POST and GET, what is exposed and what is not, errors, guards, rates, origins, and requests
 * that take effect once. On the network of kits.
 */
#include "support/desks.h"

static tr_kit_peer *peer;

static void begin(turn *open)
{
    desks_begin(open);
    peer = peer_new();
}

static void end(void)
{
    tr_kit_close(peer);
    tr_kit_settle(kit);
    kit_close();
}

TEST(a_post_wakes_a_durable_actor_and_its_reply_is_json, "H-01")
{
    begin(open_plain);
    DESK_ASK(peer, POST("add", "", "{\"by\":2}"), HTTP_OK("{\"value\":2,\"who\":\"nobody\"}"));
    SAID("awake");
    DESK_ASK(peer, POST("add", "", "{\"by\":3}"), HTTP_OK("{\"value\":5,\"who\":\"nobody\"}"));
    SAID("");
    /* It sleeps, and wakes for the next one. */
    tr_kit_advance(kit, TR_MINUTE);
    DESK_ASK(peer, POST("add", "", ""), HTTP_OK("{\"value\":5,\"who\":\"nobody\"}"));
    SAID("awake");
    /* Another key is another actor, and keys are percent-encoded. */
    DESK_ASK(peer,
             desks_post("/actors/desk/a%2Fb%20%C3%A9/add", "", "{\"by\":1}", 8),
             HTTP_OK("{\"value\":1,\"who\":\"nobody\"}"));
    ck_assert_int_eq(tr_durable_exists(test, desk, "a/b \xc3\xa9"), TR_OK);
    end();
}

TEST(get_is_for_messages_that_say_so, "H-01")
{
    begin(open_plain);
    DESK_ASK(peer, "GET /actors/desk/a/look" H "\r\n", HTTP_OK("{\"value\":0,\"who\":\"nobody\"}"));
    DESK_ASK(peer,
             "GET /actors/desk/a/look?by=7&else=1" H "\r\n",
             HTTP_OK("{\"value\":7,\"who\":\"by\"}"));
    DESK_ASK(peer,
             "GET /actors/desk/a/look?by=x" H "\r\n",
             PROBLEM(400,
                     "Bad Request",
                     "request/bad_field",
                     "by: in the query: it must be an integer that fits, without a sign"));
    DESK_ASK(peer,
             "GET /actors/desk/a/add?by=7" H "\r\n",
             "HTTP/1.1 405 Method Not Allowed\r\nAllow: POST, OPTIONS\r\n\r\n"
             "{\"error\":{\"code\":\"request/bad_method\",\"message\":\"this method is not served "
             "here\",\"status\":405}}");
    end();
}

TEST(only_what_is_exposed_can_be_asked, "H-01", "H-06")
{
    begin(open_plain);
    DESK_ASK(
        peer,
        POST("hidden", "", "{}"),
        PROBLEM(404, "Not Found", "actor/unknown_message", "no message hidden is served here"));
    DESK_ASK(peer,
             POST("tr_durable_remove", "", "{}"),
             PROBLEM(404,
                     "Not Found",
                     "actor/unknown_message",
                     "no message tr_durable_remove is served here"));
    DESK_ASK(peer,
             desks_post("/actors/chair/a/add", "", "{}", 2),
             PROBLEM(404, "Not Found", "actor/unknown_kind", "no kind chair is served here"));
    DESK_ASK(peer,
             "GET /actors/desk" H "\r\n",
             PROBLEM(404, "Not Found", "actor/unknown_kind", "no such kind is served here"));
    SAID("");
    ck_assert_int_eq(tr_durable_exists(test, desk, "a"), TR_NOT_FOUND);
    end();
}

TEST(bad_requests_wake_nothing_and_name_the_field, "H-06")
{
    static char path[TR_KEY_MAX + 64], body[2000];
    begin(open_plain);
    DESK_ASK(
        peer,
        POST("add", "", "{\"by\":\"two\"}"),
        PROBLEM(
            400, "Bad Request", "request/bad_json", "by: an integer is expected, not a string"));
    DESK_ASK(peer,
             POST("add", "", "{\"by\":-1}"),
             PROBLEM(400,
                     "Bad Request",
                     "request/bad_json",
                     "by: an integer from 0 to 4294967295 is expected"));
    snprintf(path, sizeof path, "/actors/desk/%0*d/add", TR_KEY_MAX, 1);
    DESK_ASK(
        peer, desks_post(path, "", "{\"by\":1}", 8), HTTP_OK("{\"value\":1,\"who\":\"nobody\"}"));
    SAID("awake");
    snprintf(path, sizeof path, "/actors/desk/%0*d/add", TR_KEY_MAX + 1, 1);
    DESK_ASK(peer,
             desks_post(path, "", "{\"by\":1}", 8),
             PROBLEM(400, "Bad Request", "request/bad_key", "the key is empty or too long"));
    memset(body, ' ', 1001);
    peer_send(peer, desks_post("/actors/desk/a/add", "", body, 1001));
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "request/too_large"));
    SAID("");
    end();
}

TEST(refusals_have_a_reason_and_failures_no_words, "H-06")
{
    begin(open_plain);
    DESK_ASK(peer,
             POST("misbehave", "", "{\"how\":1}"),
             "HTTP/1.1 422 Unprocessable Content\r\n\r\n{\"error\":{\"code\":\"actor/refused\","
             "\"message\":\"not \\\"today\\\"\",\"status\":422,\"reason\":77}}");
    DESK_ASK(peer,
             POST("misbehave", "", "{\"how\":2}"),
             PROBLEM(500, "Internal Server Error", "actor/failed", "the actor has failed"));
    DESK_ASK(peer,
             POST("misbehave", "", "{\"how\":3}"),
             PROBLEM(408, "Request Timeout", "actor/timeout", "the answer took too long"));
    tr_kit_advance(kit, 65 * TR_SECOND);
    /* What failed has changed nothing. */
    DESK_ASK(peer, POST("add", "", "{\"by\":1}"), HTTP_OK("{\"value\":1,\"who\":\"nobody\"}"));
    end();
}

TEST(a_guard_is_asked_before_anything_wakes, "H-07")
{
    begin(open_guarded);
    DESK_ASK(peer,
             POST("add", "", "{\"by\":1}"),
             "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n\r\n{\"error\":{\"code\":"
             "\"request/unauthorized\",\"message\":\"say who you are\",\"status\":401}}");
    SAID("guard desk/a/add");
    DESK_ASK(peer,
             POST("add", "Authorization: Bearer eve\r\n", "{\"by\":1}"),
             PROBLEM(403, "Forbidden", "request/forbidden", "this is not for you"));
    DESK_ASK(
        peer,
        POST("add", "Authorization: Bearer fails\r\n", "{\"by\":1}"),
        PROBLEM(
            503, "Service Unavailable", "guard/failed", "nobody can say whether this is allowed"));
    /* What does not exist is not told to strangers either. */
    DESK_ASK(peer,
             POST("hidden", "Authorization: Bearer eve\r\n", "{\"by\":1}"),
             PROBLEM(403, "Forbidden", "request/forbidden", "this is not for you"));
    SAID("guard desk/a/add; guard desk/a/add; guard desk/a/hidden");
    ck_assert_int_eq(tr_durable_exists(test, desk, "a"), TR_NOT_FOUND);
    DESK_ASK(peer,
             POST("add", "Authorization: Bearer anna\r\n", "{\"by\":1}"),
             HTTP_OK("{\"value\":1,\"who\":\"anna\"}"));
    DESK_ASK(peer,
             "GET /actors/desk/a/look?token=bob" H "\r\n",
             HTTP_OK("{\"value\":1,\"who\":\"bob\"}"));
    end();
}

TEST(who_asks_too_often_is_told_when_to_come_again, "H-07")
{
    begin(open_guarded);
    for (int i = 1; i <= 3; i++) {
        peer_send(peer, POST("add", "Authorization: Bearer often\r\n", "{\"by\":1}"));
        ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "200 OK"));
    }
    DESK_ASK(peer,
             POST("add", "Authorization: Bearer often\r\n", "{\"by\":1}"),
             "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 21\r\n\r\n{\"error\":{\"code\":"
             "\"request/too_many\",\"message\":\"too many requests\",\"status\":429}}");
    /* Others may still ask, and so may this one later. */
    DESK_ASK(peer,
             POST("add", "Authorization: Bearer anna\r\n", "{\"by\":1}"),
             HTTP_OK("{\"value\":4,\"who\":\"anna\"}"));
    tr_kit_advance(kit, 20 * TR_SECOND);
    DESK_ASK(peer,
             POST("add", "Authorization: Bearer often\r\n", "{\"by\":1}"),
             HTTP_OK("{\"value\":5,\"who\":\"often\"}"));
    end();
}

TEST(pages_of_other_origins_are_refused_unless_listed, "H-07")
{
    begin(open_plain);
    DESK_ASK(peer,
             POST("add", "Origin: http://evil.example\r\n", "{\"by\":1}"),
             PROBLEM(403, "Forbidden", "request/bad_origin", "pages of this origin may not ask"));
    ck_assert_int_eq(tr_durable_exists(test, desk, "a"), TR_NOT_FOUND);
    DESK_ASK(peer,
             POST("add", "Origin: http://a\r\n", "{\"by\":1}"),
             HTTP_OK("{\"value\":1,\"who\":\"nobody\"}"));
    DESK_ASK(peer,
             POST("add", "Origin: https://friend.example\r\n", "{\"by\":1}"),
             "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: https://friend.example\r\n"
             "Access-Control-Expose-Headers: X-Troupe-Causal, Retry-After\r\nVary: Origin\r\n\r\n"
             "{\"value\":2,\"who\":\"nobody\"}");
    DESK_ASK(peer,
             "OPTIONS /actors/desk/a/add" H "Origin: https://friend.example\r\n\r\n",
             "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: https://friend.example\r\n"
             "Access-Control-Expose-Headers: X-Troupe-Causal, Retry-After\r\nVary: Origin\r\n"
             "Access-Control-Allow-Methods: GET, POST\r\n"
             "Access-Control-Allow-Headers: Authorization, Content-Type, Idempotency-Key, "
             "Last-Event-ID\r\nAccess-Control-Max-Age: 600\r\n"
             "Allow: GET, HEAD, POST, OPTIONS\r\n\r\n");
    DESK_ASK(peer,
             "OPTIONS /actors/desk/a/add" H "Origin: http://evil.example\r\n\r\n",
             PROBLEM(403, "Forbidden", "request/bad_origin", "pages of this origin may not ask"));
    end();
}

TEST(a_request_with_a_key_takes_effect_once, "H-01", "K-14")
{
    char directory[] = "/tmp/troupe-gateway-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    desks_begin_in(directory, open_guarded, 1, 1);
    peer = peer_new();
#define KEYED(who, key) "Authorization: Bearer " who "\r\nIdempotency-Key: " key "\r\n"
    for (int i = 0; i < 3; i++)
        DESK_ASK(peer,
                 POST("add", KEYED("anna", "k1"), "{\"by\":5}"),
                 HTTP_OK("{\"value\":5,\"who\":\"anna\"}"));
    DESK_ASK(
        peer,
        POST("add", KEYED("anna", "k1"), "{\"by\":6}"),
        PROBLEM(409, "Conflict", "request/key_differs", "this key was used for another request"));
    DESK_ASK(
        peer,
        POST("misbehave", KEYED("anna", "k1"), "{}"),
        PROBLEM(409, "Conflict", "request/key_differs", "this key was used for another request"));
    /* The same key of another caller is another key. */
    DESK_ASK(peer,
             POST("add", KEYED("bob", "k1"), "{\"by\":1}"),
             HTTP_OK("{\"value\":6,\"who\":\"bob\"}"));
    /* A refusal is an answer too. */
    DESK_ASK(
        peer,
        POST("add", KEYED("bob", ""), "{\"by\":1}"),
        PROBLEM(400, "Bad Request", "request/bad_key", "Idempotency-Key is empty or too long"));
    end();
    desks_begin_in(directory, open_guarded, 1, 2);
    peer = peer_new();
    DESK_ASK(peer,
             POST("add", KEYED("anna", "k1"), "{\"by\":5}"),
             HTTP_OK("{\"value\":5,\"who\":\"anna\"}"));
    DESK_ASK(peer,
             POST("look", "Authorization: Bearer anna\r\n", "{}"),
             HTTP_OK("{\"value\":6,\"who\":\"anna\"}"));
    end();
}

/* Each request is cut at each byte: nothing is done twice, nothing is leaked, and the next client is served. */
TEST(a_request_that_is_reset_at_each_byte_harms_nobody, "H-01")
{
    begin(open_plain);
    char request[1024];
    snprintf(request, sizeof request, "%s", POST("add", "", "{\"by\":1}"));
    size_t size = strlen(request);
    for (size_t at = 0; at <= size; at++) {
        tr_kit_peer *other = peer_new();
        ck_assert_uint_eq(tr_kit_send(other, (tr_bytes){request, at}), at);
        tr_kit_settle(kit);
        tr_kit_reset(other);
        tr_kit_settle(kit);
        tr_kit_close(other);
    }
    DESK_ASK(peer, POST("look", "", "{}"), HTTP_OK("{\"value\":1,\"who\":\"nobody\"}"));
    end();
}

SUITE("gateways", a_post_wakes_a_durable_actor_and_its_reply_is_json,
      get_is_for_messages_that_say_so, only_what_is_exposed_can_be_asked,
      bad_requests_wake_nothing_and_name_the_field, refusals_have_a_reason_and_failures_no_words,
      a_guard_is_asked_before_anything_wakes, who_asks_too_often_is_told_when_to_come_again,
      pages_of_other_origins_are_refused_unless_listed, a_request_with_a_key_takes_effect_once,
      a_request_that_is_reset_at_each_byte_harms_nobody)
