/* SPDX-License-Identifier: Apache-2.0 */
/** When a channel that dials, is idle, is stalled or lingers has waited long enough. Owner only. */
#ifndef NET_DEADLINE_H
#define NET_DEADLINE_H

#include "net/channel.h"

/** Arms the timer of a channel for its next deadline. */
void tr__channel_arm(struct channel *channel);
/** The timer of a channel has fired. It may be freed. */
void tr__channel_expired(struct channel *channel, tr_time now_ns);

#endif
