/* SPDX-License-Identifier: Apache-2.0 */
/** Gateways over HTTP/2: messages, and streams of events, of which a connection may have several. On the network of kits. */
#include "support/desks.h"
#include "support/h2.h"

#define RANG_LINES(id, value) "id: " #id "\nevent: rang\ndata: {\"value\":" #value "}\n\n"
#define OPEN_LINES(id) "id: " #id "\nevent: tr_open\ndata: {}\n\n"

static struct h2_client client;

static void begin(turn *open)
{
    desks_begin(open);
    h2_open(&client);
}

static void end(void)
{
    h2_close(&client);
    kit_close();
}

/* Returns what has come of an answer since the last call for it, and forgets it. */
static const char *news(int32_t id)
{
    static char text[4096];
    h2_run(&client, 100 * TR_MILLISECOND);
    struct h2_answer *answer = h2_answer_of(&client, id);
    snprintf(text, sizeof text, "%s", answer->body);
    answer->body[0] = '\0';
    answer->size = 0;
    return text;
}

static int32_t add_to(const char *path, const char *body)
{
    int32_t id = h2_post(&client, path, body);
    h2_run(&client, 100 * TR_MILLISECOND);
    ck_assert_int_eq(h2_answer_of(&client, id)->status, 200);
    return id;
}

TEST(one_connection_has_several_streams_of_events, "H-01", "H-03", "H-05", "W-11")
{
    begin(open_plain);
    int32_t look = h2_get(&client, "/actors/desk/a/look");
    int32_t a = h2_get(&client, "/actors/desk/a/events");
    int32_t b = h2_get(&client, "/actors/desk/b/events");
    ck_assert_str_eq(news(a), OPEN_LINES(0));
    ck_assert_str_eq(news(b), OPEN_LINES(0));
    ck_assert_int_eq(h2_answer_of(&client, look)->status, 200);
    ck_assert_int_eq(h2_answer_of(&client, a)->status, 200);
    ck_assert_ptr_nonnull(strstr(h2_answer_of(&client, a)->head, "text/event-stream"));
    (void)said();
    add_to("/actors/desk/a/add", "{\"by\":2}");
    add_to("/actors/desk/b/add", "{\"by\":5}");
    ck_assert_str_eq(news(a), RANG_LINES(1, 2));
    ck_assert_str_eq(news(b), RANG_LINES(1, 5));
    /* Both actors sleep; comments keep the connection, and what comes wakes them. */
    tr_kit_advance(kit, 40 * TR_SECOND);
    ck_assert_str_eq(news(a), ":\n\n:\n\n");
    ck_assert_str_eq(news(b), ":\n\n:\n\n");
    SAID("");
    add_to("/actors/desk/a/add", "{\"by\":1}");
    ck_assert_str_eq(news(a), RANG_LINES(2, 3));
    SAID("awake");
    /* One goes, and the other stays. */
    nghttp2_submit_rst_stream(client.session, NGHTTP2_FLAG_NONE, a, NGHTTP2_CANCEL);
    h2_run(&client, 100 * TR_MILLISECOND);
    SAID("gone 1 1001 -");
    add_to("/actors/desk/b/add", "{\"by\":1}");
    ck_assert_str_eq(news(b), RANG_LINES(2, 6));
    SAID("awake");
    /* A client that comes again gets what it has missed. */
    const char *const fields[] = {"last-event-id", "1", NULL};
    int32_t c = h2_ask(&client, "GET", "/actors/desk/a/events", fields, (tr_bytes){NULL, 0}, false);
    ck_assert_str_eq(news(c), OPEN_LINES(1) RANG_LINES(2, 3) RANG_LINES(3, 901));
    SAID("connected 2 - -");
    h2_close(&client);
    const char *gone = said();
    ck_assert_ptr_nonnull(strstr(gone, "gone 1 1001 -"));
    ck_assert_ptr_nonnull(strstr(gone, "gone 2 1001 -"));
    kit_close();
}

TEST(a_stream_of_events_that_is_not_read_is_reset, "H-05", "W-11")
{
    begin(open_plain);
    int32_t events = h2_get(&client, "/actors/desk/a/events");
    ck_assert_str_eq(news(events), OPEN_LINES(0));
    (void)said();
    client.holds_window = true;
    for (int i = 0; i < 40; i++)
        add_to("/actors/desk/a/misbehave", "{\"how\":4}");
    SAID("gone 1 1013 -");
    H2_RESET(&client, events, NGHTTP2_ENHANCE_YOUR_CALM);
    end();
}

TEST(streams_of_events_end_in_order, "H-03", "W-07", "W-11")
{
    begin(open_plain);
    int32_t events = h2_get(&client, "/actors/desk/a/events");
    ck_assert_str_eq(news(events), OPEN_LINES(0));
    (void)said();
    add_to("/actors/desk/a/misbehave", "{\"how\":8}"); /* it destroys itself */
    h2_run(&client, TR_SECOND);
    SAID("");
    ck_assert(h2_answer_of(&client, events)->is_over);
    events = h2_get(&client, "/actors/desk/b/events");
    ck_assert_str_eq(news(events), OPEN_LINES(0));
    ck_assert_int_eq(tr_stop(test, listener), TR_OK);
    h2_run(&client, TR_SECOND);
    ck_assert(h2_answer_of(&client, events)->is_over);
    ck_assert(client.has_goaway);
    end();
}

/* ---- A site of the program, whose sessions can fail. ---- */

static tr_next on_break(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "broken");
}

TR_BEHAVIOR(site, void, TR_GET("/break", tr_http_request, on_break), TR_GATEWAY(desk));

static tr_next open_site(tr_self *self)
{
    listener = tr_listen(self, site, TR_HTTP(SERVER));
    return TR_SAME;
}

TEST(a_session_that_fails_ends_its_connections_at_once, "H-03", "W-06")
{
    begin(open_site);
    int32_t a = h2_get(&client, "/actors/desk/a/events");
    ck_assert_str_eq(news(a), OPEN_LINES(0));
    int32_t b = h2_get(&client, "/actors/desk/b/events");
    ck_assert_str_eq(news(b), OPEN_LINES(0));
    (void)said();
    (void)h2_get(&client, "/break");
    h2_run(&client, 100 * TR_MILLISECOND);
    SAID("gone 1 1011 -; gone 1 1011 -");
    H2_RESET(&client, a, NGHTTP2_INTERNAL_ERROR);
    H2_RESET(&client, b, NGHTTP2_INTERNAL_ERROR);
    end();
}

SUITE("gateways and http/2", one_connection_has_several_streams_of_events,
      a_stream_of_events_that_is_not_read_is_reset, streams_of_events_end_in_order,
      a_session_that_fails_ends_its_connections_at_once)
