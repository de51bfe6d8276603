/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a turn owns in src/net. It is freed when the turn ends, if not before.
 *
 * Mostly that is the memory of a piece. A turn borrows that memory when it takes the piece
 * (net/input.h). If another turn reads from the channel meanwhile, or if the channel is handed
 * over, the first turn becomes the owner of the memory, until it reads from the channel again or
 * ends. The unread bytes in that memory are copied for the channel. A verb that waits adds what
 * would be lost if its turn were abandoned after a trapped fault, such as an open file. Owner only.
 */
#ifndef NET_LENT_H
#define NET_LENT_H

#include "net/channel.h"

struct lent {
    struct lent *next; /* next in the list tr_self.lent */
    uint64_t channel;  /* bits of the channel from which the bytes are; 0: this is something else */
    void (*free)(struct worker *worker, struct lent *lent);
};

/** Adds `lent`, which is taken, to what the turn owns. */
void tr__lent_add(struct tr_self *self, struct lent *lent);
/** Removes `lent` from what its turn owns, and frees it. */
void tr__lent_end(struct tr_self *self, struct lent *lent);

/**
 * If a turn has borrowed the memory of a channel's input, makes that turn the owner of the memory.
 * TR_NO_MEMORY: nothing has changed.
 */
TR_MUST_CHECK tr_status tr__lent_away(struct channel *channel);
/**
 * Frees the memory of this channel's bytes that the turn owns, because the turn reads from the
 * channel again.
 */
void tr__lent_return(struct tr_self *self, const struct channel *channel);
/** Frees everything that the turn owns, because the turn has ended. */
void tr__lent_free(struct tr_self *self);

#endif
