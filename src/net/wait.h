/* SPDX-License-Identifier: Apache-2.0 */
/** Turns that wait for a channel. Owner only. */
#ifndef NET_WAIT_H
#define NET_WAIT_H

#include "net/channel.h"

/**
 * Lets a turn wait in one of the lists of a channel until it is woken. TR_OK, TR_TIMEOUT (the time of
 * tr_channel_within is up), TR_CANCELLED, TR_NOT_IN_A_TURN, TR_NO_MEMORY. The channel may have ended meanwhile; it is
 * not freed while a turn is in the list of readers or writers. `where` is the place in the program, or NULL.
 */
TR_MUST_CHECK tr_status tr__channel_park(struct tr_self *self, struct channel *channel,
                                         struct list *waits, bool is_again, const char *where);

#endif
