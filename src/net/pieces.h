/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handling several pieces of a channel at a time (.interleaves), and sending their answers in order
 * (.answers_in_order).
 *
 * A turn of such a channel gets a copy of its piece, and the next event of the channel is queued
 * while that turn waits. A piece is open until its turn has ended. The envelope of the turn leads
 * to the record of the piece: `sender` is the address of the record, with PIECE_TAG.
 *
 * Rules
 *     1. At most .in_flight_max pieces are open.
 *     2. With .answers_in_order, the output of a piece's turn is held back until the turns of all
 *        pieces before it have ended.
 *     3. The actor gets tr_closed only when no piece is open. Owner only.
 */
#ifndef NET_PIECES_H
#define NET_PIECES_H

#include "net/channel.h"
#include "net/protocol_turn.h"
#include "base/assert.h"

enum { PIECE_TAG = 1 };

struct piece;

struct pieces {
    struct list all; /* struct piece, in the order in which the pieces have come */
    uint32_t open;   /* number of pieces whose turn has not ended */
};

/**
 * How a turn wants to end its channel. While earlier pieces are open, this wish is kept in the
 * record of the turn's piece.
 */
enum piece_end { PIECE_STAYS, PIECE_FINISHES, PIECE_CLOSES };

/** Whether one more piece may be handled beside the open ones. */
static inline bool pieces_may_begin(const struct channel *channel)
{
    return !channel->rare->pieces ||
           channel->rare->pieces->open < channel->endpoint->options.in_flight_max;
}

/** Whether turns of pieces, or turns of a protocol, have not ended. */
static inline bool pieces_are_open(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct channel_rare *rare = channel->rare;
    return (rare->pieces && rare->pieces->open) || (rare->streams && rare->streams->open);
}

/**
 * Whether one of the answers that are held back has at least output_max bytes, the maximum for the
 * output of a channel. Owner only.
 */
bool tr__pieces_hold_much(const struct channel *channel);

/** Returns how many bytes the answers that are held back and their records have. Owner only. */
size_t tr__pieces_bytes(const struct channel *channel);

/** Whether the actor must get tr_drained now. */
static inline bool channel_drains(const struct channel *channel)
{
    return channel_has(channel, CHANNEL_DRAINS) && !channel_has(channel, CHANNEL_FILE) &&
           channel->work->output.size <= channel->endpoint->options.output_max / 2 &&
           !(channel->rare->pieces && tr__pieces_hold_much(channel));
}

/** Whether no piece is open, except perhaps the piece of this turn. */
bool tr__pieces_are_of(const struct tr_self *self, const struct channel *channel);
/**
 * Begins the turn of a piece: replaces `bytes` by a copy for the turn, and makes the envelope
 * belong to the piece, so that the channel can queue its next event. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__piece_begin(struct tr_self *self, struct channel *channel,
                                        struct envelope *envelope, tr_bytes *bytes);
/**
 * Ends the piece of an envelope with PIECE_TAG, whose turn has ended. Takes ownership of the
 * envelope.
 */
void tr__piece_done(struct worker *worker, struct envelope *envelope);
/** What piece_held does for a channel with pieces. */
struct net_buffer *tr__piece_held(const struct tr_self *self, const struct channel *channel);

/**
 * If the answer of this turn must be held back, returns the buffer to which the turn writes.
 * Returns NULL if the turn writes to the output of the channel.
 */
static inline struct net_buffer *piece_held(const struct tr_self *self,
                                            const struct channel *channel)
{
    return channel->rare->pieces ? tr__piece_held(self, channel) : NULL;
}

/**
 * If pieces before the piece of this turn are open, notes `end` in the record of the piece and
 * returns true. Otherwise returns false, and the caller must end the channel now.
 */
bool tr__piece_delays_end(const struct tr_self *self, const struct channel *channel,
                          enum piece_end end);
/**
 * Call before this turn closes the channel. If the turn has a piece, drops the answers of later
 * pieces. If the turn has none, writes all answers that are held back.
 */
void tr__pieces_close(const struct tr_self *self, struct channel *channel);
/** Writes all answers that are held back. */
void tr__pieces_release(struct channel *channel);
/** Drops all answers that are held back, because the channel has ended. */
void tr__pieces_drop(struct channel *channel);
/** Frees the record. Turns of pieces that still run find no channel any more. */
void tr__pieces_free(struct channel *channel);

#endif
