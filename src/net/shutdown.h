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
 * Whether a turn that is about to wait for bytes gets none any more: the system shuts down, and it is a session that waits
 * for its next request. A turn that has begun with tr_received is in the middle of one, and so is a turn for which a part
 * of a piece has come. Owner only.
 */
bool tr__shutdown_ends_read(const struct tr_self *self, const struct channel *channel);

/**
 * Whether a session that is sealed still gets what comes from this channel: it has been in the middle of a piece since
 * the system shuts down, and the channel has the rest of it or its end. Owner only.
 */
bool tr__shutdown_holds(const struct channel *channel);
/**
 * The hook on_sealed. A session for whose handler a part of a piece has come does not stop before it has the rest, or
 * the channel has ended, or the deadline is reached. Out of memory: it stops. Owner only.
 */
void tr__shutdown_sealed(struct worker *worker, struct cell *cell);

#endif
