/* SPDX-License-Identifier: Apache-2.0 */
/** TLS on channels: the contexts of endpoints, and the filters of channels. */
#ifndef NET_SECURE_H
#define NET_SECURE_H

#include "net/channel.h"

/** The largest number of contexts of clients that a system keeps. */
enum { SECURE_CONTEXTS_MAX = 16 };

/**
 * Reads the certificates of a listener's endpoint. If they cannot be used, the log says why. Fails
 * with TR_TLS_FAILED, TR_NO_MEMORY, TR_NOT_SUPPORTED. Waits for the disk. Owner only.
 */
TR_MUST_CHECK tr_status tr__secure_prepare(struct tr_self *self, struct endpoint *endpoint);
/**
 * Reads the certificates of a client's endpoint on a helper thread, while the turn waits. If they cannot be used, `why`
 * says why. Returns the statuses of tr__secure_prepare and of tr_try_blocking. Owner only.
 */
TR_MUST_CHECK tr_status tr__secure_prepare_client(struct tr_self *self, struct endpoint *endpoint,
                                                  char *why, size_t size);
/**
 * Reads the certificates of an endpoint again. If this returns TR_TLS_FAILED, the old certificates
 * stay in use, and `why` says what is wrong. Any thread.
 */
tr_status tr__secure_reload(struct endpoint *endpoint, char *why, size_t size);
/**
 * Makes the state of TLS for a channel. Fails with TR_NO_MEMORY, TR_INVALID_ARGUMENT. Owner only.
 */
TR_MUST_CHECK tr_status tr__secure_begin(struct channel *channel, void **state);
/** Returns the protocol that ALPN has chosen, or NULL. Borrowed from the channel. Owner only. */
const char *tr__secure_protocol(const struct channel *channel);
/**
 * Returns the subject of the peer's certificate, or NULL. Borrowed from the channel. Owner only.
 */
const char *tr__secure_peer_name(const struct channel *channel);

#endif
