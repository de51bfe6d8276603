/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exchanges: asks whose reply comes by a channel. Replies go to those that wait in the order of their requests.
 * An ask whose turn has given up keeps its place, and what comes for it is dropped. Owner only.
 */
#ifndef NET_EXCHANGE_H
#define NET_EXCHANGE_H

#include "net/channel.h"

/** Gives the exchanges the pieces that have come. May end the channel. */
void tr__exchanges_read(struct channel *channel);
/** Ends all exchanges with this status. */
void tr__exchanges_fail(struct channel *channel, tr_status status);
/** Forgets all exchanges: their turns have ended. */
void tr__exchanges_free(struct channel *channel);
/** Ends the asks of tr_readable and tr_writable whose time has come. */
void tr__exchanges_look(struct channel *channel);
/** Whether the ask with this number waits for the channel. Owner only. */
bool tr__exchange_is_here(const struct channel *channel, uint32_t id);

#endif
