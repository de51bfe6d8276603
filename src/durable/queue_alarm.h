/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Items that wait for their time, and what wakes their actor then.
 *
 * While the actor is awake, a turn that waits on a queue waits until the first of these times. For
 * an actor that sleeps, and has a run handler, the store has one alarm in addition to the alarms of
 * the application. That alarm is due at the first of these times. The clock of the host
 * (durable/clock.c) finds it like any other alarm, even if another process has set it. A commit
 * that changes this time stores the alarm too.
 *
 * If the time of an item has come and the run handler will take it, the alarm stays due until the
 * item is done. Otherwise, if the process ended before that, nothing would begin the next
 * generation.
 */
#ifndef DURABLE_QUEUE_ALARM_H
#define DURABLE_QUEUE_ALARM_H

#include "durable/actor.h"

/**
 * The name of the alarm for queues. No alarm of an application has a name that begins with the byte
 * 1.
 */
#define QUEUE_ALARM "\001queue"

/** Moves the items whose time has come to queue.ready. Returns whether there were such items. */
bool tr__queues_pass(struct durable_actor *actor, tr_time wall_ns);
/**
 * Puts the alarm into the batch of the open commit, if the stored one is outdated. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__queue_alarm_update(struct durable_actor *actor);
/** Whether the stored alarm is outdated. */
bool tr__queue_alarm_is_old(const struct durable_actor *actor, tr_time wall_ns);
/** Handles tr_durable_due for the alarm QUEUE_ALARM. */
tr_next tr__queue_alarm_due(tr_self *self, struct durable_actor *actor, bool may_fire);
/** Returns whether the run handler takes from a queue, or may do so later. */
bool tr__queue_is_run(const struct durable_actor *actor, const struct queue *queue);
/**
 * Returns the name of a queue with an item that the run handler may take, or NULL. Such an item
 * keeps the actor awake.
 */
const char *tr__queue_pending(const struct durable_actor *actor);

#endif
