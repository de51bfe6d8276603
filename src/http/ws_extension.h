/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Negotiates permessage-deflate (RFC 7692), the only extension of WebSocket that this library
 * supports.
 *
 *     permessage-deflate; client_max_window_bits                                           what browsers offer
 *     permessage-deflate; server_no_context_takeover; client_no_context_takeover           what this library answers
 *
 * Both are values of the header Sec-WebSocket-Extensions.
 */
#ifndef HTTP_WS_EXTENSION_H
#define HTTP_WS_EXTENSION_H

#include <troupe/message.h>

#include <stdbool.h>

/**
 * What both sides have agreed about permessage-deflate (RFC 7692). Neither side keeps a context
 * between messages: each message is deflated by itself.
 */
struct ws_deflate {
    bool is_agreed;
    unsigned char bits; /* size of the window with which this side deflates, in bits: 9 to 15 */
};

/** Bytes of the longest answer of tr__ws_deflate_answer, with its NUL. */
#define WS_DEFLATE_ANSWER_MAX 128
/** The offer of a client. */
#define WS_DEFLATE_OFFER                                                                           \
    "permessage-deflate; client_no_context_takeover; server_no_context_takeover"

/**
 * Accepts the first offer of permessage-deflate in the value of Sec-WebSocket-Extensions that this
 * side can accept (RFC 7692 5.1, 7.1), and writes the answer to that offer. Declines offers with
 * unknown, repeated or malformed parameters, and offers that demand a window of 8 bits from this
 * side, which zlib cannot make. If no offer is accepted, the answer is "".
 */
struct ws_deflate tr__ws_deflate_answer(tr_bytes offers, char answer[WS_DEFLATE_ANSWER_MAX]);

/**
 * Reads a server's answer to WS_DEFLATE_OFFER. Returns false if the connection must end: the answer
 * has another extension, or parameters that were not offered or that this side cannot accept, or
 * server_no_context_takeover is missing. An empty answer is valid, and means that nothing is
 * deflated.
 */
bool tr__ws_deflate_accepted(tr_bytes answer, struct ws_deflate *agreed);

#endif
