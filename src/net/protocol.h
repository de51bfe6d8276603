/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A protocol handles the input of an endpoint's channels, so that the actors of these channels do
 * not get it as tr_received. A module above net implements it. src/http has one protocol for
 * listeners, and one for clients of WebSocket.
 *
 * The sessions of such an endpoint need no handler for tr_received. The protocol cuts the input
 * into pieces. Its `handler` gets the pieces, in turns of the session. All functions: owner only,
 * unless they say otherwise.
 */
#ifndef NET_PROTOCOL_H
#define NET_PROTOCOL_H

#include "net/channel.h"
#include "net/protocol_turn.h"
#include "base/assert.h"

struct tr_protocol {
    bool dials; /* true: the protocol is for channels that connect; false: for listeners */
    /**
     * Called before a listener is made: checks the behavior of the listener's sessions, and sets
     * endpoint->site. Fails with TR_INVALID_ARGUMENT, TR_NOT_SUPPORTED, TR_NO_MEMORY. In a turn.
     */
    tr_status (*open)(struct tr_self *self, struct endpoint *endpoint, const tr_behavior *behavior);
    /** Frees a site. Any thread. */
    void (*drop)(const struct memory_source *source, void *site);
    /**
     * Handles each piece of the input. The message of the handler is a struct tr_received, under a
     * type that only the library knows.
     */
    const tr_handler *handler;
    /** Cuts a piece from the beginning of `bytes`. Returns what tr_framing.cut returns. */
    size_t (*cut)(const struct channel *channel, tr_bytes bytes, size_t seen, tr_bytes *piece);
    /** Called when the channel is open. */
    void (*on_open)(struct channel *channel);
    /** Called when bytes were received that are not a whole piece yet. */
    void (*on_part)(struct channel *channel);
    /**
     * Called when channel->deadline_ns is reached, or when nothing was received or sent for
     * .idle_ns. May end the channel.
     */
    void (*on_deadline)(struct channel *channel);
    /**
     * Returns how long a turn that handles channel->request may wait for the channel. Returns 0 if
     * there is no limit.
     */
    tr_time (*within)(const struct channel *channel);
    /**
     * Called when a turn of `handler` has ended, even if it has failed; only if channel->request is
     * not NULL. May end the channel.
     */
    void (*on_turn_end)(struct channel *channel);
    /**
     * Called before an open channel is closed in order, and when its actor has failed. May write a
     * last piece. If this function sets CHANNEL_ANSWERED, the output is sent even though the actor
     * has failed.
     */
    void (*on_close)(struct channel *channel, bool has_failed);
    /** Called before a channel with a session is freed. */
    void (*on_free)(struct channel *channel);
    /** Frees channel->session. Called only if channel->session is not NULL. */
    void (*session_free)(const struct memory_source *source, void *session);
    /**
     * For a channel with rare->streams. Called when bytes have come, or the other side has ended. May end the channel.
     */
    void (*on_input)(struct channel *channel);
    /**
     * For a channel with rare->streams. Called after output was sent, if at least half of the
     * output is free. May end the channel.
     */
    void (*on_drained)(struct channel *channel);
    /**
     * For a channel with rare->streams. Called when the channel has ended: wakes the turns that
     * wait for the channel.
     */
    void (*on_ended)(struct channel *channel);
    /**
     * Frees rare->streams of a channel. Called only if rare->streams is not NULL and no turn of the
     * protocol is queued. Turns that have begun continue without the channel.
     */
    void (*streams_free)(struct channel *channel);
    /** Handles the turns that tr__protocol_turn_queue has queued. */
    const tr_handler *turn_handler;
    /**
     * Called when a turn of turn_handler has ended, even if it has failed. turn->channel may be
     * NULL. May end the channel, and free the turn.
     */
    void (*on_turn_done)(struct protocol_turn *turn);
    /** Does what tr_try_reply does, for a turn of `handler`. */
    tr_status (*reply)(struct tr_self *self, const tr_type *type, const void *message);
    /** Does what tr_refuse does, for a turn of `handler`. */
    void (*refuse)(struct tr_self *self, int code, const char *text);
    /** Does what tr_forward does, for a turn of `handler`. May wait. */
    tr_next (*forward)(struct tr_self *self, tr_ref to);
    /**
     * Does what tr_reply_later does, for a turn of `handler`. Returns all zero if the turn has
     * nothing to answer, or if out of memory.
     */
    tr_later (*later)(struct tr_self *self);
};

static inline const struct tr_protocol *protocol_of(const struct channel *channel)
{
    return channel->endpoint->options.protocol;
}

/** Returns how long a turn may wait for this channel. Returns 0 if there is no limit. */
static inline tr_time channel_within(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->rare->within_ns || !channel->request)
        return channel->rare->within_ns;
    return protocol_of(channel)->within(channel);
}

#endif
