/* SPDX-License-Identifier: Apache-2.0 */
/** Events of channels: the envelopes that an actor gets from them. */
#ifndef NET_EVENT_H
#define NET_EVENT_H

#include "net/channel.h"

/** Returns the channel of an event that is no piece and no turn of a protocol; NULL: it is gone. Owner only. */
static inline struct channel *event_channel(const struct envelope *event)
{
    return (struct channel *)(uintptr_t)event->sender;
}

/** Memory was missing: looks at its deadline and calls tr__channel_call again, soon. Owner only. */
void tr__channel_starve(struct channel *channel);
/** Makes an event a message that belongs to the channel. Owner only. */
void tr__event_lend(struct envelope *event, const tr_type *type, void *message);

#endif
