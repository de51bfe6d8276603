/* SPDX-License-Identifier: Apache-2.0 */
/** Moves alarms to other times after the wall clock was set back. */
#ifndef DURABLE_ALARM_MOVE_H
#define DURABLE_ALARM_MOVE_H

#include "calendar/alarm_plan.h"
#include "durable/host.h"

/** Returns the time zone of a plan. Returns NULL if the plan has no zone, or if this machine cannot read the zone. */
const struct zone *tr__alarm_zone(struct durable_host *host, const struct alarm_plan *plan);
/** Returns the offset at which the plan ends in the stored bytes of an alarm, or 0 if the bytes are damaged. */
size_t tr__alarm_plan_end(tr_bytes stored);
/**
 * If the wall clock was set back and a plan depends on the wall clock, moves the plan to another time. Returns whether
 * the plan was moved.
 */
bool tr__alarm_move(struct durable_host *host, struct alarm_plan *plan, tr_time now);
/** Returns what this process knows about the wall clock now. */
struct alarm_clock tr__alarm_clock(const struct durable_host *host);
/**
 * Whether the alarm of a sleeping actor must move because the wall clock was set back. `stored` has the stored bytes of
 * the alarm. If the alarm must move, the caller must wake the actor.
 */
bool tr__alarm_is_moved(struct durable_host *host, tr_bytes stored, tr_time now);

#endif
