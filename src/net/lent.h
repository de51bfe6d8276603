/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bytes of a channel that a turn keeps although the channel continues without them: another turn reads from it, or it was
 * handed over. The turn has borrowed the memory (net/input.h); now the memory becomes the turn's own, until the turn
 * reads from that channel again or ends. What was not read is copied for the channel. Owner only.
 */
#ifndef NET_LENT_H
#define NET_LENT_H

#include "net/channel.h"

/** Lets the borrower of a channel, if there is one, keep the memory. TR_NO_MEMORY: nothing has changed. */
TR_MUST_CHECK tr_status tr__lent_away(struct channel *channel);
/** Frees what this turn has kept of a channel, because it reads from the channel again. */
void tr__lent_return(struct tr_self *self, const struct channel *channel);
/** Frees all that this turn has kept, because it has ended. */
void tr__lent_free(struct tr_self *self);

#endif
