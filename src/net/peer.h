/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The address of the other side of a channel. An IPv4 address is in the channel itself, any other
 * in memory of its own. If no address was noted, the kernel is asked for it. Owner only.
 */
#ifndef NET_PEER_H
#define NET_PEER_H

#include "net/channel.h"

/** Notes the address of the other side. TR_NO_MEMORY: nothing has changed. */
TR_MUST_CHECK tr_status tr__peer_set(struct channel *channel, const tr_address *peer);
/**
 * Returns the address of the other side. TR_FAMILY_NONE: it was not noted, and the kernel does not know it any more.
 */
tr_address tr__channel_peer(const struct channel *channel);
/** Frees the memory of the address. */
void tr__peer_free(struct channel *channel);

#endif
