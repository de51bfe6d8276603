/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Connections that a listener with .accepted_by offers to actors, by asks. A connection on its way
 * is in the list of the listener's record under a number; the actor and the listener may both want
 * it at the same time. The one that claims the number first has it.
 */
#ifndef NET_OFFER_H
#define NET_OFFER_H

#include "net/listener_shared.h"

/** Returns the actor whose turn it is to get a connection. Owner only. */
tr_ref tr__offer_choose(struct tr_self *self, const struct listener_shared *shared, uint32_t turn);
/** Closes a connection if the actor that it was offered to has not taken it. Owner only. */
void tr__offer_end(struct tr_self *self, struct listener_shared *shared, uint64_t number,
                   tr_status status);

#endif
