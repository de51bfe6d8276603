/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Failed attempts of items, and dead letters.
 */
#ifndef DURABLE_QUEUE_RETRY_H
#define DURABLE_QUEUE_RETRY_H

#include "durable/actor.h"

/**
 * A turn has failed, and its commit is taken back. Stores a failed attempt of each item that the turn had, in a commit
 * of its own.
 */
void tr__queues_failed(struct worker *worker, struct durable_actor *actor, struct tr_self *self);
/**
 * An earlier process has ended while a turn had this item, of which `attempts` had failed. Adds a failed attempt to the open
 * commit, unless the item is gone or that was stored. TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__queue_item_crashed(struct tr_self *self, struct durable_actor *actor,
                                               uint64_t id, uint32_t attempts);

#endif
