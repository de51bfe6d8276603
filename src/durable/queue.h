/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The queues of an awake actor. Their items are in the store, and in durable_actor.queued while the actor is awake.
 */
#ifndef DURABLE_QUEUE_H
#define DURABLE_QUEUE_H

#include "durable/actor.h"

/** The name of a queue that no application can use. Its only item says which ids are reserved. */
#define QUEUE_IDS "\001"

struct queue_item {
    /* link in durable_actor.queued, which has the items of all queues in the order of their ids */
    struct list link;
    uint64_t id;
    const struct tr_self *taker; /* the turn that has taken the item; NULL: none */
    size_t name_size;            /* name of the queue, with its NUL */
    size_t type_size;
    size_t bytes_size;
    char name[]; /* the name of the queue, the name of the message's type, the packed message */
};

/** Reads all queues of an actor. TR_STORE_CORRUPT, TR_NO_MEMORY, ... */
TR_MUST_CHECK tr_status tr__queues_load(struct worker *worker, struct durable_actor *actor);
void tr__queues_drop(struct worker *worker, struct durable_actor *actor);
/** A turn has ended. Makes the items that it took and did not finish available to other turns. */
void tr__queues_return(struct durable_actor *actor, const struct tr_self *self);
/** The actor falls asleep. Ends each wait on a queue with TR_ABORTED. */
void tr__queues_abort(struct durable_actor *actor);
/** Handles tr_durable_runs: calls the run handler of the application. */
tr_next tr__durable_run(tr_self *self, void *state, const void *message);

#endif
