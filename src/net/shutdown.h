/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels of a system that shuts down: first the listeners close. Idle sessions end, the others
 * finish their request, and what was written is sent. At the deadline all remaining channels are
 * reset.
 */
#ifndef NET_SHUTDOWN_H
#define NET_SHUTDOWN_H

#include "net/channel.h"

/** The hook on_shutdown. Worker only. */
void tr__net_shut_down(struct worker *worker);
/**
 * If the system shuts down, limits the deadline of a channel that lingers to the deadline of the
 * system. Owner only.
 */
void tr__shutdown_limit(struct channel *channel);
/**
 * Whether a turn that is about to wait for bytes will get none: it is the turn of a session that
 * waits for its next request, and the system shuts down. A turn that has begun with tr_received is
 * in the middle of a request, and so is a turn for which a part of a piece has come. Owner only.
 */
bool tr__shutdown_ends_read(const struct tr_self *self, const struct channel *channel);

/**
 * Whether a sealed session still gets input of this channel: it has been in the middle of a piece since the shutdown
 * began, and the channel has the rest of the piece, or its own end. Owner only.
 */
bool tr__shutdown_holds(const struct channel *channel);
/**
 * The hook on_sealed. If a part of a piece has come for the handler of a session, the session does
 * not stop yet. It stops when it has the rest of the piece, when the channel has ended, or at the
 * deadline. Out of memory: it stops at once. Owner only.
 */
void tr__shutdown_sealed(struct worker *worker, struct cell *cell);

#endif
