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

#endif
