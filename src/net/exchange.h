/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exchanges: asks whose reply is a piece of a channel. If the framing has ids, a piece answers the
 * request with the same id, and a piece without an id belongs to no exchange. If the framing has no
 * ids, pieces answer the requests in their order. If the turn of an ask gives up, its exchange
 * stays, so that the reply is recognized and dropped. If the framing has ids and there are too many
 * exchanges, the oldest exchange whose turn has given up is removed. Owner only.
 */
#ifndef NET_EXCHANGE_H
#define NET_EXCHANGE_H

#include "net/channel.h"

/** Passes pieces that have come to the exchanges that they answer. This may end the channel. */
void tr__exchanges_read(struct channel *channel);
/** Whether exchanges get the input before turns and handlers. */
static inline bool exchanges_are_first(const struct channel *channel)
{
    return channel->rare->exchanges && !channel_has(channel, CHANNEL_UNASKED);
}
/**
 * Call when a turn has taken a piece that belongs to no exchange. Replaces the piece by a copy,
 * then reads the replies behind it. Reading them ends the loan of the piece, so the turn needs a
 * copy. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__exchanges_pass(struct tr_self *self, struct channel *channel,
                                           tr_bytes *piece);
/** Ends all exchanges with this status. */
void tr__exchanges_fail(struct channel *channel, tr_status status);
/** Forgets all exchanges, because their turns have ended. */
void tr__exchanges_free(struct channel *channel);
/** Ends the asks of tr_readable and tr_writable for which the channel is ready now. */
void tr__exchanges_look(struct channel *channel);
/** Whether the ask with this number is an exchange of the channel. Owner only. */
bool tr__exchange_is_here(const struct channel *channel, uint32_t id);

#endif
