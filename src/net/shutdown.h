/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The channels of a system that shuts down. First the listeners close. Idle sessions end. Other
 * sessions first finish the request that they handle. Output that was written is still sent. At the
 * deadline all remaining channels are reset.
 */
#ifndef NET_SHUTDOWN_H
#define NET_SHUTDOWN_H

#include "net/channel.h"

/** Implements the hook on_shutdown. Worker only. */
void tr__net_shut_down(struct worker *worker);
/**
 * If the system shuts down, makes sure that a channel which lingers ends at the deadline of the
 * shutdown, if not before. Owner only.
 */
void tr__shutdown_limit(struct channel *channel);
/**
 * Whether a turn that is about to wait for bytes must end instead, because the system shuts down
 * and the turn waits for the next request of its session. A turn that handles tr_received is in the
 * middle of a request, so it may wait. A turn may also wait if a part of the next piece has come.
 * Owner only.
 */
bool tr__shutdown_ends_read(const struct tr_self *self, const struct channel *channel);

/**
 * Whether the actor of this channel, although it is sealed by the shutdown, still gets input of the
 * channel. This is so if it is a session that was in the middle of a piece when the shutdown began,
 * and now a part of a piece, or the end of the channel, has come. Owner only.
 */
bool tr__shutdown_holds(const struct channel *channel);
/**
 * Implements the hook on_sealed. A session that is in the middle of a piece does not stop yet. It
 * stops when its handler has had the whole piece, when the channel has ended, or at the deadline.
 * If memory is missing, it stops at once. Owner only.
 */
void tr__shutdown_sealed(struct worker *worker, struct cell *cell);

#endif
