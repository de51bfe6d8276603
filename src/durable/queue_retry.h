/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Failed attempts of items, and dead letters.
 */
#ifndef DURABLE_QUEUE_RETRY_H
#define DURABLE_QUEUE_RETRY_H

#include "durable/actor.h"

/**
 * Stores a failed attempt for each item that a failed turn had, in a commit of its own. Call it
 * after the commit of that turn was undone.
 */
void tr__queues_failed(struct worker *worker, struct durable_actor *actor, struct tr_self *self);
/**
 * Adds a failed attempt of an item to the open commit. The reason is that an earlier process has
 * ended while a turn had the item. `attempts` is how many attempts had failed before. Does nothing
 * if the item is gone, or if this attempt was already stored. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__queue_item_crashed(struct tr_self *self, struct durable_actor *actor,
                                               uint64_t id, uint32_t attempts);

#endif
