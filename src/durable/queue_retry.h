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

#endif
