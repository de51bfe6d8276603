/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A WebSocket: what its channel keeps after the upgrade, and its turns.
 *
 * A piece of the input is one frame, or, of a frame that is large, what has come of it. A message that came in one piece
 * is given to the handler where it lies. The others are joined in memory that is freed after their turn, so a WebSocket
 * that is idle has no buffers. Pieces have one turn each, so a ping waits for the turn of the message before it.
 *
 * All closes are of the same form: a frame with a code, then the end of the channel in order, which reads and drops what
 * still comes. Owner only.
 */
#ifndef HTTP_WS_SESSION_H
#define HTTP_WS_SESSION_H

#include "http/websocket.h"
#include "net/channel.h"

struct ws_session {
    const tr_behavior *behavior; /* whose row is called while it is that of the actor */
    const tr_handler *row;       /* for tr_ws_message; NULL: none has its type */
    struct net_buffer joined;    /* what has come of a message in several pieces */
    struct ws_reader reader;
    bool is_pinged; /* a ping was sent, and nothing has come since */
    bool is_over;   /* a close was sent */
};

/** Returns the WebSocket of a channel; NULL: it is none. */
static inline struct ws_session *ws_session_of(const struct channel *channel)
{
    return channel->rare->session;
}

/** Makes a channel a WebSocket. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__ws_session_begin(struct channel *channel, const tr_behavior *behavior,
                                             const tr_handler *row);
/** Frees what a channel keeps. */
void tr__ws_session_free(const struct memory_source *source, void *session);
/** As the `cut` of a tr_framing. */
size_t tr__ws_cut(const struct ws_session *session, tr_bytes bytes, tr_bytes *piece);
/** A turn for a piece. */
tr_next tr__ws_turn(struct tr_self *self, struct channel *channel, void *state,
                    const struct tr_received *piece);
/** Something has come: the time until the next ping begins again. */
void tr__ws_wait(struct channel *channel);
/** That time is over. May end the channel. */
void tr__ws_deadline(struct channel *channel);
/** Writes a close, once. Returns whether one was written, now or before. Does not wait. */
bool tr__ws_write_last(struct channel *channel, unsigned code, tr_bytes reason);
/** The on_close of the protocol. */
void tr__ws_on_close(struct channel *channel, bool has_failed);

#endif
