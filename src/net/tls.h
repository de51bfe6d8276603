/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TLS 1.2 and 1.3 as a filter, by OpenSSL 3. The state of a channel is made by tr__tls_begin, and
 * freed by the filter.
 *
 *     void *state;
 *     if (tr__tls_begin(context, worker, NULL, &state) == TR_OK)
 *         tr__tls_filter.begin(state, &out);
 *
 * A state may move to another worker between two calls. During a handshake a call takes up to a
 * millisecond. See docs/design/tls.md.
 */
#ifndef NET_TLS_H
#define NET_TLS_H

#include "net/filter.h"

struct tls_context; /* see net/tls_context.h */

/**
 * Makes the state of a channel. The state retains the context. A client compares the certificate of
 * the other side with `server_name`. If `server_name` is NULL, the client uses .server_name of the
 * endpoint, or the host of its address. TR_NO_MEMORY; TR_INVALID_ARGUMENT: `server_name` is not
 * valid; TR_NOT_SUPPORTED: built without TLS. Call on worker number `worker`.
 */
TR_MUST_CHECK tr_status tr__tls_begin(struct tls_context *context, unsigned worker,
                                      const char *server_name, void **state);

extern const struct filter tr__tls_filter;

/**
 * Returns the subject of the other side's certificate, such as "CN=anna,O=Shop"; NULL if no certificate was verified.
 * Borrowed from the state.
 */
const char *tr__tls_peer_name(const void *state);
/** Returns the protocol that ALPN has chosen, or NULL. Borrowed from the state. */
const char *tr__tls_protocol(const void *state);
/** Facts about a handshake, kept in channel.secure_flags for texts. */
enum secure_flag {
    SECURE_TLS_1_2 = 1 << 0,
    SECURE_TLS_1_3 = 1 << 1,
    SECURE_RESUMED = 1 << 2,
    SECURE_ALPN = 1 << 3,       /* ALPN has chosen a protocol */
    SECURE_ALPN_H2 = 1 << 4,    /* it is h2 */
    SECURE_ALPN_HTTP1 = 1 << 5, /* ALPN has chosen http/1.1 */
    SECURE_PEER = 1 << 6        /* the certificate of the other side was verified */
};

/**
 * Describes a handshake that has ended: returns bits of enum secure_flag, and sets *cipher to the
 * number of the cipher. Returns 0 if the handshake has not ended.
 */
uint8_t tr__tls_describe(const void *state, uint16_t *cipher);
/** Whether the handshake has resumed an earlier session. */
bool tr__tls_is_resumed(const void *state);

#endif
