/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The handshake of WebSocket (RFC 6455, section 4): what a server checks and answers, and what a
 * client asks for and checks. Pure functions over the values of headers, without the spaces around
 * them.
 *
 *     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==          16 random bytes of the client
 *     Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=   the server's answer to that key
 */
#ifndef HTTP_WS_HANDSHAKE_H
#define HTTP_WS_HANDSHAKE_H

#include <troupe/message.h>

#include <stdbool.h>

#define WS_KEY_SIZE 24    /* length of the value of Sec-WebSocket-Key */
#define WS_ACCEPT_SIZE 28 /* length of the value of Sec-WebSocket-Accept */
/**
 * The value of Sec-WebSocket-Version. A request with another version is answered with 426 and this
 * version (4.4).
 */
#define WS_VERSION "13"

/**
 * Whether a key is the base64 of 16 bytes (4.2.1). The last bits of the base64, which mean nothing, may have any value.
 */
bool tr__ws_key_is_valid(tr_bytes key);

/** Writes the key for 16 random bytes (4.1), with a NUL. */
void tr__ws_key_write(const unsigned char random[16], char key[WS_KEY_SIZE + 1]);

/** Writes the answer to a valid key (4.2.2), with a NUL. */
void tr__ws_accept_write(tr_bytes key, char accept[WS_ACCEPT_SIZE + 1]);

/** Whether Sec-WebSocket-Accept is the right answer to a key (4.1). */
bool tr__ws_accept_is_valid(tr_bytes key, tr_bytes accept);

/** Whether the version is the one of RFC 6455 (4.2.1). */
bool tr__ws_version_is_valid(tr_bytes version);

/**
 * Whether a list with commas contains a token, ignoring upper and lower case (4.2.1: "upgrade" in
 * Connection, "websocket" in Upgrade).
 */
bool tr__ws_list_has(tr_bytes list, const char *token);

/**
 * Whether a browser's page of this origin may connect (10.2): its host and port are equal to those
 * in the Host header, or `others` has the origin or "*". `others` ends with NULL, or is NULL. A
 * request without an origin does not come from a browser, and may connect.
 *
 * If an origin or a host names no port, it has the default port of the origin's scheme. The schemes
 * are not compared with the connection, because TLS may end at a balancer. "null" stands for a page
 * without an origin, and is allowed only if `others` contains it.
 */
bool tr__ws_origin_is_allowed(tr_bytes origin, tr_bytes host, const char *const *others);

#endif
