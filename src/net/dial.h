/* SPDX-License-Identifier: Apache-2.0 */
/** Opens channels to another side: looks up names, connects to addresses, performs handshakes. */
#ifndef NET_DIAL_H
#define NET_DIAL_H

#include "net/channel.h"

/** Handles the event that tr_dial has queued: connects in a turn of its own. */
extern const tr_handler tr__dial_handler;

/** The type of the event that tr_dial queues. */
extern const tr_type tr__dialing_type;

/**
 * Continues the handshake of a channel whose socket is connected. This may open or end the channel.
 * Owner only.
 */
void tr__channel_shake(struct channel *channel);
/** Makes a channel open: notifies its actor, and sends what was written before. Owner only. */
void tr__channel_opened(struct channel *channel);
/** Returns the protocol that ALPN has chosen, or NULL. Owner only. */
const char *tr__channel_protocol(const struct channel *channel);

#endif
