/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a channel ends: it is closed in order, reset, or the other side has ended. A channel that is closed in order
 * lingers until what was written is sent. All functions: owner only.
 */
#ifndef NET_CHANNEL_END_H
#define NET_CHANNEL_END_H

#include <stdbool.h>
#include <troupe/status.h>

struct channel;

/**
 * Ends a channel. Does nothing the second time. Closes the socket. Turns that wait get what was received, then the
 * status; the actor gets tr_closed. `text` may be NULL.
 */
void tr__channel_end(struct channel *channel, tr_status status, const char *text);
/** Sends what is left and closes. The actor, if there is one, gets tr_closed with TR_OK. */
void tr__channel_close(struct channel *channel);
/** Sends what is left, and ends the channel with TR_CLOSED. The other side has ended, and all input was read. */
void tr__channel_hang_up(struct channel *channel);
/** Sets the text of tr_closed, if it has none yet. Out of memory: it stays without a text. */
void tr__channel_set_text(struct channel *channel, const char *text);
/** Closes at once, so that the other side sees a reset. The actor gets tr_closed with TR_OK. */
void tr__channel_reset(struct channel *channel);
/** Takes a channel from its actor, whose incarnation ends. The channel is closed in order, or reset. */
void tr__channel_orphan(struct channel *channel, bool resets);
/** Ends the output: nothing more is written, and the end is sent after what was written. */
void tr__channel_finish(struct channel *channel);
/** Continues to close a channel that lingers, as far as possible now. The channel may be freed. */
void tr__channel_linger(struct channel *channel);

#endif
