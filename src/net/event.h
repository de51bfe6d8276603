/* SPDX-License-Identifier: Apache-2.0 */
/** Events of channels: the envelopes that an actor gets from them. */
#ifndef NET_EVENT_H
#define NET_EVENT_H

#include "net/channel.h"

/**
 * Returns the channel of an event; NULL: it is gone. Not for events of pieces and of turns of a protocol. Owner only.
 */
static inline struct channel *event_channel(const struct envelope *event)
{
    return (struct channel *)(uintptr_t)event->sender;
}

/**
 * Has the loop try again soon to arm the deadline of a channel and to call tr__channel_call, because memory was
 * missing. Owner only.
 */
void tr__channel_starve(struct channel *channel);
/** Makes an event carry a message whose memory belongs to the channel. Owner only. */
void tr__event_lend(struct envelope *event, const tr_type *type, void *message);

#endif
