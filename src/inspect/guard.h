/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a request must have before the inspector answers it: the right Host, the right Origin, and the token. Pure functions
 * on text, so that tests can try any input.
 *
 * The Host protects from DNS rebinding: a page of another site whose name has come to mean this machine sends that name. The
 * Origin protects from pages of other sites that connect to this address. The token protects from other users of the machine.
 */
#ifndef INSPECT_GUARD_H
#define INSPECT_GUARD_H

#include <stdbool.h>
#include <troupe/address.h>

/** Digits of a token: 128 bits. */
enum { GUARD_TOKEN_SIZE = 32 };
/** Bytes of the name of a machine: the most that DNS allows. */
enum { GUARD_NAME_MAX = 253 };

/**
 * The two subprotocols that a page offers for its WebSocket: this one, and "token." with the token
 * behind it.
 */
#define GUARD_PROTOCOL "troupe-inspect-1"
#define GUARD_TOKEN_PREFIX "token."

/**
 * Whether a Host header means this inspector: the text of its address, or "localhost" or `name` with its port. The port of the
 * scheme may be left out, as browsers do. NULL is wrong; a `name` of NULL is none.
 */
bool tr__guard_host(const char *host, const tr_address *here, const char *name, bool is_tls);
/** Whether an Origin header is a page of this inspector; `host` is the Host header, which was checked. NULL is wrong. */
bool tr__guard_origin(const char *origin, const char *host, bool is_tls);
/**
 * Whether the list of subprotocols of a WebSocket has the token. How long the comparison takes does not depend on where two
 * tokens differ. NULL is wrong.
 */
bool tr__guard_token(const char *protocols, const char token[GUARD_TOKEN_SIZE + 1]);
/** Whether the list of subprotocols has GUARD_PROTOCOL. NULL: it has not. */
bool tr__guard_protocol(const char *protocols);
/** Whether an address can be reached from this machine only: 127.0.0.0/8 or ::1. */
bool tr__guard_is_loopback(const tr_address *address);
/** Whether a text may be the name of a machine: letters, digits, '-' and '.', at most GUARD_NAME_MAX of them. */
bool tr__guard_is_name(const char *name);
/** Writes a token of 128 random bits, in hexadecimal digits, with a NUL. */
void tr__guard_token_write(uint64_t high, uint64_t low, char token[GUARD_TOKEN_SIZE + 1]);

#endif
