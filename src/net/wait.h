/* SPDX-License-Identifier: Apache-2.0 */
/** Turns that wait for a channel. Owner only. */
#ifndef NET_WAIT_H
#define NET_WAIT_H

#include "net/channel.h"

/**
 * Lets a turn wait in one of the lists of a channel until it is woken. Returns TR_OK, TR_TIMEOUT
 * (the limit of tr_channel_within is reached), TR_CANCELLED, TR_NOT_IN_A_TURN, TR_NO_MEMORY. The
 * channel may have ended meanwhile. It is not freed while a turn is in one of its lists. `where` is
 * the place of the call in the program, or NULL.
 */
TR_MUST_CHECK tr_status tr__channel_park(struct tr_self *self, struct channel *channel,
                                         struct channel_waits *waits, bool is_again,
                                         const char *where);

/**
 * Lets the other actors that are ready run before a turn reads from a channel. Does nothing in a turn that must not wait here.
 * Requires that no turn waits in the list of readers. Returns TR_CANCELLED if the actor ends,
 * otherwise TR_OK. The channel may have ended meanwhile.
 */
TR_MUST_CHECK tr_status tr__channel_give_way(struct tr_self *self, struct channel *channel);

/**
 * Adds a turn at the end of the list. With `is_first` adds the turn at the beginning, because it
 * has waited before and must wait again. Owner only.
 */
void tr__waits_add(struct channel_waits *waits, struct channel_wait *wait, bool is_first);
/** Removes a turn from the list. Owner only. */
void tr__waits_remove(struct channel_waits *waits, struct channel_wait *wait);
/**
 * tr__waits_wake_one wakes the turn that has waited longest. tr__waits_wake wakes all turns. Owner
 * only.
 */
void tr__waits_wake_one(const struct channel_waits *waits);
void tr__waits_wake(const struct channel_waits *waits);

#endif
