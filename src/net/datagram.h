/* SPDX-License-Identifier: Apache-2.0 */
/** Channels of datagram sockets. */
#ifndef NET_DATAGRAM_H
#define NET_DATAGRAM_H

#include "net/channel.h"

/**
 * Fills an event with the next datagram. Returns false if there is none, or no memory for it. Owner
 * only.
 */
bool tr__datagram_put(struct tr_self *self, struct channel *channel, struct envelope *envelope);
/**
 * For the turn of a datagram: returns this datagram and those that have come after it, at most
 * `max`, and sets *count. Returns NULL if no other datagram has come, or if the turn handles no
 * datagram. Owner only.
 */
const void *const *tr__datagrams_batch(struct tr_self *self, size_t max, size_t *count);
/**
 * Call when the turn of a datagram has declined it. Returns the further datagrams that
 * tr__datagrams_batch gave to the turn; they now count as dead letters, and not as handled. Returns
 * NULL if there are none. Owner only.
 */
const void *const *tr__datagrams_declined(struct tr_self *self, size_t *count);
/** Call when the turn of a datagram has ended. Owner only. */
void tr__datagram_done(struct channel *channel);
/** Whether datagrams have come that were not handled. Owner only. */
bool tr__datagrams_has_some(const struct channel *channel);
/** Drops the datagrams that were not handled. Owner only. */
void tr__datagrams_free(struct channel *channel);

#endif
