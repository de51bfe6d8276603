/* SPDX-License-Identifier: Apache-2.0 */
/** Timers of an actor that are stopped when one of its channels ends. Owner only. */
#ifndef NET_CHANNEL_TIMERS_H
#define NET_CHANNEL_TIMERS_H

#include "net/channel.h"

/** Stops the timers that end with this channel. A channel without an actor must have no such timers. */
void tr__channel_timers_end(struct channel *channel);

#endif
