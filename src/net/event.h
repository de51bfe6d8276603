/* SPDX-License-Identifier: Apache-2.0 */
/** Events of channels: the envelopes that an actor gets from them. */
#ifndef NET_EVENT_H
#define NET_EVENT_H

#include "net/channel.h"

/** The types of events. Those of the public headers have a copy in each file; these can be compared by their addresses. */
struct event_types {
    const tr_type *opened;
    const tr_type *drained;
    const tr_type *closed;
    const tr_type *process_ended;
};
extern const struct event_types tr__event_types;

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
/** Has the loop call tr__channel_call again in its next round, after what else is ready, because more may have come. Owner only. */
void tr__channel_again(struct channel *channel);
/** Makes an event carry a message whose memory belongs to the channel. Owner only. */
void tr__event_lend(struct envelope *event, const tr_type *type, void *message);

#endif
