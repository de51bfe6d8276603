/* SPDX-License-Identifier: Apache-2.0 */
/** Events of channels: the envelopes by which an actor gets messages about its channels. */
#ifndef NET_EVENT_H
#define NET_EVENT_H

#include "net/channel.h"

/**
 * The types of events. The public headers make a copy of each type in every file that includes
 * them. An event has one of the copies below, so its type can be compared by address.
 */
struct event_types {
    const tr_type *opened;
    const tr_type *drained;
    const tr_type *closed;
    const tr_type *process_ended;
};
extern const struct event_types tr__event_types;

/**
 * Returns the channel of an event. Returns NULL if the channel is gone. The event must not belong
 * to a piece (PIECE_TAG) or to a protocol's turn (TURN_TAG). Owner only.
 */
static inline struct channel *event_channel(const struct envelope *event)
{
    return (struct channel *)(uintptr_t)event->sender;
}

/**
 * Call when memory was missing. Makes the loop look at the channel again soon: it arms the
 * channel's deadline and calls tr__channel_call. Owner only.
 */
void tr__channel_starve(struct channel *channel);
/**
 * Call when more bytes may have come. Makes the loop call tr__channel_call in its next round, after
 * everything that is ready now. Owner only.
 */
void tr__channel_again(struct channel *channel);
/** Makes an event carry a message whose memory belongs to the channel. Owner only. */
void tr__event_lend(struct envelope *event, const tr_type *type, void *message);

#endif
