/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Agreement on permessage-deflate (RFC 7692), the one extension of WebSocket that this library has.
 *
 *     Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits                 what browsers offer
 *     Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover
 */
#ifndef HTTP_WS_EXTENSION_H
#define HTTP_WS_EXTENSION_H

#include <troupe/message.h>

#include <stdbool.h>

/** What was agreed on permessage-deflate (RFC 7692). No context is kept between messages, either way. */
struct ws_deflate {
    bool is_agreed;
    unsigned char bits; /* the window of what this side deflates: 9 to 15 */
};

/** Size of an answer of tr__ws_deflate_answer, with its NUL. */
#define WS_DEFLATE_ANSWER_MAX 128
/** What a client offers. */
#define WS_DEFLATE_OFFER                                                                           \
    "permessage-deflate; client_no_context_takeover; server_no_context_takeover"

/**
 * Takes the first offer of permessage-deflate in the value of Sec-WebSocket-Extensions that can be kept (RFC 7692 5.1, 7.1)
 * and writes the answer to it. Offers with unknown, repeated or malformed parameters are declined, and so is a window of
 * 8 bits for this side, which zlib cannot make. If no offer is taken, the answer is "".
 */
struct ws_deflate tr__ws_deflate_answer(tr_bytes offers, char answer[WS_DEFLATE_ANSWER_MAX]);

/**
 * Reads a server's answer to WS_DEFLATE_OFFER. Returns false if the connection has to be ended: another extension, or
 * parameters that were not offered or that this side cannot keep, such as a missing server_no_context_takeover. An
 * empty answer is fine.
 */
bool tr__ws_deflate_accepted(tr_bytes answer, struct ws_deflate *agreed);

#endif
