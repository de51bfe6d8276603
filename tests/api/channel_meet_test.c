/* SPDX-License-Identifier: Apache-2.0 */
/** Two things that channels can do, at the same time: pieces and forwards, HTTP and hand-overs, ends and failures. */
#include "support/http.h"

#define H " HTTP/1.1\r\nHost: a\r\n"
#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_channel channel;

/* ---- Pieces that are handled at once, and verbs of requests. ---- */

static host_ref another;

static tr_next on_forwarded(tr_self *self, const struct tr_received *line)
{
    say("line %s", (const char *)line->bytes.data);
    return tr_forward(self, another);
}

TR_BEHAVIOR(forwards, void, TR_ON(tr_received, on_forwarded));

static tr_next on_any(const tr_message *message)
{
    say("any %s", message->type->name);
    return TR_SAME;
}

static tr_next on_opened(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(takes_any, void, TR_ON(tr_opened, on_opened), TR_ON_ANY(on_any));

#define AT_ONCE TR_TCP(SERVER, .framing = TR_LINES, .in_flight_max = 3, .interleaves = true)

ONCE(listen_forwards, listener = tr_listen(self, forwards, AT_ONCE))
ONCE(listen_any, listener = tr_listen(self, takes_any, AT_ONCE))

static void play_forward(void)
{
    HOST(host, listen_forwards);
    another = host;
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "a\nb\n");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    ck_assert_ptr_nonnull(strstr(said(), "line a"));
}

TEST(a_piece_that_is_forwarded_is_no_request_of_http, "C-03")
{
    kits_each(play_forward);
}

static void play_any(void)
{
    HOST(host, listen_any);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "a\nb\n");
    SAID("any tr_received; any tr_received");
    tr_kit_close(peer);
    tr_kit_settle(kit);
}

TEST(a_handler_of_any_message_gets_pieces, "C-03")
{
    kits_each(play_any);
}

/* ---- HTTP, hand-overs and shutdowns. ---- */

static tr_next on_hand(tr_self *self)
{
    say("%s", tr_status_name(tr_hand_over(self, tr_peer(self), another)));
    return tr_http_reply(self, 200, .text = "mine");
}

static tr_next on_body(tr_self *self)
{
    tr_bytes body = tr_http_body(self, 1000);
    return tr_http_reply(self, 200, .text = tr_format(self, "%zu", body.size));
}

TR_BEHAVIOR(api, void, TR_GET("/hand", tr_http_request, on_hand),
            TR_POST("/body", tr_http_request, on_body));

ONCE(listen_api, listener = tr_listen(self, api, TR_HTTP(SERVER)))

static void play_hand(void)
{
    HOST(host, listen_api);
    another = host;
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "GET /hand" H "\r\n");
    SAID("TR_INVALID_TRANSITION");
    ck_assert_ptr_nonnull(strstr(tr_kit_receive_text(peer, TR_SECOND), "mine"));
    tr_kit_close(peer);
    tr_kit_settle(kit);
}

TEST(a_connection_of_http_is_not_handed_over, "C-10", "W-01")
{
    kits_each(play_hand);
}

static void play_shutdown(void)
{
    HOST(host, listen_api);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "POST /body" H "Content-Length: 10\r\n\r\n");
    tr_system_shutdown(tr_kit_system(kit), 10 * TR_SECOND);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_MILLISECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "");
    ck_assert_uint_eq(tr_kit_send(peer, TR_BYTES("1234567890")), 10);
    tr_kit_settle(kit);
    const char *answer = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_msg(strncmp(answer, "HTTP/1.1 200", 12) == 0, "%s", answer);
    tr_kit_close(peer);
}

TEST(a_body_is_read_to_its_end_while_the_system_stops, "W-07", "X-01")
{
    kits_each(play_shutdown);
}

/* ---- An end, and a failure after which the actor continues. ---- */

TR_ACTOR(resumed, run);

static tr_next on_go(tr_self *self, const struct run *message)
{
    return on_run(self, message);
}

TR_BEHAVIOR(resumed, void, TR_ON(run, on_go));

static tr_directive resume_child(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_RESUME;
}

TR_ACTOR(parent, run);
TR_BEHAVIOR(parent, void, TR_ON(run, on_run), TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = resume_child));

static resumed_ref child;

ONCE(spawn_resumed, child = tr_spawn(self, resumed, NULL))
ONCE(connect_lines, channel = tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES)))

static tr_next finish_and_fail(tr_self *self)
{
    tr_finish(self, channel);
    return tr_fail(self, TR_BAD_DATA, "bad");
}

static void play_resumed(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(parent, spawn_resumed);
    TELL_RUN(test, child, connect_lines);
    tr_kit_settle(kit);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    TELL_RUN(test, child, finish_and_fail);
    tr_kit_settle(kit);
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_close(peer);
}

TEST(an_end_is_sent_when_the_actor_is_resumed, "C-09", "S-03")
{
    kits_each(play_resumed);
}

/* ---- Exchanges, pieces and the end of the other side. ---- */

static tr_next on_slow_line(tr_self *self, const struct tr_received *line)
{
    const char *text = line->bytes.data;
    tr_sleep(self, 2 * TR_SECOND);
    say("%s %s", text, tr_status_name(tr_print(self, line->channel, "%s>\n", text)));
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}

TR_ACTOR(both, run);
TR_BEHAVIOR(both, void, TR_ON(run, on_go), TR_ON(tr_received, on_slow_line),
            TR_ON(tr_closed, on_closed));

static both_ref both;

ONCE(spawn_both, both = tr_spawn(self, both, NULL))
ONCE(connect_both, channel = tr_connect(self, AT_ONCE))

static tr_next exchange_in_vain(tr_self *self)
{
    const struct tr_received *reply = NULL;
    tr_status status =
        tr_try_await(self, tr_exchange(self, channel, TR_BYTES("question\n")), &reply);
    say("exchange %s", tr_status_name(status));
    return TR_SAME;
}

static void play_end(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, spawn_both);
    TELL_RUN(test, both, connect_both);
    tr_kit_settle(kit);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    peer_send(peer, "a\nb\n");
    TELL_RUN(test, both, exchange_in_vain);
    tr_kit_settle(kit);
    tr_kit_finish(peer);
    tr_kit_advance(kit, 3 * TR_SECOND);
    SAID("exchange TR_CLOSED; a TR_OK; b TR_OK; closed TR_CLOSED");
    ck_assert_str_eq(tr_kit_receive_text(peer, TR_SECOND), "question\na>\nb>\n");
    tr_kit_close(peer);
}

TEST(pieces_are_answered_after_an_exchange_has_failed, "C-03", "C-05")
{
    kits_each(play_end);
}

/* ---- A read of a channel that is gone, of which another turn has bytes. ---- */

TR_ACTOR(goner, run);
TR_BEHAVIOR(goner, void, TR_ON(run, on_go), TR_ON(tr_closed, on_closed));

static goner_ref goner;

ONCE(spawn_goner, goner = tr_spawn(self, goner, NULL))

static tr_next read_and_sleep(tr_self *self)
{
    tr_bytes bytes;
    channel = tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES));
    if (tr_read(self, channel, &bytes)) {
        tr_sleep(self, 5 * TR_SECOND);
        say("had %s", (const char *)bytes.data);
    }
    return TR_SAME;
}

static tr_next read_again(tr_self *self)
{
    tr_bytes bytes;
    tr_status status = tr_try_read(self, channel, &bytes);
    ck_assert_int_ne(status, TR_OK);
    return TR_SAME;
}

static void play_gone(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, spawn_goner);
    TELL_RUN(test, goner, read_and_sleep);
    tr_kit_settle(kit);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    peer_send(peer, "abc\n");
    tr_kit_reset(peer);
    tr_kit_advance(kit, TR_SECOND);
    TELL_RUN(test, goner, read_again);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_ptr_nonnull(strstr(said(), "had abc"));
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    tr_kit_close(peer);
}

TEST(a_read_of_a_channel_that_is_gone_keeps_nothing, "C-07", "C-12")
{
    kits_each(play_gone);
}

SUITE("channels: two things at once", a_piece_that_is_forwarded_is_no_request_of_http,
      a_handler_of_any_message_gets_pieces, a_connection_of_http_is_not_handed_over,
      a_body_is_read_to_its_end_while_the_system_stops, an_end_is_sent_when_the_actor_is_resumed,
      pieces_are_answered_after_an_exchange_has_failed,
      a_read_of_a_channel_that_is_gone_keeps_nothing)
