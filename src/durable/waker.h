/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Wakes actors for what is in their queues.
 *
 * While the actor is awake its run handler keeps it so, unless that waits for a queue that is empty. Items may be left
 * all the same when it sleeps: pushed in its grace, when the wait of the run handler had been aborted; or the process
 * has ended. So the end of a generation looks whether its run handler has work, and begins the next one; and when a
 * store was opened, an actor of the runtime goes through the keys that have items, a page at a time.
 *
 * Which queues the run handler takes from is known once it has: what others take is no reason to wake.
 */
#ifndef DURABLE_WAKER_H
#define DURABLE_WAKER_H

#include "durable/actor.h"

/** Whether the next generation is to begin for its queues. */
enum run_wanted {
    RUN_NOT_WANTED,
    RUN_WANTED,
    RUN_WANTED_LATER, /* this one has got nothing done: after a backoff */
};

/** The run handler takes from this queue. */
void tr__run_takes(struct durable_actor *actor, const char *queue);
/** Of one that has ended, before what it had is dropped. */
enum run_wanted tr__run_wanted(const struct durable_actor *actor);

/** The store is open: wakes those of its keys that have items, if there are any. */
TR_MUST_CHECK tr_status tr__waker_start(struct durable_host *host);

#endif
