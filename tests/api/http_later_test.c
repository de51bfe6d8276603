/* SPDX-License-Identifier: Apache-2.0 */
/** tr_reply_later in a turn of HTTP: a later turn answers, in order, or the client gets an error. On the network of kits. */
#include "support/http.h"

TR_MESSAGE(number, (u64, value));
TR_REQUEST(get_number, number, (u64, value));
TR_MESSAGE(due, (u64, value), (u32, how));

struct api {
    tr_later later;
};

/* Values decide what becomes of it: 1 is replied in a second, 2 never, 3 by a stop, 4 by a failure. */
static tr_next put_off(tr_self *self, struct api *api, uint64_t value)
{
    api->later = tr_reply_later(self);
    ck_assert_uint_ne(api->later.number, 0);
    ck_assert_uint_eq(tr_reply_later(self).number, 0); /* one is enough */
    tr_http_status(self, 202);
    tr_http_set(self, "x", "y");
    tr_timer_once(self, NULL, TR_SECOND, due, .value = value);
    return TR_SAME;
}

static tr_next on_get(tr_self *self, struct api *api, const struct get_number *message)
{
    return put_off(self, api, message->value);
}

static tr_next on_raw(tr_self *self, struct api *api)
{
    return put_off(self, api, 1);
}

static tr_next on_alone(tr_self *self, struct api *api, const struct get_number *message)
{
    tr_sleep(self, TR_MILLISECOND); /* the barrier begins */
    return put_off(self, api, message->value);
}

static tr_next on_due(tr_self *self, struct api *api, const struct due *message)
{
    if (message->value == 1) {
        ck_assert_int_eq(tr_reply_to(self, api->later, due, .value = 1), TR_WRONG_TYPE);
        ck_assert_int_eq(tr_reply_to(self, api->later, number, .value = 10), TR_OK);
        ck_assert_int_eq(tr_reply_to(self, api->later, number, .value = 11), TR_NOT_FOUND);
        say("replied");
    }
    if (message->value == 4)
        return tr_fail(self, TR_FAILED, "as asked");
    return message->value == 3 ? TR_STOP : TR_SAME;
}

static tr_next on_due_raw(tr_self *self, struct api *api)
{
    ck_assert_int_eq(tr_reply_to(self, api->later, number, .value = 12), TR_OK);
    return TR_SAME;
}

TR_BEHAVIOR(api, struct api, TR_GET("/n/{value}", get_number, on_get),
            TR_PUT("/n/{value}", get_number, on_alone, .is_barrier = true), TR_ON(due, on_due));
TR_BEHAVIOR(raw, struct api, TR_GET("/raw", tr_http_request, on_raw), TR_ON(due, on_due_raw));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen_api(tr_self *self)
{
    listener = tr_listen(self, api, TR_HTTP(SERVER));
    (void)tr_listen(self, raw, TR_HTTP("127.0.0.1:7001"));
    return TR_SAME;
}

#define H " HTTP/1.1\r\nHost: a\r\n\r\n"
#define LATER "HTTP/1.1 202 Accepted\r\nx: y\r\n\r\n"

static void play(void)
{
    HOST(host, listen_api);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "GET /n/1" H "PUT /n/1" H);
    ck_assert_str_eq(tr_kit_receive_text(peer, 900 * MS), "");
    HTTP_GETS(peer, LATER "{\"value\":10}");
    HTTP_GETS(peer, "");
    HTTP_GETS(peer, LATER "{\"value\":10}");
    SAID("replied; replied");
    /* Nobody replies. */
    peer_send(peer, "GET /n/2" H);
    tr_kit_advance(kit, TR_HTTP_LATER_NS - TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "");
    tr_kit_advance(kit, 2 * TR_SECOND);
    HTTP_GETS(peer,
              "HTTP/1.1 504 Gateway Timeout\r\nx: "
              "y\r\n\r\n{\"error\":{\"code\":504,\"message\":\"the answer took "
              "too long\"}}");
    /* The session stops, or fails. */
    peer_send(peer, "GET /n/3" H);
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, 2 * TR_SECOND), " 503 "));
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "GET /n/4" H);
    (void)tr_kit_receive_text(peer, 2 * TR_SECOND);
    ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
    tr_kit_close(peer);
    /* A client that has gone is no matter, and neither is a listener that stops. */
    peer = peer_new();
    peer_send(peer, "GET /n/1" H);
    tr_kit_reset(peer);
    tr_kit_advance(kit, 2 * TR_SECOND);
    SAID("replied");
    /* Any message answers a raw request. */
    peer = tr_kit_connect(kit, "127.0.0.1:7001");
    peer_send(peer, "GET /raw" H);
    tr_kit_advance(kit, TR_SECOND);
    HTTP_GETS(peer, LATER "{\"value\":12}");
}

TEST(a_later_turn_answers_a_request, "W-01", "W-06")
{
    kits_each(play);
}

SUITE("http later", a_later_turn_answers_a_request)
