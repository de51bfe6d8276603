/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a channel has received: filled from the socket, cut into pieces, lent to turns.
 *
 * Bytes are received into the area of the worker, or behind bytes that are there already. A piece that is
 * taken stays where it is until that turn takes the next one, or ends (rule of the borrower). If another turn takes
 * one before, the first one keeps the memory: net/lent.h.
 * A part of a piece that must wait for the rest is moved to memory of the channel, so that the area is free.
 * Owner only.
 */
#ifndef NET_INPUT_H
#define NET_INPUT_H

#include "net/channel.h"

enum cut_how {
    CUT_PIECE, /* as the framing of the channel says; without framing all that has come */
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
/**
 * Takes the next `size` bytes behind the last piece, which stays where it is. False: not so many have come, and nothing
 * was taken.
 */
bool tr__input_more(struct channel *channel, size_t size, tr_bytes *bytes);
/** Whether there are bytes that were not read, and that need not wait for more. */
bool tr__input_has_bytes(const struct channel *channel);
/** Makes the end of this turn look at the channel, whose other side has ended. */
void tr__input_watch_end(struct tr_self *self, struct channel *channel);
/** Ends what was borrowed of this channel. */
void tr__input_settle(struct channel *channel);
/** Receives what has come, without taking it, so that an end behind it is found. */
tr_status tr__input_peek(struct channel *channel);
/** Gives bytes that a filter before has passed to the filter that is there now. The statuses of `inbound`. */
tr_status tr__input_filter_again(struct channel *channel);
/** Moves bytes from the area of the worker to memory of the channel. TR_NO_MEMORY. */
tr_status tr__input_leave_area(struct channel *channel, size_t more);
/** Drops what has come; what is lent, at the end of its turn. */
void tr__input_drop(struct channel *channel);
/** The turn that had bytes of this channel is gone, with its stack. */
void tr__input_abandon(struct channel *channel);
/** Takes the bytes from the turn that has borrowed them, which must not use them any more, or has the memory itself now. */
void tr__input_unborrow(struct channel *channel);
/** Lets the channel continue with these bytes. The memory of the others has another owner now. */
void tr__input_replace(struct channel *channel, struct net_buffer rest);
/** Frees all memory. */
void tr__input_free(struct channel *channel);

#endif
