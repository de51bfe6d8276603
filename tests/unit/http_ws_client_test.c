/* SPDX-License-Identifier: Apache-2.0 */
/**
 * WebSockets of a client: the handshake and what is wrong with its answer, masks, pings, closes, compression, TLS. On the network of
 * kits: the test is the server, or the library is.
 */
#include "http/ws_handshake.h"
#include "support/certificates.h"
#include "support/http.h"

#include <troupe/http_client.h>

static tr_channel channel;
static const char *url;
static tr_ws_call how;
static int refused;

static tr_next on_message(const struct tr_ws_message *message)
{
    int size = message->bytes.size < 40 ? (int)message->bytes.size : 0;
    say("%s %.*s%s",
        message->is_text ? "text" : "bytes",
        size,
        (const char *)message->bytes.data,
        size || !message->bytes.size ? "" : "long");
    if (message->is_text) /* a NUL is behind it */
        ck_assert_int_eq(((const char *)message->bytes.data)[message->bytes.size], 0);
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s %s", tr_status_name(message->status), message->text ? message->text : "-");
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_ws_message, on_message),
            TR_ON(tr_closed, on_closed));

static tr_next connect_to(tr_self *self)
{
    how.refused = &refused;
    tr_status status = tr_self_ws_try_connect(self, &channel, url, &how);
    if (status != TR_OK)
        say("%s", tr_status_name(status));
    else
        say("open %s", tr_ws_protocol(self, channel) ? tr_ws_protocol(self, channel) : "-");
    return TR_SAME;
}

static char long_text[5000];

static tr_next send_some(tr_self *self)
{
    ck_assert_int_eq(tr_ws_text(self, channel, "hello"), TR_OK);
    ck_assert_int_eq(tr_ws_binary(self, channel, (tr_bytes){"\1\2", 2}), TR_OK);
    ck_assert_int_eq(tr_ws_text(self, channel, "\xff"), TR_INVALID_ARGUMENT);
    return TR_SAME;
}

static tr_next send_long(tr_self *self)
{
    memset(long_text, 'l', sizeof long_text - 1);
    ck_assert_int_eq(tr_ws_text(self, channel, long_text), TR_OK);
    return TR_SAME;
}

static tr_next close_it(tr_self *self)
{
    tr_ws_close(self, channel, 4000, "bye");
    return TR_SAME;
}

static tr_next nothing(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

/* ---- The test is the server. ---- */

static tr_kit_peer *peer;
static char accept_key[WS_ACCEPT_SIZE + 1];

static void begin(void)
{
    HOST(host, nothing);
    (void)tr_kit_accept(kit, SERVER, 0); /* listens */
    url = "ws://" SERVER "/chat?a=b";
    how = (tr_ws_call){.size = 0};
}

/* Takes the request, and computes the answer to its key. Returns its text. */
static const char *take_request(void)
{
    static char request[4096];
    host_run(connect_to);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    snprintf(request, sizeof request, "%s", tr_kit_receive_text(peer, TR_SECOND));
    char *key = strstr(request, "Sec-WebSocket-Key: ");
    ck_assert_ptr_nonnull(key);
    key += 19;
    tr__ws_accept_write((tr_bytes){key, WS_KEY_SIZE}, accept_key);
    memset(key, 'k', WS_KEY_SIZE);
    return request;
}

/* Answers; "ACCEPT" stands for the right key. */
static void answer(const char *text)
{
    char whole[4096];
    const char *at = strstr(text, "ACCEPT");
    if (at)
        snprintf(whole, sizeof whole, "%.*s%s%s", (int)(at - text), text, accept_key, at + 6);
    else
        snprintf(whole, sizeof whole, "%s", text);
    peer_send(peer, whole);
}

#define SWITCH "HTTP/1.1 101 Switching Protocols\r\n"
#define GOOD SWITCH "Upgrade: WebSocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: ACCEPT\r\n"

/* Removes the mask of a frame. Returns its payload as text. */
static const char *unmask(tr_bytes bytes, unsigned first)
{
    static char text[6000];
    const unsigned char *data = bytes.data;
    ck_assert_uint_ge(bytes.size, 6);
    ck_assert_uint_eq(data[0], first);
    ck_assert(data[1] & 0x80);
    size_t size = data[1] & 0x7f;
    ck_assert_uint_lt(size, 126);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(data[6 + i] ^ data[2 + i % 4]);
    text[size] = '\0';
    return text;
}

static void play_session(void)
{
    begin();
    how.protocols = "one, two";
    how.authorization = "Bearer x";
    ck_assert_str_eq(
        take_request(),
        "GET /chat?a=b HTTP/1.1\r\nHost: " SERVER
        "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: "
        "13\r\nSec-WebSocket-Key: kkkkkkkkkkkkkkkkkkkkkkkk\r\nSec-WebSocket-Protocol: one, "
        "two\r\nAuthorization: Bearer x\r\n\r\n");
    answer(GOOD "Sec-WebSocket-Protocol: two\r\n\r\n\x81\x02hi"); /* a frame right behind it */
    SAID("open two; text hi");
    host_run(send_some);
    tr_bytes frames = tr_kit_receive(peer, TR_SECOND);
    ck_assert_uint_eq(frames.size, 11 + 8);
    unsigned char masks[8];
    memcpy(masks, (const char *)frames.data + 2, 4);
    memcpy(masks + 4, (const char *)frames.data + 13, 4);
    ck_assert_str_eq(unmask(frames, 0x81), "hello");
    ck_assert(memcmp(masks, masks + 4, 4) != 0); /* each frame has its own */
    /* Pings of both sides. */
    peer_send(peer, "\x89\x04ping");
    ck_assert_str_eq(unmask(tr_kit_receive(peer, TR_SECOND), 0x8a), "ping");
    tr_kit_advance(kit, TR_WS_PING_NS + TR_SECOND);
    ck_assert_str_eq(unmask(tr_kit_receive(peer, TR_SECOND), 0x89), "");
    peer_send(peer, "\x8a\x01x");
    /* Fragments. */
    peer_send(peer, "\x01\x02te");
    peer_send(peer, "\x80\x02xt");
    SAID("text text");
    /* The end, by this side. */
    host_run(close_it);
    ck_assert_str_eq(unmask(tr_kit_receive(peer, TR_SECOND), 0x88),
                     "\x0f\xa0"
                     "bye");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("closed TR_OK -");
}

TEST(a_client_shakes_hands_masks_and_closes, "W-08")
{
    kits_each(play_session);
}

static void play_ends(void)
{
    begin();
    (void)take_request();
    answer(GOOD "\r\n");
    SAID("open -");
    peer_send(peer,
              "\x88\x05\x0f\xa1"
              "out");
    ck_assert_str_eq(unmask(tr_kit_receive(peer, TR_SECOND), 0x88),
                     "\x0f\xa1"
                     "out");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("closed TR_CLOSED 4001 out");
    /* A masked frame of a server is wrong. */
    (void)take_request();
    answer(GOOD "\r\n");
    peer_send(peer,
              "\x81\x81"
              "aaaab");
    ck_assert_str_eq(unmask(tr_kit_receive(peer, TR_SECOND), 0x88) + 2,
                     "a frame of a server is masked");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    (void)said();
    /* Silence. */
    (void)take_request();
    answer(GOOD "\r\n");
    (void)said();
    tr_kit_advance(kit, 2 * TR_WS_PING_NS + TR_SECOND);
    SAID("closed TR_TIMEOUT a ping was not answered");
}

static const struct {
    const char *text;
    const char *said;
} answers[] = {
    {"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "TR_REFUSED"},
    {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "TR_REFUSED"},
    {SWITCH "\r\n", "TR_BAD_DATA"},
    {SWITCH "Connection: Upgrade\r\nSec-WebSocket-Accept: ACCEPT\r\n\r\n", "TR_BAD_DATA"},
    {SWITCH "Upgrade: websocket\r\nSec-WebSocket-Accept: ACCEPT\r\n\r\n", "TR_BAD_DATA"},
    {SWITCH "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "TR_BAD_DATA"},
    {SWITCH "Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ACCEPT\r\n\r\n",
     "TR_BAD_DATA"},
    {SWITCH "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
     "TR_BAD_DATA"},
    {GOOD "Sec-WebSocket-Accept: ACCEPT\r\n\r\n", "TR_BAD_DATA"},
    {GOOD "Sec-WebSocket-Protocol: three\r\n\r\n", "TR_BAD_DATA"},
    {GOOD "Sec-WebSocket-Protocol: one\r\nSec-WebSocket-Protocol: one\r\n\r\n", "TR_BAD_DATA"},
    {GOOD "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", "TR_BAD_DATA"},
    {"nonsense\r\n\r\n", "TR_BAD_DATA"},
    {GOOD "Sec-WebSocket-Protocol: one\r\n\r\n", "open one"},
};

TEST(an_answer_that_is_no_handshake_is_refused, "W-08")
{
    kit_open(1, 1);
    begin();
    how.protocols = "one, two";
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        (void)take_request();
        refused = 0;
        answer(answers[i].text);
        const char *text = said();
        ck_assert_msg(strcmp(text, answers[i].said) == 0, "%s: %s", answers[i].text, text);
        ck_assert_int_eq(refused, i == 0 ? 403 : i == 1 ? 200 : 0);
        tr_kit_close(peer);
        tr_kit_settle(kit);
        (void)said();
    }
    /* Cut at every byte, and split there. */
    const char whole[] = GOOD "\r\n";
    for (size_t at = 1; at < sizeof whole - 8; at++) {
        (void)take_request();
        char text[512];
        const char *key = strstr(whole, "ACCEPT");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(key - whole), whole, accept_key, key + 6);
        ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){text, at}), at);
        tr_kit_settle(kit);
        if (at % 2) {
            tr_kit_reset(peer);
            tr_kit_settle(kit);
            SAID("TR_RESET");
        } else {
            peer_send(peer, text + at);
            SAID("open -");
        }
        tr_kit_close(peer);
        tr_kit_settle(kit);
        (void)said();
    }
    url = "http://" SERVER "/";
    host_run(connect_to);
    SAID("TR_INVALID_ARGUMENT");
    url = "ws://127.0.0.1:1/";
    host_run(connect_to);
    SAID("TR_CONNECT_REFUSED");
    url = "ws://" SERVER "/";
    how.within_ns = TR_SECOND;
    (void)take_request();
    tr_kit_advance(kit, 2 * TR_SECOND);
    SAID("TR_TIMEOUT");
    kit_close();
}

TEST(a_websocket_of_a_client_ends_once, "W-08")
{
    kits_each(play_ends);
}

/* ---- The library is the server. ---- */

#define SECURE "127.0.0.1:7443"
static struct certificates at;
static char server_pem[128], server_key[128], authority[128];
static bool has_tls;

static tr_next on_echo(tr_self *self, const struct tr_ws_message *message)
{
    (void)tr_ws_send(self, message->channel, message->bytes, message->is_text);
    return TR_SAME;
}

TR_BEHAVIOR(echo, void, TR_WEBSOCKET("/chat", tr_ws_message, on_echo));

static tr_next listen_echo(tr_self *self)
{
    const tr_http_options options = {.ws_compresses = true, .ws_message_max = 100000};
    listener = tr_listen(self, echo, TR_HTTP(SERVER, .http = &options));
    if (has_tls)
        (void)tr_listen(
            self,
            echo,
            TR_HTTPS(SECURE, .certificate = server_pem, .key = server_key, .http = &options));
    return TR_SAME;
}

static void play_echo(void)
{
    HOST(host, listen_echo);
    url = "ws://" SERVER "/chat";
    how = (tr_ws_call){.size = 0};
    for (int compresses = 0; compresses < 2; compresses++) {
        how.compresses = compresses;
        host_run(connect_to);
        host_run(send_some);
        host_run(send_long);
        tr_kit_settle(kit);
        SAID("open -; text hello; bytes \1\2; text long");
        host_run(close_it);
        tr_kit_advance(kit, TR_SECOND);
        SAID("closed TR_OK -");
    }
    url = "ws://" SERVER "/nowhere";
    host_run(connect_to);
    SAID("TR_REFUSED");
    ck_assert_int_eq(refused, 404);
}

TEST(a_client_speaks_with_the_server_of_the_library, "W-08")
{
    kits_each(play_echo);
}

/* What is deflated is small on the wire, and a bomb is found. */
TEST(messages_are_deflated_if_both_want_it, "W-08")
{
    kit_open(1, 1);
    begin();
    how.compresses = true;
    how.message_max = 4000;
    const char *request = take_request();
    ck_assert_ptr_nonnull(strstr(request,
                                 "Sec-WebSocket-Extensions: permessage-deflate; "
                                 "client_no_context_takeover; server_no_context_takeover\r\n"));
    answer(GOOD "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; "
                "client_no_context_takeover\r\n\r\n");
    SAID("open -");
    host_run(send_long);
    tr_bytes frame = tr_kit_receive(peer, TR_SECOND);
    ck_assert_uint_lt(frame.size, 100);
    ck_assert_uint_eq(((const unsigned char *)frame.data)[0], 0xc1);
    /* Its own bytes, without the mask, come back: they are too large when inflated. */
    unsigned char back[128];
    const unsigned char *data = frame.data;
    size_t size = data[1] & 0x7f;
    back[0] = 0xc1;
    back[1] = (unsigned char)size;
    for (size_t i = 0; i < size; i++)
        back[2 + i] = data[6 + i] ^ data[2 + i % 4];
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){back, size + 2}), size + 2);
    tr_kit_settle(kit);
    ck_assert_str_eq(unmask(tr_kit_receive(peer, TR_SECOND), 0x88) + 2,
                     "the message is too large when it is inflated");
    kit_close();
}

TEST(a_client_speaks_through_tls, "W-08")
{
    certificates_init(&at);
    snprintf(server_pem, sizeof server_pem, "%s", certificate_path(&at, "shop.pem"));
    snprintf(server_key, sizeof server_key, "%s", certificate_path(&at, "shop.key"));
    snprintf(authority, sizeof authority, "%s", certificate_path(&at, "authority.pem"));
    has_tls = true;
    kit_open(1, 1);
    tr_kit_advance(kit, (time(NULL) - 1704067200) * TR_SECOND); /* a kit begins in 2024 */
    HOST(host, listen_echo);
    url = "wss://shop.example/chat";
    const tr_endpoint by = {.size = sizeof by, .address = SECURE, .trusts = authority};
    how = (tr_ws_call){.by = &by};
    host_run(connect_to);
    host_run(send_some);
    tr_kit_settle(kit);
    SAID("open -; text hello; bytes \1\2");
    url = "wss://other.example/chat";
    host_run(connect_to);
    SAID("TR_TLS_FAILED");
    kit_close();
    certificates_deinit(&at);
    has_tls = false;
}

SUITE("websockets of clients", a_client_shakes_hands_masks_and_closes,
      an_answer_that_is_no_handshake_is_refused, a_websocket_of_a_client_ends_once,
      a_client_speaks_with_the_server_of_the_library, messages_are_deflated_if_both_want_it,
      a_client_speaks_through_tls)
