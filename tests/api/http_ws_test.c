/* SPDX-License-Identifier: Apache-2.0 */
/**
 * WebSockets of sessions: the upgrade, messages and their limits, pings, closes from both sides, failures, shutdowns and
 * clients that do not read. On the network of kits, with a client that shares no code with the library.
 */
#include "support/http.h"
#include "support/ws_client.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

TR_REQUEST(enter, tr_done, (str, room), (str, token));

struct session {
    char room[16];
};

static tr_next on_enter(tr_self *self, struct session *session, const struct enter *message)
{
    if (!message->token)
        return tr_refuse(self, 401, "a token is needed");
    snprintf(session->room, sizeof session->room, "%s", message->room);
    tr_http_set(self, "x-room", message->room);
    tr_next next = tr_http_header(self, "sec-websocket-protocol") ? tr_ws_accept_as(self, "two")
                                                                  : tr_ws_accept(self);
    ck_assert_int_eq(tr_ws_print(self, tr_peer(self), "welcome to %s", message->room), TR_OK);
    return next;
}

static tr_next on_both(tr_self *self, struct session *session, const struct enter *message)
{
    return on_enter(self, session, message);
}

/* What a text asks for. */
static tr_next obey(tr_self *self, const struct tr_ws_message *message)
{
    const char *text = message->bytes.data;
    if (strcmp(text, "close") == 0)
        tr_ws_close(self, message->channel, 4001, "as you wish");
    else if (strcmp(text, "end") == 0)
        tr_close(self, message->channel);
    else if (strcmp(text, "stop") == 0)
        return TR_STOP;
    else if (strcmp(text, "fail") == 0)
        return tr_fail(self, TR_BAD_DATA, "as asked");
    else if (strcmp(text, "both") == 0 && tr_ws_text(self, message->channel, "lost") == TR_OK)
        return tr_fail(self, TR_BAD_DATA, "as asked");
    else if (strcmp(text, "many") == 0)
        for (int i = 0; i < 40 && tr_ws_print(self, message->channel, "%08192d", i) == TR_OK; i++)
            say("wrote");
    else
        tr_ws_print(self, message->channel, "%s!", text);
    return TR_SAME;
}

static tr_next on_message(tr_self *self, struct session *session,
                          const struct tr_ws_message *message)
{
    (void)session;
    if (message->is_text && message->bytes.size <= 16)
        return obey(self, message);
    if (message->is_text)
        ck_assert_int_eq(((const char *)message->bytes.data)[message->bytes.size], 0);
    ck_assert_int_eq(tr_ws_send(self, message->channel, message->bytes, message->is_text), TR_OK);
    return TR_SAME;
}

static tr_next on_echo(tr_self *self, const struct tr_ws_message *message)
{
    ck_assert_int_eq(tr_ws_text(self, message->channel, "\xff"), TR_INVALID_ARGUMENT);
    tr_ws_binary(self, message->channel, message->bytes);
    return TR_SAME;
}

static tr_next on_plain(tr_self *self)
{
    ck_assert_int_eq(tr_ws_text(self, tr_peer(self), "x"), TR_INVALID_TRANSITION);
    return tr_http_reply(self, 200, .text = "plain");
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed: %s, %s", tr_status_name(message->status), message->text ? message->text : "-");
    return TR_STOP;
}

TR_BEHAVIOR(session, struct session, TR_WEBSOCKET("/chat/{room}", enter, on_enter),
            TR_WEBSOCKET("/echo/{any...}", tr_ws_message, on_echo),
            TR_GET("/both", tr_http_request, on_plain), TR_WEBSOCKET("/both", enter, on_both),
            TR_ON(tr_ws_message, on_message), TR_ON(tr_closed, on_closed));

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static const char *const origins[] = {"https://good.example", NULL};
static tr_http_options options;
ONCE(listen_session,
     listener = tr_listen(self, session, TR_HTTP(SERVER, .http = &options, .output_max = 65536)))

static tr_kit_peer *peer;

static void begin(void)
{
    kit_open(1, 1);
    options = (tr_http_options){.origins = origins};
    HOST(host, listen_session);
    peer = peer_new();
}

static void end(void)
{
    tr_kit_close(peer);
    tr_kit_settle(kit);
    kit_close();
}

#define H " HTTP/1.1\r\nHost: a\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define UPGRADE "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
#define SHAKE H UPGRADE KEY VERSION
#define ACCEPTED                                                                                   \
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"            \
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
#define ECHO_SHAKE "GET /echo/" SHAKE "\r\n"
#define CHAT_SHAKE "GET /chat/tea?token=1" SHAKE "\r\n"
#define WELCOME "T\"welcome to tea\""

static void send_frames(const char *script)
{
    struct ws_bytes bytes = {0};
    ws_add_script(&bytes, script, true);
    size_t at = 0;
    while (at < bytes.size) {
        size_t sent = tr_kit_send(peer, (tr_bytes){bytes.data + at, bytes.size - at});
        tr_kit_settle(kit);
        ck_assert_uint_gt(sent, 0);
        at += sent;
    }
    free(bytes.data);
}

static void frames_are(tr_bytes got, const char *expected)
{
    struct ws_bytes bytes = {0};
    ws_add(&bytes, got.data, got.size);
    char *text = ws_print(&bytes, false);
    ck_assert_str_eq(text, expected);
    free(text);
    free(bytes.data);
}

#define WS_GETS(expected) frames_are(tr_kit_receive(peer, TR_SECOND), expected)
#define WS_ASK(script, expected)                                                                   \
    do {                                                                                           \
        send_frames(script);                                                                       \
        WS_GETS(expected);                                                                         \
    } while (0)

/* Reads until nothing comes for a second. Returns how many bytes came. */
static size_t receive_all(void)
{
    size_t got = 0;
    for (tr_bytes bytes; (bytes = tr_kit_receive(peer, TR_SECOND)).size;)
        got += bytes.size;
    return got;
}

/* Takes the answer of a handshake, and the frames behind it. */
static void shake(const char *request, const char *headers, const char *frames)
{
    char answer[1024];
    int size = snprintf(answer, sizeof answer, "%s%s\r\n", ACCEPTED, headers);
    peer_send(peer, request);
    tr_bytes got = tr_kit_receive(peer, TR_SECOND);
    ck_assert_uint_ge(got.size, (size_t)size);
    ck_assert_mem_eq(got.data, answer, (size_t)size);
    frames_are((tr_bytes){(const char *)got.data + size, got.size - (size_t)size}, frames);
}

static void begin_chat(void)
{
    begin();
    shake(CHAT_SHAKE, "x-room: tea\r\n", WELCOME);
}

/* ---- The upgrade. ---- */

#define REFUSED(code, reason, text)                                                                \
    "HTTP/1.1 " #code " " reason "\r\n\r\n{\"error\":{\"code\":" #code ",\"message\":\"" text "\"" \
    "}}"

TEST(an_upgrade_is_checked_and_accepted_or_refused, "W-08")
{
    begin();
    HTTP_ASK(peer,
             "GET /both" H "\r\n",
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nplain");
    HTTP_ASK(peer, "GET /chat/tea" SHAKE "\r\n", REFUSED(401, "Unauthorized", "a token is needed"));
    HTTP_ASK(peer,
             "GET /chat/tea?token=1" H "\r\n",
             "HTTP/1.1 426 Upgrade Required\r\nupgrade: websocket\r\n\r\n"
             "{\"error\":{\"code\":426,\"message\":\"only WebSockets are served here\"}}");
    HTTP_ASK(peer,
             "GET /echo/" H UPGRADE KEY "Sec-WebSocket-Version: 8\r\n\r\n",
             "HTTP/1.1 426 Upgrade Required\r\nsec-websocket-version: 13\r\n\r\n"
             "{\"error\":{\"code\":426,\"message\":\"this version of WebSocket is not served\"}}");
    HTTP_ASK(peer,
             "GET /echo/" H UPGRADE VERSION "Sec-WebSocket-Key: short\r\n\r\n",
             REFUSED(400, "Bad Request", "Sec-WebSocket-Key is not the base64 of 16 bytes"));
    HTTP_ASK(peer,
             "GET /echo/" H "Upgrade: websocket\r\n" KEY VERSION "\r\n",
             REFUSED(400, "Bad Request", "Connection: Upgrade is missing"));
    HTTP_ASK(peer,
             "GET /echo/" SHAKE "Origin: https://evil.example\r\n\r\n",
             REFUSED(403, "Forbidden", "pages of this origin may not connect"));
    shake("GET /echo/x" SHAKE "Origin: https://good.example\r\n\r\n", "", "");
    WS_ASK("T\"hello\"", "B\"hello\"");
    tr_kit_close(peer);
    peer = peer_new();
    shake("GET /both?token=1&room=tea" SHAKE
          "Origin: http://a\r\nSec-WebSocket-Protocol: one, two\r\n\r\n",
          "Sec-WebSocket-Protocol: two\r\nx-room: tea\r\n",
          WELCOME);
    end();
}

/* The last bytes of the handshake and the first frame come in any two pieces. */
TEST(a_handshake_may_be_cut_at_every_byte, "W-08")
{
    struct ws_bytes bytes = {0};
    ws_add(&bytes, CHAT_SHAKE, strlen(CHAT_SHAKE));
    ws_add_script(&bytes, "T\"hi\"", true);
    begin();
    tr_kit_close(peer);
    for (size_t at = 1; at < bytes.size; at++) {
        peer = peer_new();
        tr_kit_send(peer, (tr_bytes){bytes.data, at});
        tr_kit_settle(kit);
        tr_kit_send(peer, (tr_bytes){bytes.data + at, bytes.size - at});
        const char *got = tr_kit_receive_text(peer, TR_SECOND);
        const char *frames = strstr(got, "\r\n\r\n");
        ck_assert_ptr_nonnull(frames);
        ck_assert_str_eq(frames, "\r\n\r\n\x81\x0ewelcome to tea\x81\x03hi!");
        tr_kit_close(peer);
        /* One that goes away here leaves nothing. */
        peer = peer_new();
        tr_kit_send(peer, (tr_bytes){bytes.data, at});
        tr_kit_settle(kit);
        tr_kit_reset(peer);
        tr_kit_close(peer);
    }
    peer = peer_new();
    free(bytes.data);
    end();
}

/* ---- Messages. ---- */

TEST(messages_are_joined_and_answered_in_order, "W-08")
{
    begin_chat();
    WS_ASK("T\"a\" T\"b\" T\"\"", "T\"a!\" T\"b!\" T\"!\"");
    WS_ASK("t\"H\" -\"el\" +\"lo\"", "T\"Hello!\"");
    WS_ASK("t\"H\" P\"now\" +\"i\"", "O\"now\" T\"Hi!\"");
    WS_ASK("B*300", "B*300");
    WS_ASK("b*40000 -*0 +*5", "B*40005");
    WS_ASK("B*20000 T\"c\"", "B*20000 T\"c!\"");
    WS_ASK("O\"unasked\" P\"\"", "O\"\"");
    send_frames("b*1048575 +*1"); /* the limit */
    ck_assert_uint_eq(receive_all(), 10 + 1048576);
    WS_ASK("t\"\xc3\" +\"\xa9\"", "T\"\xc3\xa9!\"");
    end();
}

/* Each piece of the network is one byte. */
TEST(messages_may_come_byte_by_byte, "W-08")
{
    begin_chat();
    tr_kit_set_network(kit, &(const tr_kit_network){.piece_max = 1});
    WS_ASK("t\"H\" P\"now\" +\"i\" B*130", "O\"now\" T\"Hi!\" B*130");
    end();
}

static const struct {
    const char *script;
    const char *answer;
    const char *said;
} wrongs[] = {
    {"uT\"a\"", "C1002\"a frame of a client is not masked\"", NULL},
    {"T\"\xff\"", "C1007\"a text is not UTF-8\"", "closed: TR_CLOSED, 1007 a text is not UTF-8"},
    {"t\"\xc3\" +\"\x28\"", "C1007\"a text is not UTF-8\"", NULL},
    {"T*1048577", "C1009\"the message is larger than the limit\"", NULL},
    {"b*1048576 +*1", "C1009\"the message is larger than the limit\"", NULL},
    {"C1000\"bye\"", "C1000\"bye\"", "closed: TR_CLOSED, 1000 bye"},
    {"C", "C\"\"", "closed: TR_CLOSED, 1005 "},
    {"C1005", NULL, NULL},
    {"T\"close\"", "C4001\"as you wish\"", "closed: TR_OK, -"},
    {"T\"close\" T\"a\"", "C4001\"as you wish\"", NULL},
    {"T\"end\"", "C1000\"\"", "closed: TR_OK, -"},
    {"T\"stop\"", "C1000\"\"", ""},
    {"T\"a\" T\"stop\"", "T\"a!\" C1000\"\"", ""},
};

static void play_end(size_t i)
{
    begin_chat();
    (void)said();
    send_frames(wrongs[i].script);
    tr_bytes got = tr_kit_receive(peer, TR_SECOND);
    if (wrongs[i].answer)
        frames_are(got, wrongs[i].answer);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    if (wrongs[i].said)
        SAID(wrongs[i].said);
    end();
}

TEST(what_is_wrong_and_what_closes_has_its_code, "W-08")
{
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++)
        play_end(i);
}

/* Nobody waits for the rest of a frame that is refused. */
TEST(what_is_wrong_is_refused_before_all_of_it_has_come, "W-08", "WS-07")
{
    static const char large[] = {'\x82', '\xff', 0, 0, 0, 0, 0, 0x20, 0, 0, 1, 2, 3, 4};
    begin_chat();
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){large, sizeof large}), sizeof large);
    WS_GETS("C1009\"the message is larger than the limit\"");
    tr_kit_close(peer);
    peer = peer_new();
    shake(CHAT_SHAKE, "x-room: tea\r\n", WELCOME);
    /* With its header, a length of 2^64 - 12 bytes would be one of two bytes. */
    static const char wraps[] = {
        '\x82', '\xff', '\xff', '\xff', '\xff', '\xff', '\xff', '\xff', '\xff', '\xf4', 1, 2, 3, 4};
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){wraps, sizeof wraps}), sizeof wraps);
    WS_GETS("C1002\"a length has its highest bit set\"");
    tr_kit_close(peer);
    peer = peer_new();
    shake(CHAT_SHAKE, "x-room: tea\r\n", WELCOME);
    ck_assert_uint_eq(tr_kit_send(peer, TR_BYTES("\x83\x90")), 2);
    tr_bytes got = tr_kit_receive(peer, TR_SECOND);
    ck_assert_uint_gt(got.size, 4);
    ck_assert_mem_eq((const char *)got.data + 2, "\x03\xea", 2);
    end();
}

/* ---- Failures, silence, shutdowns. ---- */

TEST(a_session_that_fails_closes_with_1011_or_resets, "W-08")
{
    begin_chat();
    WS_ASK("T\"fail\"", "C1011\"\"");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_close(peer);
    peer = peer_new();
    shake(CHAT_SHAKE, "x-room: tea\r\n", WELCOME);
    WS_ASK("T\"both\"", "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    end();
}

TEST(who_is_silent_gets_a_ping_and_is_cut_off, "W-08")
{
    begin_chat();
    (void)said();
    tr_kit_advance(kit, 29 * TR_SECOND);
    frames_are(tr_kit_receive(peer, 0), "");
    tr_kit_advance(kit, TR_SECOND);
    WS_GETS("P\"\"");
    tr_kit_advance(kit, 20 * TR_SECOND);
    send_frames("O\"\"");
    tr_kit_advance(kit, 29 * TR_SECOND);
    frames_are(tr_kit_receive(peer, 0), "");
    tr_kit_advance(kit, TR_SECOND);
    WS_GETS("P\"\"");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    tr_kit_advance(kit, 31 * TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID("closed: TR_TIMEOUT, a ping was not answered");
    end();
}

TEST(a_shutdown_closes_with_1001, "W-08")
{
    begin_chat();
    tr_system_shutdown(tr_kit_system(kit), 10 * TR_SECOND);
    WS_GETS("C1001\"\"");
    end();
}

/* The session waits when the client reads nothing, and continues when it reads. */
TEST(a_client_that_does_not_read_makes_the_session_wait, "W-08")
{
    begin_chat();
    (void)said();
    send_frames("T\"many\"");
    ck_assert_uint_lt(strlen(said()), 20 * strlen("; wrote"));
    ck_assert_uint_eq(receive_all(), 40 * (4 + 8192));
    WS_ASK("T\"a\"", "T\"a!\"");
    end();
}

SUITE("websockets of http", an_upgrade_is_checked_and_accepted_or_refused,
      a_handshake_may_be_cut_at_every_byte, messages_are_joined_and_answered_in_order,
      messages_may_come_byte_by_byte, what_is_wrong_and_what_closes_has_its_code,
      what_is_wrong_is_refused_before_all_of_it_has_come,
      a_session_that_fails_closes_with_1011_or_resets, who_is_silent_gets_a_ping_and_is_cut_off,
      a_shutdown_closes_with_1001, a_client_that_does_not_read_makes_the_session_wait)
