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
 * Ends a channel, once: closes the socket; turns that wait get the status after what was received; the actor gets
 * tr_closed. `text` may be NULL.
 */
void tr__channel_end(struct channel *channel, tr_status status, const char *text);
/** Sends what is left and closes: the actor gets tr_closed with TR_OK, if it is there. */
void tr__channel_close(struct channel *channel);
/** The other side has ended, and all was read: sends what is left, and ends with TR_CLOSED. */
void tr__channel_hang_up(struct channel *channel);
/** Sets the text of tr_closed, once. Without memory there is none. */
void tr__channel_set_text(struct channel *channel, const char *text);
/** Closes at once, so that the other side sees a reset. The actor gets tr_closed with TR_OK. */
void tr__channel_reset(struct channel *channel);
/** Takes a channel from its actor, whose incarnation ends. It is closed in order, or reset. */
void tr__channel_orphan(struct channel *channel, bool resets);
/** Says that nothing more is written. */
void tr__channel_finish(struct channel *channel);
/** Continues to close a channel that lingers, as far as possible now. It may be freed. */
void tr__channel_linger(struct channel *channel);

#endif
