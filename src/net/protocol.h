/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Protocols: a layer above net can handle the input of an endpoint's channels itself, instead of
 * tr_received. src/http has one for listeners, and one for clients of WebSocket.
 *
 * The sessions of such an endpoint need no handler for tr_received. The protocol cuts the input
 * into pieces, and `handler` gets them, in turns of the session. All functions: owner only, unless
 * they say otherwise.
 */
#ifndef NET_PROTOCOL_H
#define NET_PROTOCOL_H

#include "net/channel.h"
#include "net/protocol_turn.h"
#include "base/assert.h"

struct tr_protocol {
    bool dials; /* the protocol is for channels that connect; false: for listeners */
    /**
     * Prepares a listener that is about to be made: checks the behavior of its sessions, and sets
     * endpoint->site. In a turn. Fails with TR_INVALID_ARGUMENT, TR_NOT_SUPPORTED, TR_NO_MEMORY.
     */
    tr_status (*open)(struct tr_self *self, struct endpoint *endpoint, const tr_behavior *behavior);
    /** Frees a site. Any thread. */
    void (*drop)(const struct memory_source *source, void *site);
    /** Gets each piece, as a struct tr_received. Its type is known to the library only. */
    const tr_handler *handler;
    /** Cuts a piece, by the rules of tr_framing.cut. */
    size_t (*cut)(const struct channel *channel, tr_bytes bytes, size_t seen, tr_bytes *piece);
    /** Called when the channel is open. */
    void (*on_open)(struct channel *channel);
    /** Called when received bytes are not a whole piece yet. */
    void (*on_part)(struct channel *channel);
    /**
     * Called when channel->deadline_ns is reached, or when nothing was received or sent for
     * .idle_ns. May end the channel.
     */
    void (*on_deadline)(struct channel *channel);
    /** Returns how long a turn that handles `request` may wait for a channel. */
    tr_time (*within)(const struct channel *channel);
    /**
     * If channel->request is not NULL: called when a turn of `handler` has ended, even if it has
     * failed. May end the channel.
     */
    void (*on_turn_end)(struct channel *channel);
    /**
     * Called before an open channel is closed in order, and when its actor has failed. May write a
     * last piece. If it sets CHANNEL_ANSWERED, the output is sent even if the actor has failed.
     */
    void (*on_close)(struct channel *channel, bool has_failed);
    /** Called before a channel with a session is freed. */
    void (*on_free)(struct channel *channel);
    /** Frees the session of a channel. Called only if it is not NULL. */
    void (*session_free)(const struct memory_source *source, void *session);
    /**
     * For a channel with rare->streams. Called when bytes have come, or the other side has ended. May end the channel.
     */
    void (*on_input)(struct channel *channel);
    /**
     * For a channel with rare->streams. Called when half of its output is free again. May end the
     * channel.
     */
    void (*on_drained)(struct channel *channel);
    /**
     * For a channel with rare->streams. Called when the channel has ended: wakes the turns that
     * wait for it.
     */
    void (*on_ended)(struct channel *channel);
    /**
     * Frees rare->streams of a channel. Called only if that is not NULL, and no turn of it is
     * queued. Turns that have begun continue without the channel.
     */
    void (*streams_free)(struct channel *channel);
    /** Handles the turns that tr__protocol_turn_queue has queued. */
    const tr_handler *turn_handler;
    /**
     * Called when a turn of turn_handler has ended, even if it has failed. turn->channel may be
     * NULL. May end the channel, and free the turn.
     */
    void (*on_turn_done)(struct protocol_turn *turn);
    /** Implements tr_reply for a turn of `handler`. Returns what tr_try_reply returns. */
    tr_status (*reply)(struct tr_self *self, const tr_type *type, const void *message);
    /** Implements tr_refuse for a turn of `handler`. */
    void (*refuse)(struct tr_self *self, int code, const char *text);
    /** Implements tr_forward for a turn of `handler`. May wait. */
    tr_next (*forward)(struct tr_self *self, tr_ref to);
    /**
     * Implements tr_reply_later for a turn of `handler`. Returns all zero if there is nothing to
     * answer, or no memory.
     */
    tr_later (*later)(struct tr_self *self);
};

static inline const struct tr_protocol *protocol_of(const struct channel *channel)
{
    return channel->endpoint->options.protocol;
}

/** Returns how long a wait for this channel may take; 0: no limit. */
static inline tr_time channel_within(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->rare->within_ns || !channel->request)
        return channel->rare->within_ns;
    return protocol_of(channel)->within(channel);
}

#endif
