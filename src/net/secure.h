/* SPDX-License-Identifier: Apache-2.0 */
/** TLS on channels: which contexts endpoints have, and the filters of channels. */
#ifndef NET_SECURE_H
#define NET_SECURE_H

#include "net/channel.h"

/** Reads the certificates of an endpoint with TLS. The log says what is wrong. TR_TLS_FAILED, TR_NO_MEMORY,
 * TR_NOT_SUPPORTED. Owner only. */
TR_MUST_CHECK tr_status tr__secure_prepare(struct tr_self *self, struct endpoint *endpoint,
                                           bool is_server);
/** Frees what tr__secure_prepare made. Any thread. */
void tr__secure_forget(struct endpoint *endpoint);
/** Reads the certificates again: TR_TLS_FAILED keeps the old ones. `why` says what is wrong. Any thread. */
tr_status tr__secure_reload(struct endpoint *endpoint, char *why, size_t size);
/** Puts TLS between the socket and the channel. TR_NO_MEMORY, TR_NOT_SUPPORTED. Owner only. */
TR_MUST_CHECK tr_status tr__secure_attach(struct channel *channel, bool is_server);
/** Returns what ALPN has chosen, or NULL. Owner only. */
const char *tr__secure_protocol(const struct channel *channel);
/** Returns the subject of the peer's certificate, in scratch memory, or NULL. Owner only. */
const char *tr__secure_peer_name(struct tr_self *self, const struct channel *channel);

#endif
