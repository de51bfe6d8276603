/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The short path of bytes through a plain channel. A channel is plain if it is open and has no
 * filter, no exchange, no time limit and no other event for its actor.
 *
 * For each message the kernel runs for some microseconds, and its code replaces the code of this
 * program in the first-level cache. So this path has little code: four functions, while the general
 * path has fifty. Each of the four either does exactly what the general path would do, or does
 * nothing and returns that it has done nothing. docs/design/channel-path.md has the measurements.
 * Owner only.
 */
#ifndef NET_PLAIN_H
#define NET_PLAIN_H

#include "net/channel.h"
#include "net/rare.h"
#include "base/assert.h"

/** Flags that a plain channel does not have. */
enum {
    CHANNEL_ODD = CHANNEL_INPUT_OVER | CHANNEL_FINISHING | CHANNEL_DIALED | CHANNEL_OPENS |
                  CHANNEL_DRAINS | CHANNEL_WAITS_OPEN | CHANNEL_CLOSES | CHANNEL_END_HELD |
                  CHANNEL_CLOSE_HELD | CHANNEL_SHAKES | CHANNEL_UNASKED | CHANNEL_ALONE |
                  CHANNEL_FILE | CHANNEL_GONE | CHANNEL_CLOSES_OPENED
};

static inline bool channel_is_plain(const struct channel *channel)
{
    return channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM &&
           !channel_has(channel, CHANNEL_ODD) && !rare_is_there(channel);
}

/**
 * Whether all bytes of one receive are one piece of this channel, because it has no framing, no
 * protocol and no .interleaves.
 */
static inline bool channel_is_raw(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const tr_endpoint *options = &channel->endpoint->options;
    return !options->framing && !options->protocol && !options->interleaves;
}

/**
 * Receives a piece of a channel that is plain and raw, and lends it to the turn, as tr__input_take
 * would. An earlier piece that the turn has borrowed becomes invalid. The turn may still end by the
 * fast path. TR_NOT_SUPPORTED: nothing was done. Otherwise returns TR_OK, TR_WOULD_BLOCK, TR_CLOSED
 * (and sets CHANNEL_INPUT_OVER), or why the receive has failed.
 */
TR_MUST_CHECK tr_status tr__plain_receive(struct tr_self *self, struct channel *channel,
                                          tr_bytes *bytes);
/**
 * Ends the loan that tr__plain_receive has begun, because the turn ends. Returns false if it has
 * done nothing.
 */
TR_MUST_CHECK bool tr__plain_return(struct tr_self *self, struct channel *channel);
/** Writes to a channel of this turn. Returns false if it has written nothing. */
TR_MUST_CHECK bool tr__plain_write(struct tr_self *self, tr_channel handle, tr_bytes bytes);
/**
 * Sends the output of a channel. Returns true if the kernel has taken all of it, or if the send has
 * failed and the channel has ended. Returns false if bytes may be left.
 */
TR_MUST_CHECK bool tr__plain_send(struct channel *channel);

#endif
