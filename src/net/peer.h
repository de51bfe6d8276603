/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The address of the other side of a channel. The channel has an IPv4 address in its own record,
 * and any other address in a separate block of memory. If no address was noted, tr__channel_peer
 * asks the kernel. Owner only.
 */
#ifndef NET_PEER_H
#define NET_PEER_H

#include "net/channel.h"

/** Notes the address of the other side. TR_NO_MEMORY: nothing has changed. */
TR_MUST_CHECK tr_status tr__peer_set(struct channel *channel, const tr_address *peer);
/**
 * Returns the address of the other side. Its family is TR_FAMILY_NONE if the address was not noted and the kernel has
 * forgotten it.
 */
tr_address tr__channel_peer(const struct channel *channel);
/** Frees the memory of the address. */
void tr__peer_free(struct channel *channel);

#endif
