/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Items that wait for their time, and the alarm that wakes their actor when that time comes.
 *
 * While the actor is awake, a turn that waits on a queue waits until the time of the first such
 * item. If the actor has a run handler, the store has one alarm in addition to the alarms of the
 * application. That alarm is due at the time of the first such item, and wakes the actor if it
 * sleeps. The clock of the host (durable/clock.c) finds this alarm like any other alarm, even if an
 * earlier process has set it. A commit that changes this time also stores the alarm.
 *
 * When the time of an item has come and the run handler will take the item, the alarm stays due
 * until the item is done. Without this, nothing would begin the next generation if the process
 * ended before the item is done.
 */
#ifndef DURABLE_QUEUE_ALARM_H
#define DURABLE_QUEUE_ALARM_H

#include "durable/actor.h"

/**
 * The name of the alarm for queues. The name of an application's alarm never begins with the byte
 * 1.
 */
#define QUEUE_ALARM "\001queue"

/** Moves the items whose time has come to queue.ready. Returns whether it has moved any. */
bool tr__queues_pass(struct durable_actor *actor, tr_time wall_ns);
/**
 * If the stored alarm is outdated, puts the alarm into the batch of the open commit. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__queue_alarm_update(struct durable_actor *actor);
/** Whether the stored alarm is outdated. */
bool tr__queue_alarm_is_old(const struct durable_actor *actor, tr_time wall_ns);
/** Handles tr_durable_due for the alarm QUEUE_ALARM. */
tr_next tr__queue_alarm_due(tr_self *self, struct durable_actor *actor, bool may_fire);
/** Whether the run handler takes from a queue, or may do so later. */
bool tr__queue_is_run(const struct durable_actor *actor, const struct queue *queue);
/**
 * Returns the name of a queue that has an item for the run handler. Returns NULL if there is none.
 * Such an item keeps the actor awake.
 */
const char *tr__queue_pending(const struct durable_actor *actor);

#endif
