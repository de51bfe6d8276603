/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The input of a channel: it is filled from the socket, cut into pieces, and lent to turns.
 *
 * Bytes are received into the area of the worker, or behind bytes that are there already. A piece
 * that a turn has taken stays where it is until the same turn takes the next piece, or ends (rule
 * of the borrower). If another turn takes a piece before that, the first turn keeps the memory:
 * net/lent.h. An incomplete piece is moved to memory of the channel, so that the area becomes free.
 * Owner only.
 */
#ifndef NET_INPUT_H
#define NET_INPUT_H

#include "net/channel.h"

enum cut_how {
    /* a piece by the framing of the channel; without a framing all bytes that have come */
    CUT_PIECE,
    CUT_LINE,
    CUT_EXACTLY,
    CUT_UNTIL,
    CUT_SOME /* all bytes that have come, but at most `size` */
};

struct cutter {
    enum cut_how how;
    size_t size;  /* for CUT_EXACTLY and CUT_SOME */
    tr_bytes end; /* for CUT_UNTIL */
};

/**
 * Takes a piece for this turn. TR_WOULD_BLOCK: it has not come yet. TR_CLOSED: the other side has
 * ended; *is_cut is set if that was inside a piece. With any other status (TR_TOO_LARGE,
 * TR_BAD_DATA, TR_RESET, TR_NO_MEMORY, or one of a filter) the caller must end the channel.
 */
TR_MUST_CHECK tr_status tr__input_take(struct tr_self *self, struct channel *channel,
                                       const struct cutter *cutter, tr_bytes *piece, bool *is_cut);
/**
 * Returns the last `size` bytes of the last piece to the channel. Returns false if the piece has
 * fewer, or there is none.
 */
TR_MUST_CHECK bool tr__input_unread(struct channel *channel, size_t size);
/**
 * Lets unread bytes be searched for a piece again without waiting for more, because another turn or
 * handler reads them now.
 */
void tr__input_look_again(struct channel *channel);
/**
 * Takes the next `size` bytes behind the last piece, which stays where it is. Returns false and
 * takes nothing if fewer have come.
 */
bool tr__input_more(struct channel *channel, size_t size, tr_bytes *bytes);
/** Whether there are unread bytes of which a reader could take some now. */
bool tr__input_has_bytes(const struct channel *channel);
/** Lets the end of this turn check the channel again, because its other side has ended. */
void tr__input_watch_end(struct tr_self *self, struct channel *channel);
/** Ends the loan of the last piece: its bytes may be overwritten now. */
void tr__input_settle(struct channel *channel);
/** Receives without taking anything, so that the end of the input is found. */
tr_status tr__input_peek(struct channel *channel);
/**
 * Passes the bytes that an earlier filter has passed to the current filter. Returns what `inbound`
 * returns.
 */
tr_status tr__input_filter_again(struct channel *channel);
/**
 * Moves bytes from the area of the worker to memory of the channel, with space for `more`. Fails
 * with TR_NO_MEMORY.
 */
tr_status tr__input_leave_area(struct channel *channel, size_t more);
/** Drops all input. Lent bytes are dropped when their turn ends. */
void tr__input_drop(struct channel *channel);
/** Forgets the turn that had borrowed bytes of this channel. The turn is gone, with its stack. */
void tr__input_abandon(struct channel *channel);
/**
 * Ends the loan of the input to a turn, if there is one. Moves and frees no bytes. From then on the
 * turn may use the bytes only if it owns their memory.
 */
void tr__input_unborrow(struct channel *channel);
/** Replaces the input by these bytes. The memory of the earlier input has another owner by now. */
void tr__input_replace(struct channel *channel, struct net_buffer rest);
/** Frees all memory of the input. */
void tr__input_free(struct channel *channel);

#endif
