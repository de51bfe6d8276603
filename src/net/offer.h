/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Connections that a listener with .accepted_by offers to actors, by asks. While it is offered, a
 * connection is in the list of the listener's record, under a number. Both the actor and the
 * listener may claim it by this number, and the first one gets it.
 */
#ifndef NET_OFFER_H
#define NET_OFFER_H

#include "net/listener_shared.h"

/** Returns the actor that is next to get a connection. Owner only. */
tr_ref tr__offer_choose(struct tr_self *self, const struct listener_shared *shared, uint32_t turn);
/** Ends an offer: closes the connection if the actor has not claimed it. Owner only. */
void tr__offer_end(struct tr_self *self, struct listener_shared *shared, uint64_t number,
                   tr_status status);

#endif
