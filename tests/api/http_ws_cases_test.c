/* SPDX-License-Identifier: Apache-2.0 */
/**
 * WebSockets of sessions against the cases of support/ws_cases.h, on the network of kits. The client shares no code with the
 * library (support/ws_client.h). Each case is sent at once, cut in two, and byte by byte. A WebSocket that has not closed must
 * answer a further ping; one that has closed ends its connection.
 */
#include "support/http.h"
#include "support/ws_cases.h"

/* Above this many bytes a case is cut at a few places. */
#define CUT_ALL_MAX 400

static tr_next on_echo(tr_self *self, const struct tr_ws_message *message)
{
    if (tr_ws_send(self, message->channel, message->bytes, message->is_text) != TR_OK)
        return tr_fail(self, TR_FAILED, "no echo");
    return TR_SAME;
}

TR_BEHAVIOR(session, void, TR_WEBSOCKET("/", tr_ws_message, on_echo));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next listen_session(tr_self *self)
{
    const tr_http_options options = {.ws_message_max = WS_CASES_MESSAGE_MAX};
    listener = tr_listen(self, session, TR_HTTP(SERVER, .http = &options));
    return TR_SAME;
}

static tr_kit_peer *connect_websocket(void)
{
    tr_kit_peer *peer = peer_new();
    peer_send(peer,
              "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_msg(strncmp(text, "HTTP/1.1 101 ", 13) == 0, "%s", text);
    return peer;
}

static void hear(tr_kit_peer *peer, struct ws_bytes *heard)
{
    for (;;) {
        tr_bytes bytes = tr_kit_receive(peer, 0);
        if (!bytes.size)
            break;
        ws_add(heard, bytes.data, bytes.size);
    }
}

/* Sends bytes and receives what comes meanwhile; sends less than all if the server has closed. */
static void put(tr_kit_peer *peer, const unsigned char *data, size_t size, struct ws_bytes *heard)
{
    while (size) {
        size_t sent = tr_kit_send(peer, (tr_bytes){data, size});
        data += sent;
        size -= sent;
        hear(peer, heard);
        if (tr_kit_peer_status(peer) != TR_OK)
            break;
        ck_assert_msg(sent, "the server does not read");
    }
    hear(peer, heard);
}

/* Sends a script in two portions, or in portions of one byte if `cut` is SIZE_MAX. Returns what came as text. */
static char *play(tr_kit_peer *peer, const struct ws_bytes *input, size_t cut)
{
    struct ws_bytes heard = {0};
    if (cut == SIZE_MAX) {
        for (size_t i = 0; i < input->size; i++)
            put(peer, input->data + i, 1, &heard);
    } else {
        put(peer, input->data, cut, &heard);
        put(peer, input->data + cut, input->size - cut, &heard);
    }
    char *text = ws_print(&heard, false);
    free(heard.data);
    return text;
}

/* Whether frames are those of the table. The reason of a close after an error is the server's, and there is one. */
static bool is_expected(const char *sent, const char *expected)
{
    size_t size = strlen(expected);
    if (strcmp(sent, expected) == 0)
        return true;
    bool is_error = size >= 7 && strchr("279", expected[size - 3]) &&
                    strncmp(expected + size - 7, "C100", 4) == 0;
    return is_error && strncmp(sent, expected, size - 1) == 0 && sent[size - 1] != '"' &&
           strchr(sent + size, '"') == sent + strlen(sent) - 1;
}

static void check_once(const struct ws_case *it, const struct ws_bytes *input, size_t cut)
{
    tr_kit_peer *peer = connect_websocket();
    char *sent = play(peer, input, cut);
    ck_assert_msg(is_expected(sent, it->expected),
                  "%s, cut at %zu: sent %s, expected %s",
                  it->id,
                  cut,
                  sent,
                  it->expected);
    const char *last = strrchr(it->expected, 'C');
    bool has_closed = last && (last == it->expected || last[-1] == ' ');
    if (!has_closed) {
        struct ws_bytes ping = {0};
        ws_add_script(&ping, "P\"still\"", true);
        char *pong = play(peer, &ping, 0);
        ck_assert_msg(strcmp(pong, "O\"still\"") == 0, "%s: then %s", it->id, pong);
        free(pong);
        free(ping.data);
    }
    /* RFC 6455, 7.1.1: the server ends the connection, in order. */
    ck_assert_msg(tr_kit_peer_status(peer) == (has_closed ? TR_CLOSED : TR_OK),
                  "%s, cut at %zu: %s",
                  it->id,
                  cut,
                  tr_status_name(tr_kit_peer_status(peer)));
    free(sent);
    tr_kit_close(peer);
    tr_kit_settle(kit);
}

static void check_case(const struct ws_case *it)
{
    struct ws_bytes input = {0};
    ws_add_script(&input, it->script, true);
    bool is_small = input.size <= CUT_ALL_MAX;
    size_t step = is_small ? (TEST_HAS_SANITIZER ? 5 : 1) : input.size / 3;
    for (size_t cut = 0; cut <= input.size; cut += cut < 15 && !is_small ? 1 : step)
        check_once(it, &input, cut);
    if (is_small)
        check_once(it, &input, SIZE_MAX);
    free(input.data);
}

static void begin(void)
{
    kit_open(1, 1);
    HOST(host, listen_session);
}

static void end(void)
{
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1); /* the listener */
    kit_close();
}

#define CHECK_CASES(cases)                                                                         \
    do {                                                                                           \
        begin();                                                                                   \
        for (size_t i = 0; i < sizeof(cases) / sizeof(*(cases)); i++)                              \
            check_case(&(cases)[i]);                                                               \
        end();                                                                                     \
    } while (0)

TEST(sessions_echo_payloads_of_every_length_form, "W-08", "WS-01")
{
    CHECK_CASES(ws_payloads);
}

TEST(sessions_answer_pings_and_no_pongs, "W-08", "WS-02")
{
    CHECK_CASES(ws_pings);
}

TEST(sessions_refuse_reserved_bits_and_opcodes, "W-08", "WS-03")
{
    CHECK_CASES(ws_reserved_bits);
    CHECK_CASES(ws_reserved_opcodes);
}

TEST(sessions_join_fragments_with_control_frames_between, "W-08", "WS-04")
{
    CHECK_CASES(ws_fragments);
}

TEST(sessions_take_texts_that_are_utf8_only, "W-08", "WS-05")
{
    CHECK_CASES(ws_texts);
    begin();
    ws_each_border(check_case);
    end();
}

TEST(sessions_answer_closes_once_and_check_their_codes, "W-08", "WS-06")
{
    CHECK_CASES(ws_closes);
    begin();
    ws_each_code(check_case);
    end();
}

SUITE("websocket cases", sessions_echo_payloads_of_every_length_form,
      sessions_answer_pings_and_no_pongs, sessions_refuse_reserved_bits_and_opcodes,
      sessions_join_fragments_with_control_frames_between, sessions_take_texts_that_are_utf8_only,
      sessions_answer_closes_once_and_check_their_codes)
