/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a turn owns of the module, and what is freed with the turn at the latest.
 *
 * Mostly that is memory with bytes of a channel that the turn still uses, while another turn reads
 * from the channel or after it was handed over. The turn has borrowed the memory of the bytes
 * (net/input.h). Now it owns that memory, until it reads from the channel again or ends. Unread
 * bytes are copied for the channel. A verb that waits adds what it would lose if its turn were
 * abandoned after a trapped fault, such as an open file. Owner only.
 */
#ifndef NET_LENT_H
#define NET_LENT_H

#include "net/channel.h"

struct lent {
    struct lent *next; /* next in the list tr_self.lent */
    uint64_t channel;  /* bits of the channel whose bytes it has; 0: it has no bytes of a channel */
    void (*free)(struct worker *worker, struct lent *lent);
};

/** Adds something to what a turn owns. Taken. */
void tr__lent_add(struct tr_self *self, struct lent *lent);
/** Takes something from its turn, and frees it. */
void tr__lent_end(struct tr_self *self, struct lent *lent);

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
