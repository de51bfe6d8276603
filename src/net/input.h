/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a channel has received: filled from the socket, cut into pieces, lent to turns.
 *
 * Bytes are received into the area of the worker, or behind bytes that are there already. A piece
 * that a turn has taken stays where it is until the same turn takes the next piece, or ends (rule
 * of the borrower). If another turn takes a piece before that, the first turn keeps the memory:
 * net/lent.h. A part of a piece that must wait for the rest is moved to memory of the channel, so
 * that the area is free. Owner only.
 */
#ifndef NET_INPUT_H
#define NET_INPUT_H

#include "net/channel.h"

enum cut_how {
    CUT_PIECE, /* a piece by the framing of the channel; without a framing all that has come */
    CUT_LINE,
    CUT_EXACTLY,
    CUT_UNTIL,
    CUT_SOME /* what has come, and no more than `size` */
};

struct cutter {
    enum cut_how how;
    size_t size;  /* of CUT_EXACTLY and CUT_SOME */
    tr_bytes end; /* of CUT_UNTIL */
};

/**
 * Takes a piece for this turn. TR_WOULD_BLOCK: it has not come yet. TR_CLOSED: the other side has ended;
 * *is_cut if it did so amid a piece. TR_TOO_LARGE, TR_BAD_DATA, TR_RESET, TR_NO_MEMORY, or what a filter says:
 * the caller ends the channel.
 */
TR_MUST_CHECK tr_status tr__input_take(struct tr_self *self, struct channel *channel,
                                       const struct cutter *cutter, tr_bytes *piece, bool *is_cut);
/** Returns bytes of the last piece to the channel. False: it has none, or not so many. */
TR_MUST_CHECK bool tr__input_unread(struct channel *channel, size_t size);
/** Has what is unread looked at again, without more bytes: somebody else handles it now. */
void tr__input_look_again(struct channel *channel);
/**
 * Takes the next `size` bytes behind the last piece, which stays where it is. False: not so many have come, and nothing
 * was taken.
 */
bool tr__input_more(struct channel *channel, size_t size, tr_bytes *bytes);
/** Whether there are unread bytes that need not wait for more. */
bool tr__input_has_bytes(const struct channel *channel);
/** Has the end of this turn look at the channel again, because its other side has ended. */
void tr__input_watch_end(struct tr_self *self, struct channel *channel);
/** Ends what was borrowed of this channel. */
void tr__input_settle(struct channel *channel);
/** Receives what has come without taking it, so that the end of the input is found. */
tr_status tr__input_peek(struct channel *channel);
/** Gives the current filter the bytes that an earlier filter has passed. Returns the statuses of `inbound`. */
tr_status tr__input_filter_again(struct channel *channel);
/** Moves bytes from the area of the worker to memory of the channel, with space for `more`. TR_NO_MEMORY. */
tr_status tr__input_leave_area(struct channel *channel, size_t more);
/** Drops all input. Bytes that are lent are dropped when their turn ends. */
void tr__input_drop(struct channel *channel);
/** Forgets the turn that had bytes of this channel: it is gone, with its stack. */
void tr__input_abandon(struct channel *channel);
/**
 * Ends the loan of the input to a turn, if there is one. Moves and frees no bytes. Afterwards the turn may use them only if
 * their memory belongs to the turn.
 */
void tr__input_unborrow(struct channel *channel);
/** Replaces the input by these bytes. The memory of the old ones has another owner now. */
void tr__input_replace(struct channel *channel, struct net_buffer rest);
/** Frees all memory of the input. */
void tr__input_free(struct channel *channel);

#endif
