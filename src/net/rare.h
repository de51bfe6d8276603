/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Members that only some channels need. They are in a record that is made when a channel first
 * needs one of them, and that is freed with the channel. Owner only.
 */
#ifndef NET_RARE_H
#define NET_RARE_H

#include "net/channel.h"

/** The record of all channels that have no such record of their own. It is never written. */
extern const struct channel_rare tr__no_rare;

static inline bool rare_is_there(const struct channel *channel)
{
    return channel->rare != &tr__no_rare;
}

/** Returns the record of a channel, and makes it if needed. Returns NULL if there is no memory. */
struct channel_rare *tr__rare_of(struct channel *channel);
/** Frees the record of a channel, with the channel's filter and its text for tr_closed. */
void tr__rare_free(struct channel *channel);

#endif
