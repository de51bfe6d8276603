/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The short way of bytes through a channel that has nothing unusual: it is open, it has no filter, no exchange, no
 * limit of time, and no message about it is due.
 *
 * A message and its answer cost a few microseconds in the kernel. Meanwhile the kernel evicts the
 * code of this program from the first-level cache. So the way through the runtime is as short as
 * can be: four functions, one behind the other, in place of the fifty that can handle everything.
 * Each of the four either does exactly what those fifty would do, or does nothing and returns that.
 * docs/design/channel-path.md has the account. Owner only.
 */
#ifndef NET_PLAIN_H
#define NET_PLAIN_H

#include "net/channel.h"
#include "net/rare.h"
#include "base/assert.h"

/** Flags of which a plain channel has none. */
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

/** Whether pieces of this channel are what a receive gives. */
static inline bool channel_is_raw(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const tr_endpoint *options = &channel->endpoint->options;
    return !options->framing && !options->protocol && !options->interleaves;
}

/**
 * Receives a piece of a channel that is plain and raw, and lends it to the turn, as tr__input_take would. The piece
 * that the turn had borrowed before is no longer valid. The turn need not end by the slow path. TR_NOT_SUPPORTED:
 * nothing was done. Otherwise TR_OK, TR_WOULD_BLOCK, TR_CLOSED (now CHANNEL_INPUT_OVER is set) or why the receive has
 * failed.
 */
TR_MUST_CHECK tr_status tr__plain_receive(struct tr_self *self, struct channel *channel,
                                          tr_bytes *bytes);
/** Ends what tr__plain_receive has lent to the turn that ends now. False: nothing was done. */
TR_MUST_CHECK bool tr__plain_return(struct tr_self *self, struct channel *channel);
/** Writes to a channel of this turn. False: nothing was done. */
TR_MUST_CHECK bool tr__plain_write(struct tr_self *self, tr_channel handle, tr_bytes bytes);
/** Sends the output of a channel. True: the kernel has taken all of it, or has failed. False: something may be left. */
TR_MUST_CHECK bool tr__plain_send(struct channel *channel);

#endif
