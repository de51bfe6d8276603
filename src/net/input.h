/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The input of a channel: it is filled from the socket, cut into pieces, and lent to turns.
 *
 * Bytes are received into the area of the worker, or behind bytes that are there already. A turn
 * that takes a piece becomes the borrower of the input: the piece stays where it is until this turn
 * takes the next piece, or ends. If another turn takes a piece before that, the first turn keeps
 * the memory of its piece. See net/lent.h. An incomplete piece is moved to memory of the channel,
 * so that the area can be used for other channels. Owner only.
 */
#ifndef NET_INPUT_H
#define NET_INPUT_H

#include "net/channel.h"

enum cut_how {
    /* a piece as the framing of the channel cuts it; without a framing, all bytes that have come */
    CUT_PIECE,
    CUT_LINE,
    CUT_EXACTLY,
    CUT_UNTIL,
    CUT_SOME /* all bytes that have come, but at most `size` */
};

struct cutter {
    enum cut_how how;
    size_t size;  /* for CUT_EXACTLY and CUT_SOME: the number of bytes */
    tr_bytes end; /* for CUT_UNTIL: the bytes that end a piece */
};

/**
 * Takes a piece for this turn. TR_WOULD_BLOCK: no whole piece has come yet. TR_CLOSED: the other
 * side has ended; *is_cut says whether it has ended inside a piece. With any other status
 * (TR_TOO_LARGE, TR_BAD_DATA, TR_RESET, TR_NO_MEMORY, or one of a filter) the caller must end the
 * channel.
 */
TR_MUST_CHECK tr_status tr__input_take(struct tr_self *self, struct channel *channel,
                                       const struct cutter *cutter, tr_bytes *piece, bool *is_cut);
/**
 * Returns the last `size` bytes of the last piece to the channel, so that they are unread again.
 * Returns false if the piece has fewer bytes, or if there is no last piece.
 */
TR_MUST_CHECK bool tr__input_unread(struct channel *channel, size_t size);
/**
 * Lets the next search for a piece look at all unread bytes again, without waiting for more bytes,
 * because another turn or handler reads them now.
 */
void tr__input_look_again(struct channel *channel);
/**
 * Takes the next `size` bytes behind the last piece. The piece stays where it is. Returns false and
 * takes nothing if fewer bytes have come.
 */
bool tr__input_more(struct channel *channel, size_t size, tr_bytes *bytes);
/** Whether there are unread bytes in which no search has looked for the end of a piece. */
bool tr__input_has_bytes(const struct channel *channel);
/** Makes the end of this turn check the channel again, because the other side has ended. */
void tr__input_watch_end(struct tr_self *self, struct channel *channel);
/** Ends the loan of the last piece. Its bytes may be overwritten from now on. */
void tr__input_settle(struct channel *channel);
/** Receives, but takes no piece, to find the end of the input. */
tr_status tr__input_peek(struct channel *channel);
/**
 * Call when the filter of a channel was replaced. Passes the bytes that the earlier filter has made
 * to the new filter. Returns what `inbound` returns.
 */
tr_status tr__input_filter_again(struct channel *channel);
/**
 * Moves the unread bytes from the area of the worker to memory of the channel that has space for
 * `more` bytes behind them. Fails with TR_NO_MEMORY.
 */
tr_status tr__input_leave_area(struct channel *channel, size_t more);
/**
 * Drops all unread input. If a turn has borrowed a piece, the memory of the piece is freed when the
 * turn ends.
 */
void tr__input_drop(struct channel *channel);
/**
 * Forgets which turn has borrowed bytes of this channel. Call when that turn is gone, together with
 * its stack.
 */
void tr__input_abandon(struct channel *channel);
/**
 * Ends the loan of the input to a turn, if there is one. Moves and frees no bytes. From then on the
 * turn may use the bytes only if it owns their memory.
 */
void tr__input_unborrow(struct channel *channel);
/** Makes `rest` the input. Another owner must have the memory of the input so far. */
void tr__input_replace(struct channel *channel, struct net_buffer rest);
/** Frees all memory of the input. */
void tr__input_free(struct channel *channel);

#endif
