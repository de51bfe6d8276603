/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Wakes actors that have items in their queues.
 *
 * A run handler keeps its actor awake, unless it waits for an empty queue. Items may still be left
 * when the actor sleeps: they were pushed during the grace, after the wait of the run handler was
 * aborted. Items are also left when the process ends. Therefore the end of a generation begins the
 * next one if its run handler has work. And after a store was opened, an actor of the runtime walks
 * the keys that have items, a page at a time.
 *
 * Which queues the run handler takes from is known after its first take. Items of other queues are
 * no reason to wake.
 */
#ifndef DURABLE_WAKER_H
#define DURABLE_WAKER_H

#include "durable/actor.h"

/** Whether the next generation must begin because of its queues. */
enum run_wanted {
    RUN_NOT_WANTED,
    RUN_WANTED,
    RUN_WANTED_LATER, /* this generation has finished no item: begin after a backoff */
};

/** Notes that the run handler takes items from this queue. */
void tr__run_takes(struct worker *worker, struct durable_actor *actor, const char *queue);
/**
 * Returns whether the next generation of this actor must begin. Call after the end of this one,
 * before tr__durable_drop.
 */
enum run_wanted tr__run_wanted(const struct durable_actor *actor);

/**
 * Starts the actor that wakes the keys with items, if any key has items. The store must be open.
 */
TR_MUST_CHECK tr_status tr__waker_start(struct durable_host *host);

#endif
