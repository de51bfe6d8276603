/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The channels of a system that shuts down. First the listeners close. Idle sessions end; other
 * sessions finish their request. Output that was written is sent. At the deadline all remaining
 * channels are reset.
 */
#ifndef NET_SHUTDOWN_H
#define NET_SHUTDOWN_H

#include "net/channel.h"

/** Implements the hook on_shutdown. Worker only. */
void tr__net_shut_down(struct worker *worker);
/**
 * If the system shuts down, limits the deadline of a channel that lingers to the deadline of the
 * system. Owner only.
 */
void tr__shutdown_limit(struct channel *channel);
/**
 * Whether a turn that is about to wait for bytes must end instead, because the system shuts down
 * and the turn waits for the next request of its session. A turn that began with tr_received is in
 * the middle of a request, and so is one for which a part of a piece has come: these may wait.
 * Owner only.
 */
bool tr__shutdown_ends_read(const struct tr_self *self, const struct channel *channel);

/**
 * Whether a sealed session still gets input of this channel. This is so if it was in the middle of
 * a piece when the shutdown began, and the rest of the piece, or the end of the channel, has come.
 * Owner only.
 */
bool tr__shutdown_holds(const struct channel *channel);
/**
 * Implements the hook on_sealed. A session whose handler waits for the rest of a piece does not
 * stop yet. It stops when it has the rest, when the channel has ended, or at the deadline. If there
 * is no memory, it stops at once. Owner only.
 */
void tr__shutdown_sealed(struct worker *worker, struct cell *cell);

#endif
