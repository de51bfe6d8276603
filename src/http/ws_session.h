/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A WebSocket: what its channel keeps after the upgrade, and its turns.
 *
 * A piece of the input is one frame. Of a large frame it is the part that has come. A message that
 * came in one piece is given to the handler where it lies. The others are joined in memory that is
 * freed after their turn, so a WebSocket that is idle has no buffers. Pieces have one turn each, so
 * a ping waits for the turn of the message before it.
 *
 * All closes are of the same form: a frame with a code, then the end of the channel in order, which reads and drops what
 * still comes. Owner only.
 */
#ifndef HTTP_WS_SESSION_H
#define HTTP_WS_SESSION_H

#include "http/events.h"
#include "http/websocket.h"
#include "http/ws_extension.h"
#include "net/channel.h"
#include "base/assert.h"

/** What a layer above keeps with a WebSocket. Its on_end is called once, and takes it. */
struct ws_above {
    void (*on_end)(struct channel *channel, struct ws_above *above, unsigned code);
};

struct ws_session {
    uint8_t kept;                /* HTTP_KEPT_SOCKET; must be first */
    bool is_pinged;              /* a ping was sent, and nothing has come since */
    bool is_over;                /* a close was sent */
    struct ws_above *above;      /* NULL: nothing */
    const tr_behavior *behavior; /* the behavior whose row is called, while the actor has it */
    /* the row that gets tr_ws_message; NULL: that of the actor's behavior */
    const tr_handler *row;
    tr_time ping_ns;           /* how long a silence lasts before a ping, and before the end */
    struct ws_deflate deflate; /* what was agreed */
    /* the subprotocol that was agreed on, behind this struct; NULL: none */
    char *protocol;
    struct net_buffer joined; /* the portions of a message that comes in several pieces */
    struct ws_reader reader;
};

/** Returns the WebSocket of a channel; NULL: it is none. */
static inline struct ws_session *ws_session_of(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct ws_session *session = channel->rare->session;
    return session && session->kept == HTTP_KEPT_SOCKET ? session : NULL;
}

/** How a WebSocket begins. */
struct ws_setup {
    enum ws_role role;
    const tr_behavior *behavior; /* as in struct ws_session */
    const tr_handler *row;
    size_t message_max;
    tr_time ping_ns;
    struct ws_deflate deflate;
    const char *protocol; /* NULL: none */
};

/** Makes a channel a WebSocket. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__ws_session_begin(struct channel *channel, const struct ws_setup *setup);
/** Calls on_end of the layer above with this code, because a WebSocket ends. Does nothing the second time. */
void tr__ws_tell_end(struct channel *channel, unsigned code);
/** The on_free of the protocol. */
void tr__ws_on_free(struct channel *channel);
/** Sends a text, which is UTF-8, outside of a turn. TR_NO_MEMORY. Does not wait. */
TR_MUST_CHECK tr_status tr__ws_append_text(struct channel *channel, tr_buffer *text);
/** Frees what a channel keeps. */
void tr__ws_session_free(const struct memory_source *source, void *session);
/** Cuts a piece, by the rules of tr_framing.cut. */
size_t tr__ws_cut(const struct ws_session *session, tr_bytes bytes, tr_bytes *piece);
/** Handles a piece in a turn. */
tr_next tr__ws_turn(struct tr_self *self, struct channel *channel, void *state,
                    const struct tr_received *piece);
/** Starts the time until the next ping again, because something has come. */
void tr__ws_wait(struct channel *channel);
/** The time until the next ping is over: sends a ping, or ends the channel. */
void tr__ws_deadline(struct channel *channel);
/**
 * Writes a frame, deflated and masked as was agreed. May wait. The statuses of tr_ws_send, and TR_NO_MEMORY: nothing was written.
 */
TR_MUST_CHECK tr_status tr__ws_write(struct tr_self *self, struct channel *channel,
                                     enum ws_opcode opcode, tr_bytes payload);
/** Writes a close, once. Returns whether one was written, now or before. Does not wait. */
bool tr__ws_write_last(struct channel *channel, unsigned code, tr_bytes reason);
/** The on_close of the protocol. */
void tr__ws_on_close(struct channel *channel, bool has_failed);

#endif
