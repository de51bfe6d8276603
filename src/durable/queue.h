/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The queues of an awake actor: in the store, and here while it is awake.
 */
#ifndef DURABLE_QUEUE_H
#define DURABLE_QUEUE_H

#include "durable/actor.h"

/** The name of the queue that no application can use: its one item says which ids are used. */
#define QUEUE_IDS "\001"

struct queue_item {
    struct list link; /* of its actor, by id: of all its queues together */
    uint64_t id;
    const struct tr_self *taker; /* the turn that has it, NULL: nobody */
    size_t name_size;            /* of the queue, its NUL counted; and so on */
    size_t type_size;
    size_t bytes_size;
    char name[]; /* then the name of the message, then the message */
};

/** Reads all queues. TR_STORE_CORRUPT, TR_NO_MEMORY, ... */
TR_MUST_CHECK tr_status tr__queues_load(struct worker *worker, struct durable_actor *actor);
void tr__queues_drop(struct worker *worker, struct durable_actor *actor);
/** A turn has ended: what it took and did not finish is for others. */
void tr__queues_return(struct durable_actor *actor, const struct tr_self *self);
/** The actor falls asleep: who waits on a queue goes on with TR_ABORTED. */
void tr__queues_abort(struct durable_actor *actor);
/** The run handler. */
tr_next tr__durable_run(tr_self *self, void *state, const void *message);

#endif
