/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Several pieces of a channel that are handled at once (.interleaves), and their answers in order (.answers_in_order).
 *
 * A turn of such a channel gets a copy of its piece, and the next event is queued while that turn waits. The record
 * of a piece is known by the envelope of its turn: `sender` is its address, with PIECE_TAG.
 *
 * Rules
 *     1. At most .in_flight_max pieces are open.
 *     2. In order: what the turn of a piece writes is held back until the turns of all pieces before it have ended.
 *     3. The end of the channel comes when no piece is open.
 * Owner only.
 */
#ifndef NET_PIECES_H
#define NET_PIECES_H

#include "net/channel.h"
#include "net/protocol_turn.h"
#include "base/assert.h"

enum { PIECE_TAG = 1 };

struct piece;

struct pieces {
    struct list all; /* of struct piece, in the order in which they came */
    uint32_t open;   /* how many pieces have a turn that has not ended */
};

/** What a turn has asked for by a verb that ends the channel, if it was not the turn of the first piece. */
enum piece_end { PIECE_STAYS, PIECE_FINISHES, PIECE_CLOSES };

/** Whether one more piece may be handled beside the open ones. */
static inline bool pieces_may_begin(const struct channel *channel)
{
    return !channel->rare->pieces ||
           channel->rare->pieces->open < channel->endpoint->options.in_flight_max;
}

/** Whether pieces, or turns of a protocol, are open. */
static inline bool pieces_are_open(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct channel_rare *rare = channel->rare;
    return (rare->pieces && rare->pieces->open) || (rare->streams && rare->streams->open);
}

/** Whether a piece holds back as much of its answer as may wait. Owner only. */
bool tr__pieces_hold_much(const struct channel *channel);

/** Whether the actor is to get tr_drained now. */
static inline bool channel_drains(const struct channel *channel)
{
    return channel_has(channel, CHANNEL_DRAINS) && !channel_has(channel, CHANNEL_FILE) &&
           channel->work->output.size <= channel->endpoint->options.output_max / 2 &&
           !(channel->rare->pieces && tr__pieces_hold_much(channel));
}

/** Whether the piece of this turn is the only piece that is open. */
bool tr__pieces_are_of(const struct tr_self *self, const struct channel *channel);
/** Gives a turn that begins with a piece a copy of the bytes, and takes the event from the channel. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__piece_begin(struct tr_self *self, struct channel *channel,
                                        struct envelope *envelope, tr_bytes *bytes);
/** Ends the piece of an envelope with PIECE_TAG, whose turn has ended. Takes the envelope. */
void tr__piece_done(struct worker *worker, struct envelope *envelope);
/** Does what piece_held does, for a channel with pieces. */
struct net_buffer *tr__piece_held(const struct tr_self *self, const struct channel *channel);

/**
 * Returns the buffer to which this turn must write, because its answer is held back; NULL: it may write to the output.
 */
static inline struct net_buffer *piece_held(const struct tr_self *self,
                                            const struct channel *channel)
{
    return channel->rare->pieces ? tr__piece_held(self, channel) : NULL;
}

/**
 * If pieces before the piece of this turn are open, keeps the end for later. False: there are none,
 * and the caller ends the channel now.
 */
bool tr__piece_delays_end(const struct tr_self *self, const struct channel *channel,
                          enum piece_end end);
/**
 * Prepares a close by this turn: drops what is held back after its own piece. If the turn has no piece, writes all that
 * is held back.
 */
void tr__pieces_close(const struct tr_self *self, struct channel *channel);
/** Writes all that is held back. */
void tr__pieces_release(struct channel *channel);
/** Drops all that is held back, because the channel has ended. */
void tr__pieces_drop(struct channel *channel);
/** Frees the record. Turns that are under way find no channel any more. */
void tr__pieces_free(struct channel *channel);

#endif
