/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The other side of a channel. An address of IPv4 is in the channel, another one in memory of its own; where none is
 * known, the kernel is asked. Owner only.
 */
#ifndef NET_PEER_H
#define NET_PEER_H

#include "net/channel.h"

/** Notes the other side. TR_NO_MEMORY: it is as before. */
TR_MUST_CHECK tr_status tr__peer_set(struct channel *channel, const tr_address *peer);
/** Returns the other side; none: it is not known, and the kernel does not know it any more. */
tr_address tr__channel_peer(const struct channel *channel);
/** Frees its memory. */
void tr__peer_free(struct channel *channel);

#endif
