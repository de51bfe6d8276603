/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A WebSocket: the record that its channel keeps after the upgrade, and its turns.
 *
 * A piece of the input is one frame. For a large frame, a piece is the part that has come. A
 * message that came in one piece is passed to the handler without a copy. Other messages are joined
 * in memory that is freed after their turn, so an idle WebSocket has no buffers. Each piece has its
 * own turn, so a ping waits for the turn of the message before it.
 *
 * Every close has the same form: a frame with a code, then the end of the channel in order, which
 * drops later input. Owner only.
 */
#ifndef HTTP_WS_SESSION_H
#define HTTP_WS_SESSION_H

#include "http/events.h"
#include "http/websocket.h"
#include "http/ws_extension.h"
#include "net/channel.h"
#include "base/assert.h"

/** The part of a layer above. Its on_end is called once, and gets the record back. */
struct ws_above {
    void (*on_end)(struct channel *channel, struct ws_above *above, unsigned code);
};

/**
 * What each WebSocket pays while nothing happens. What all of a listener have in common is read from
 * its site. docs/design/hibernation.md counts the bytes.
 */
struct ws_session {
    uint8_t kept;              /* HTTP_KEPT_SOCKET; must be the first member */
    bool is_pinged;            /* a ping was sent, and no byte has come since */
    bool is_over;              /* a close was sent */
    bool has_protocol;         /* the text of the agreed subprotocol is the last part of `more` */
    struct ws_deflate deflate; /* what was agreed about permessage-deflate */
    struct ws_reader reader;
    struct ws_above *above; /* NULL: nothing */
    /* the row that gets tr_ws_message as long as the behavior of the site is that of the actor;
     * NULL: the row in the behavior of the actor */
    const tr_handler *row;
    /* the portions of a message that comes in several pieces; NULL: none has come */
    struct net_buffer *joined;
    tr_time more[]; /* of a client: its ping_ns, because a client has no site */
};
static_assert(sizeof(struct ws_session) == 56, "each WebSocket has one");

/** Returns the WebSocket of a channel; NULL: the channel is no WebSocket. */
static inline struct ws_session *ws_session_of(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct ws_session *session = channel->session;
    return session && session->kept == HTTP_KEPT_SOCKET ? session : NULL;
}

/** How a WebSocket begins. */
struct ws_setup {
    enum ws_role role;
    const tr_handler *row; /* as in struct ws_session */
    size_t message_max;
    /* of a client: how long the other side may be silent before a ping is sent, and after the ping
     * before the end. A server has it in the options of its site */
    tr_time ping_ns;
    struct ws_deflate deflate;
    const char *protocol; /* NULL: none */
};

/** Returns the agreed subprotocol; NULL: none. */
const char *tr__ws_protocol(const struct ws_session *session);
/** Makes a WebSocket of a channel. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__ws_session_begin(struct channel *channel, const struct ws_setup *setup);
/**
 * Calls on_end of the layer above with this code, because a WebSocket ends. A second call does
 * nothing.
 */
void tr__ws_tell_end(struct channel *channel, unsigned code);
/** Implements on_free of the protocol. */
void tr__ws_on_free(struct channel *channel);
/**
 * Sends a text, which must be UTF-8, from outside of a turn. Fails with TR_NO_MEMORY. Does not
 * wait.
 */
TR_MUST_CHECK tr_status tr__ws_append_text(struct channel *channel, tr_buffer *text);
/** Frees the record of a WebSocket. */
void tr__ws_session_free(const struct memory_source *source, void *session);
/** Cuts a piece, by the rules of tr_framing.cut. */
size_t tr__ws_cut(const struct ws_session *session, tr_bytes bytes, tr_bytes *piece);
/** Handles a piece in a turn. */
tr_next tr__ws_turn(struct tr_self *self, struct channel *channel, void *state,
                    const struct tr_received *piece);
/** Starts the time until the next ping again, because bytes have come. */
void tr__ws_wait(struct channel *channel);
/** Called when the time until the next ping has passed: sends a ping, or ends the channel. */
void tr__ws_deadline(struct channel *channel);
/**
 * Writes a frame, deflated and masked as was agreed. May wait. Returns the statuses of tr_ws_send,
 * or TR_NO_MEMORY if nothing was written.
 */
TR_MUST_CHECK tr_status tr__ws_write(struct tr_self *self, struct channel *channel,
                                     enum ws_opcode opcode, tr_bytes payload);
/**
 * Writes a close, but only once. Returns whether one was written, now or earlier. Does not wait.
 */
bool tr__ws_write_last(struct channel *channel, unsigned code, tr_bytes reason);
/** Implements on_close of the protocol. */
void tr__ws_on_close(struct channel *channel, bool has_failed);

#endif
