/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The queues of an awake actor. Their items are in the store (durable/item_row.h), and in
 * durable_actor.queues while the actor is awake (durable/items.h).
 *
 *     queue.c          loads, pushes, takes and removes items; the run handler
 *     queue_alarm.c    items that wait for their time, and the alarm that wakes their actor
 *     queue_retry.c    failed attempts and dead letters
 *     queue_list.c     what a handler can read about its queues
 */
#ifndef DURABLE_QUEUE_H
#define DURABLE_QUEUE_H

#include "durable/actor.h"
#include "durable/items.h"

/**
 * Reads all queues of an actor. Fails with TR_STORE_CORRUPT, TR_NO_MEMORY or another status of the
 * store.
 */
TR_MUST_CHECK tr_status tr__queues_load(tr_self *self, struct durable_actor *actor);
void tr__queues_drop(struct worker *worker, struct durable_actor *actor);
/**
 * If a turn has taken items and has not finished them, gives these items back to their queues. Call
 * it when the turn has ended.
 */
void tr__queues_return(struct durable_actor *actor, const struct tr_self *self);
/**
 * Ends all waits of the actor's turns on queues and in tr_abort_wait, with TR_ABORTED. Call it when
 * the actor falls asleep.
 */
void tr__queues_abort(struct durable_actor *actor);
/** Wakes the turns that wait on a queue, so that they check the queue again. */
void tr__queues_wake(struct durable_actor *actor);
/**
 * Makes the changes of the open commit final, and frees the removed items. Call it when the commit
 * has ended and will be stored.
 */
void tr__queues_committed(struct worker *worker, struct durable_actor *actor);
/** Handles tr_durable_runs: calls the run handler of the application. */
tr_next tr__durable_run(tr_self *self, void *state, const void *message);

/* ---- For the other files of queues. ---- */

/**
 * Notes the stored form of an item. Call it before the open commit changes the item for the first
 * time.
 */
void tr__queue_note(struct durable_actor *actor, struct queue_item *item);
/** Removes an item, as a change of the open commit. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__queue_remove(struct durable_actor *actor, struct queue_item *item);
/**
 * Copies the message of an item into memory of the turn. Fails with TR_WRONG_TYPE, TR_NO_MEMORY or
 * another status of tr_unpack.
 */
TR_MUST_CHECK tr_status tr__queue_copy(tr_self *self, struct queue_item *item, const tr_type *type,
                                       const void **message);
/** Returns the first item that a turn may take now. Returns NULL if there is none. */
struct queue_item *tr__queue_first(tr_self *self, struct durable_actor *actor, const char *queue);

#endif
