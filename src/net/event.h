/* SPDX-License-Identifier: Apache-2.0 */
/** Events of channels: the envelopes that an actor gets from them. */
#ifndef NET_EVENT_H
#define NET_EVENT_H

#include "net/channel.h"

/** Memory was missing: looks at its deadline and calls tr__channel_call again, soon. Owner only. */
void tr__channel_starve(struct channel *channel);
/** Makes an event a message that belongs to the channel. Owner only. */
void tr__event_lend(struct envelope *event, const tr_type *type, void *message);

#endif
