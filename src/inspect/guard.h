/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks that a request to the inspector has the right Host, the right Origin, and the token. Pure
 * functions on text, so that tests can try any input.
 *
 * The check of the Host protects from DNS rebinding: another site may let its own name lead to the
 * address of this machine. Then its pages reach the inspector, but they send the name of that site
 * as the Host. The check of the Origin protects from pages of other sites that connect to this
 * address. The token protects from other users of the machine.
 */
#ifndef INSPECT_GUARD_H
#define INSPECT_GUARD_H

#include <stdbool.h>
#include <troupe/address.h>

/** How many hexadecimal digits a token has. It has 128 bits. */
enum { GUARD_TOKEN_SIZE = 32 };
/** The longest name of a machine, in bytes, as in DNS. */
enum { GUARD_NAME_MAX = 253 };

/**
 * A page offers two subprotocols for its WebSocket: this one, and "token." followed by the token.
 */
#define GUARD_PROTOCOL "troupe-inspect-1"
#define GUARD_TOKEN_PREFIX "token."

/**
 * Whether a Host header names this inspector: by its address, by "localhost" or by `name`, each
 * followed by the port. If the port is the usual one of the scheme, it may be missing, as in
 * browsers. Returns false if `host` is NULL. `name` may be NULL.
 */
bool tr__guard_host(const char *host, const tr_address *here, const char *name, bool is_tls);
/**
 * Whether an Origin header names a page of this inspector. `host` is the Host header of the same
 * request; tr__guard_host must have accepted it. Returns false if `origin` is NULL.
 */
bool tr__guard_origin(const char *origin, const char *host, bool is_tls);
/**
 * Whether the list of subprotocols of a WebSocket contains the token. The comparison takes the same
 * time wherever two tokens differ. Returns false if `protocols` is NULL.
 */
bool tr__guard_token(const char *protocols, const char token[GUARD_TOKEN_SIZE + 1]);
/**
 * Whether the list of subprotocols contains GUARD_PROTOCOL. Returns false if `protocols` is
 * NULL.
 */
bool tr__guard_protocol(const char *protocols);
/** Whether an address can be reached only from this machine: 127.0.0.0/8 or ::1. */
bool tr__guard_is_loopback(const tr_address *address);
/**
 * Whether a text is valid as the name of a machine: letters, digits, '-' and '.', at most
 * GUARD_NAME_MAX of them.
 */
bool tr__guard_is_name(const char *name);
/** Writes a token of 128 random bits, in hexadecimal digits, with a NUL. */
void tr__guard_token_write(uint64_t high, uint64_t low, char token[GUARD_TOKEN_SIZE + 1]);

#endif
