/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Wakes actors that have items in their queues.
 *
 * A run handler keeps its actor awake, unless it waits on an empty queue. Nevertheless items may be
 * left when the actor falls asleep. These were pushed during the grace, after the wait of the run
 * handler was aborted. Items are also left when the process ends. Therefore, when a generation ends
 * and its run handler has work, the next generation begins at once. And after a store was opened,
 * an actor of the runtime walks over the keys that have items, a page at a time.
 *
 * After the run handler has taken an item for the first time, it is known from which queues it
 * takes. Items of other queues are then no reason to wake.
 */
#ifndef DURABLE_WAKER_H
#define DURABLE_WAKER_H

#include "durable/actor.h"

/** Whether the next generation must begin because of its queues. */
enum run_wanted {
    RUN_NOT_WANTED,
    RUN_WANTED,
    /* this generation has finished no item, so the next generation begins after a backoff */
    RUN_WANTED_LATER,
};

/** Notes that the run handler takes items from this queue. */
void tr__run_takes(struct worker *worker, struct durable_actor *actor, const char *queue);
/**
 * Returns whether the next generation of this actor must begin. Call after this generation has
 * ended, and before tr__durable_drop.
 */
enum run_wanted tr__run_wanted(const struct durable_actor *actor);

/** If any key has items, starts the actor that wakes such keys. The store must be open. */
TR_MUST_CHECK tr_status tr__waker_start(struct durable_host *host);

#endif
