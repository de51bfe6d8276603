/* SPDX-License-Identifier: Apache-2.0 */
/** What only some channels need: made at the first need, freed with the channel. Owner only. */
#ifndef NET_RARE_H
#define NET_RARE_H

#include "net/channel.h"

/** The record of all channels that have none of their own. Only read. */
extern const struct channel_rare tr__no_rare;

static inline bool rare_is_there(const struct channel *channel)
{
    return channel->rare != &tr__no_rare;
}

/** Returns the record of a channel, made if needed; NULL: out of memory. */
struct channel_rare *tr__rare_of(struct channel *channel);
/** Frees the record, with the filter and the text in it. */
void tr__rare_free(struct channel *channel);

#endif
