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

enum { PIECE_TAG = 1 };

struct piece;

struct pieces {
    struct list all; /* of struct piece, in the order in which they came */
    uint32_t open;   /* those whose turn has not ended */
};

/** What a verb that ends a channel asked for, when it was the turn of a later piece that called it. */
enum piece_end { PIECE_STAYS, PIECE_FINISHES, PIECE_CLOSES };

/** Whether a piece may be handled beside those that are open. */
static inline bool pieces_may_begin(const struct channel *channel)
{
    return !channel->rare->pieces ||
           channel->rare->pieces->open < channel->endpoint->options.in_flight_max;
}

/** Whether pieces are open, or turns of a protocol. */
static inline bool pieces_are_open(const struct channel *channel)
{
    const struct channel_rare *rare = channel->rare;
    return (rare->pieces && rare->pieces->open) || (rare->streams && rare->streams->open);
}

/** Whether a piece whose answer is held back holds as much as may wait. Owner only. */
bool tr__pieces_hold_much(const struct channel *channel);

/** Whether the actor is to get tr_drained now. */
static inline bool channel_drains(const struct channel *channel)
{
    return channel_has(channel, CHANNEL_DRAINS) && !channel_has(channel, CHANNEL_FILE) &&
           channel->work->output.size <= channel->endpoint->options.output_max / 2 &&
           !(channel->rare->pieces && tr__pieces_hold_much(channel));
}

/** Whether no piece is open but that of this turn. */
bool tr__pieces_are_of(const struct tr_self *self, const struct channel *channel);
/** A turn begins with a piece: gives it a copy of the bytes, and takes the event from the channel. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__piece_begin(struct tr_self *self, struct channel *channel,
                                        struct envelope *envelope, tr_bytes *bytes);
/** The turn of an envelope with PIECE_TAG has ended. Takes the envelope. */
void tr__piece_done(struct worker *worker, struct envelope *envelope);
/** As piece_held, for a channel with pieces. */
struct net_buffer *tr__piece_held(const struct tr_self *self, const struct channel *channel);

/** Returns where this turn is to write, if its answer is held back; NULL: to the output. */
static inline struct net_buffer *piece_held(const struct tr_self *self,
                                            const struct channel *channel)
{
    return channel->rare->pieces ? tr__piece_held(self, channel) : NULL;
}

/** Keeps an end until it is the turn of this turn's piece. False: it is. */
bool tr__piece_delays_end(const struct tr_self *self, const struct channel *channel,
                          enum piece_end end);
/** This turn closes the channel: what is held back behind its own piece is dropped; if it has none, all is written. */
void tr__pieces_close(const struct tr_self *self, struct channel *channel);
/** Writes all that is held back. */
void tr__pieces_release(struct channel *channel);
/** Drops what is held back: the channel has ended. */
void tr__pieces_drop(struct channel *channel);
/** Frees the record; turns that are under way have no channel any more. */
void tr__pieces_free(struct channel *channel);

#endif
