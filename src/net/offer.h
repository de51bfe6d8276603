/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A listener with .accepted_by offers each connection to an actor, by an ask. While a connection is
 * offered, it is in the list `accepted` of struct listener_shared, under a number. The actor claims
 * the connection by this number when it accepts the connection. The listener claims the connection
 * when it closes an offer that was not accepted. The first claim gets the connection.
 */
#ifndef NET_OFFER_H
#define NET_OFFER_H

#include "net/listener_shared.h"

/**
 * Returns the actor to which the next connection is offered. If .accepted_by is a group, the
 * members are chosen in turn, because `turn` grows with each connection. Owner only.
 */
tr_ref tr__offer_choose(struct tr_self *self, const struct listener_shared *shared, uint32_t turn);
/** Ends an offer: closes the connection if the actor has not claimed it. Owner only. */
void tr__offer_end(struct tr_self *self, struct listener_shared *shared, uint64_t number,
                   tr_status status);

#endif
