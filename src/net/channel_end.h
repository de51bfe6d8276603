/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a channel ends: it is closed in order, it is reset, or the other side ends it. A channel that
 * is closed in order lingers until all its output is sent. All functions: owner only.
 */
#ifndef NET_CHANNEL_END_H
#define NET_CHANNEL_END_H

#include <stdbool.h>
#include <troupe/status.h>

struct channel;

/**
 * Ends a channel and closes its socket. A second call does nothing. Turns that wait for the channel
 * get the bytes that were received, then the status. The actor gets tr_closed with the status and
 * `text`, which may be NULL.
 */
void tr__channel_end(struct channel *channel, tr_status status, const char *text);
/**
 * Sends the rest of the output, then closes the channel. The actor, if there is one, gets tr_closed
 * with TR_OK.
 */
void tr__channel_close(struct channel *channel);
/**
 * Sends the rest of the output, then ends the channel with TR_CLOSED. Call when the other side has
 * ended and all input was read.
 */
void tr__channel_hang_up(struct channel *channel);
/**
 * Sets the text of tr_closed, unless it is set already. If there is no memory, tr_closed has no
 * text.
 */
void tr__channel_set_text(struct channel *channel, const char *text);
/** Resets the connection at once: unsent output is lost. The actor gets tr_closed with TR_OK. */
void tr__channel_reset(struct channel *channel);
/**
 * Call when the incarnation of an actor ends. Takes a channel from the actor. With `resets` resets
 * the channel, otherwise closes it in order.
 */
void tr__channel_orphan(struct channel *channel, bool resets);
/**
 * Ends the output: nothing more can be written. The other side gets the bytes that were written
 * before, then the end.
 */
void tr__channel_finish(struct channel *channel);
/**
 * Continues the closing of a channel that lingers, as far as this is possible now. The channel may
 * be freed.
 */
void tr__channel_linger(struct channel *channel);

#endif
