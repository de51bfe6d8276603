/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels of a system that shuts down: listeners close first, idle sessions end, others finish their request, what was
 * written is sent, and at the deadline all that is left is reset.
 */
#ifndef NET_SHUTDOWN_H
#define NET_SHUTDOWN_H

#include "net/channel.h"

/** The hook on_shutdown. Worker only. */
void tr__net_shut_down(struct worker *worker);
/** If the system shuts down, sets the deadline of a channel that lingers to that of the system at the latest. Owner only. */
void tr__shutdown_limit(struct channel *channel);
/**
 * Whether a turn that is about to wait for bytes gets none any more, because the system shuts down and the turn is a
 * session's that waits for its next request. A turn that has begun with tr_received is in the middle of a request, and
 * so is a turn for which a part of a piece has come. Owner only.
 */
bool tr__shutdown_ends_read(const struct tr_self *self, const struct channel *channel);

/**
 * Whether a sealed session still gets input of this channel: it has been in the middle of a piece since the shutdown
 * began, and the channel has the rest of the piece, or its own end. Owner only.
 */
bool tr__shutdown_holds(const struct channel *channel);
/**
 * The hook on_sealed. If a part of a piece has come for the handler of a session, the session does not stop before it
 * has the rest, or the channel has ended, or the deadline is reached. Out of memory: it stops at once. Owner only.
 */
void tr__shutdown_sealed(struct worker *worker, struct cell *cell);

#endif
