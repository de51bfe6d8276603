/* SPDX-License-Identifier: Apache-2.0 */
/** Sockets of datagrams. */
#ifndef NET_DATAGRAM_H
#define NET_DATAGRAM_H

#include "net/channel.h"

/** Fills an event with the next datagram. False: there is none, or no memory for it. Owner only. */
bool tr__datagram_put(struct tr_self *self, struct channel *channel, struct envelope *envelope);
/**
 * Gives the turn of a datagram those that came behind it. Returns all, with the first, at most `max`; NULL: there is no other
 * one, or the turn has no datagram. Owner only.
 */
const void *const *tr__datagrams_batch(struct tr_self *self, size_t max, size_t *count);
/**
 * The turn of a datagram has declined it: returns those that tr__datagrams_batch gave it behind the first one, which count
 * as dead letters and no more as handled. NULL: there are none. Owner only.
 */
const void *const *tr__datagrams_declined(struct tr_self *self, size_t *count);
/** The turn of a datagram has ended. Owner only. */
void tr__datagram_done(struct channel *channel);
/** Whether datagrams have come that were not handled. Owner only. */
bool tr__datagrams_has_some(const struct channel *channel);
/** Drops the datagrams that were not handled. Owner only. */
void tr__datagrams_free(struct channel *channel);

#endif
