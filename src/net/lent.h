/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bytes of a channel that a turn still uses, while another turn reads from the channel or after it
 * was handed over. The turn has borrowed the memory of the bytes (net/input.h). Now it owns that
 * memory, until it reads from the channel again or ends. Unread bytes are copied for the channel.
 * Owner only.
 */
#ifndef NET_LENT_H
#define NET_LENT_H

#include "net/channel.h"

/**
 * Gives the memory of a channel's input to the turn that has borrowed it, if there is one.
 * TR_NO_MEMORY: nothing has changed.
 */
TR_MUST_CHECK tr_status tr__lent_away(struct channel *channel);
/**
 * Frees the memory that this turn has kept of a channel, because the turn reads from the channel
 * again.
 */
void tr__lent_return(struct tr_self *self, const struct channel *channel);
/** Frees all memory that this turn has kept of channels, because the turn has ended. */
void tr__lent_free(struct tr_self *self);

#endif
