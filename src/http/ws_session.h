/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A WebSocket: the record that a channel keeps after the upgrade, and the turns that handle its
 * input.
 *
 * A piece of the input is one frame, or, of a large frame, the part that has come. A message that
 * has come in one piece is passed to the handler without a copy. Other messages are joined in
 * memory that is freed after their turn, so an idle WebSocket has no buffers. Each piece has its
 * own turn, so a ping is answered only after the turn of the message before it.
 *
 * Every WebSocket is closed in the same way: a close frame with a code is sent, and then the
 * channel is closed in order, which drops later input. Owner only.
 */
#ifndef HTTP_WS_SESSION_H
#define HTTP_WS_SESSION_H

#include "http/events.h"
#include "http/websocket.h"
#include "http/ws_extension.h"
#include "net/channel.h"
#include "base/assert.h"

/**
 * The part of a WebSocket that belongs to a layer above. on_end is called once, when the WebSocket
 * has ended; the record is then the layer's again.
 */
struct ws_above {
    void (*on_end)(struct channel *channel, struct ws_above *above, unsigned code);
};

/**
 * The memory that each WebSocket needs while nothing happens. What all WebSockets of a listener have in common is in
 * the listener's site. docs/design/hibernation.md counts the bytes.
 */
struct ws_session {
    uint8_t kept;   /* HTTP_KEPT_SOCKET; must be the first member */
    bool is_pinged; /* a ping was sent, and no byte has come since then */
    bool is_over;   /* a close was sent */
    /* both sides have agreed on a subprotocol, whose name is at the end of `more` */
    bool has_protocol;
    struct ws_deflate deflate; /* what both sides have agreed about permessage-deflate */
    struct ws_reader reader;
    struct ws_above *above; /* NULL: nothing */
    /*
     * The row that gets tr_ws_message while the actor has the behavior of the site. If the actor
     * has another behavior, or if this member is NULL, the row of the actor's behavior for
     * tr_ws_message gets it.
     */
    const tr_handler *row;
    /*
     * the portions of the current message that have come so far, if it comes in several pieces;
     * NULL: there are none
     */
    struct net_buffer *joined;
    tr_time more[]; /* for a client its ping_ns, because a client has no site */
};
static_assert(sizeof(struct ws_session) == 56, "each WebSocket has one");

/** Returns the WebSocket of a channel. Returns NULL if the channel is no WebSocket. */
static inline struct ws_session *ws_session_of(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct ws_session *session = channel->session;
    return session && session->kept == HTTP_KEPT_SOCKET ? session : NULL;
}

/** How a WebSocket begins. */
struct ws_setup {
    enum ws_role role;
    const tr_handler *row; /* the member `row` of struct ws_session */
    size_t message_max;
    /*
     * For a client: if the other side is silent for this time, a ping is sent. If it stays silent
     * for this time again, the channel is ended. For a server this is an option of its site.
     */
    tr_time ping_ns;
    struct ws_deflate deflate;
    const char *protocol; /* NULL: none */
};

/**
 * Returns the name of the subprotocol that both sides have agreed on. Returns NULL if there is
 * none.
 */
const char *tr__ws_protocol(const struct ws_session *session);
/** Makes a channel a WebSocket. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__ws_session_begin(struct channel *channel, const struct ws_setup *setup);
/**
 * Call when a WebSocket ends. Calls on_end of the layer above with this code. A second call does
 * nothing.
 */
void tr__ws_tell_end(struct channel *channel, unsigned code);
/** What on_free of the protocol does for a WebSocket. */
void tr__ws_on_free(struct channel *channel);
/**
 * Sends a text from outside of a turn. The text must be UTF-8. Fails with TR_NO_MEMORY. Does not
 * wait.
 */
TR_MUST_CHECK tr_status tr__ws_append_text(struct channel *channel, tr_buffer *text);
/** Frees the record of a WebSocket. */
void tr__ws_session_free(const struct memory_source *source, void *session);
/** Cuts a piece from the beginning of `bytes`. Returns what tr_framing.cut returns. */
size_t tr__ws_cut(const struct ws_session *session, tr_bytes bytes, tr_bytes *piece);
/** Handles a piece in a turn. */
tr_next tr__ws_turn(struct tr_self *self, struct channel *channel, void *state,
                    const struct tr_received *piece);
/** Starts the time until the next ping again, because bytes have come. */
void tr__ws_wait(struct channel *channel);
/** Called when the time until the next ping has passed: sends a ping, or ends the channel. */
void tr__ws_deadline(struct channel *channel);
/**
 * Writes a frame, deflated and masked as both sides have agreed. May wait. Returns the statuses of
 * tr_ws_send, or TR_NO_MEMORY if nothing was written.
 */
TR_MUST_CHECK tr_status tr__ws_write(struct tr_self *self, struct channel *channel,
                                     enum ws_opcode opcode, tr_bytes payload);
/**
 * Writes a close frame, unless one was written before. Returns whether one was written, now or
 * before. Does not wait.
 */
bool tr__ws_write_last(struct channel *channel, unsigned code, tr_bytes reason);
/** What on_close of the protocol does for a WebSocket. */
void tr__ws_on_close(struct channel *channel, bool has_failed);

#endif
