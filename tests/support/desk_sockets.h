/* SPDX-License-Identifier: Apache-2.0 */
/** WebSockets to the desks of support/desks.h, by a client that shares no code with the library. */
#ifndef TROUPE_TESTS_SUPPORT_DESK_SOCKETS_H
#define TROUPE_TESTS_SUPPORT_DESK_SOCKETS_H

#include "support/desks.h"
#include "support/ws_client.h"

static tr_kit_peer *peer;

#define SHAKE                                                                                      \
    H "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"                 \
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define ACCEPTED                                                                                   \
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"            \
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

KITS_UNUSED static void begin(turn *open)
{
    desks_begin(open);
    peer = peer_new();
}

KITS_UNUSED static void end(void)
{
    tr_kit_close(peer);
    tr_kit_settle(kit);
    kit_close();
}

/* Sends texts as frames: the script of ws_client.h cannot have quotes. */
KITS_UNUSED static void say_to(tr_kit_peer *to, const char *text)
{
    struct ws_bytes bytes = {0};
    ws_add_frame(&bytes,
                 (struct ws_made){.first = 0x81, .is_masked = true},
                 (const unsigned char *)text,
                 strlen(text));
    ck_assert_uint_eq(tr_kit_send(to, (tr_bytes){bytes.data, bytes.size}), bytes.size);
    tr_kit_settle(kit);
    free(bytes.data);
}

KITS_UNUSED static void send_script(tr_kit_peer *to, const char *script)
{
    struct ws_bytes bytes = {0};
    ws_add_script(&bytes, script, true);
    ck_assert_uint_eq(tr_kit_send(to, (tr_bytes){bytes.data, bytes.size}), bytes.size);
    tr_kit_settle(kit);
    free(bytes.data);
}

/* Prints frames without their causes, whose ids must not be 0. Texts are separated by '|'. */
KITS_UNUSED static const char *frames(tr_bytes got)
{
    static char text[1 << 16];
    struct ws_bytes bytes = {0};
    ws_add(&bytes, got.data, got.size);
    char *printed = ws_print(&bytes, false);
    size_t length = 0;
    for (const char *at = printed; *at; at++) {
        static const char cause[] = ",\\qcausal\\q:\\q";
        if (strncmp(at, cause, sizeof cause - 1) == 0) {
            at += sizeof cause - 1;
            ck_assert_uint_ne(strtoull(at, NULL, 16), 0);
            at = strstr(at, "\\q") + 1;
            continue;
        }
        if (at[0] == '\\' && at[1] == 'q') {
            text[length++] = '\'';
            at++;
            continue;
        }
        text[length++] = *at;
    }
    text[length] = '\0';
    free(printed);
    free(bytes.data);
    return text;
}

#define GETS(from, expected) ck_assert_str_eq(frames(tr_kit_receive(from, TR_SECOND)), expected)
#define ASKS(to, text, expected)                                                                   \
    do {                                                                                           \
        say_to(to, text);                                                                          \
        GETS(to, expected);                                                                        \
    } while (0)

/* Connects, and compares the frames behind the handshake. */
KITS_UNUSED static void connect_to(tr_kit_peer *to, const char *path, const char *expected)
{
    static char request[1024];
    snprintf(request, sizeof request, "GET %s" SHAKE "\r\n", path);
    peer_send(to, request);
    tr_bytes got = tr_kit_receive(to, TR_SECOND);
    const char *behind = got.size ? strstr(got.data, "\r\n\r\n") : NULL;
    ck_assert_ptr_nonnull(behind);
    ck_assert_int_eq(strncmp(got.data, "HTTP/1.1 101", 12), 0);
    size_t head = (size_t)(behind + 4 - (const char *)got.data);
    ck_assert_str_eq(frames((tr_bytes){behind + 4, got.size - head}), expected);
}

#define OPEN(event, gap) "T\"{'open':{'event':" #event ",'gap':" #gap "}}\""
#define RANG(number, value) "T\"{'event':'rang','number':" #number ",'with':{'value':" #value "}}\""
#define TOLD(id, value) "T\"{'id':" #id ",'reply':{'value':" #value ",'who':'nobody'}}\""

#endif
