/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Plans of alarms after the wall clock was set back.
 */
#ifndef DURABLE_ALARM_MOVE_H
#define DURABLE_ALARM_MOVE_H

#include "calendar/alarm_plan.h"
#include "durable/host.h"

/** Returns the time zone of a plan, or NULL if the plan has none or this machine cannot read the zone. */
const struct zone *tr__alarm_zone(struct durable_host *host, const struct alarm_plan *plan);
/** Returns the offset at which the plan ends in the stored bytes of an alarm, or 0 if the bytes are damaged. */
size_t tr__alarm_plan_end(tr_bytes stored);
/**
 * Moves a plan to another time if the wall clock was set back and the plan depends on the wall clock. Returns whether
 * the plan was moved.
 */
bool tr__alarm_move(struct durable_host *host, struct alarm_plan *plan, tr_time now);
/** Returns what this process knows about the wall clock now. */
struct alarm_clock tr__alarm_clock(const struct durable_host *host);
/**
 * Returns whether the alarm in the stored bytes of a sleeping actor must move because the wall clock was set back. If
 * so its actor must be woken.
 */
bool tr__alarm_is_moved(struct durable_host *host, tr_bytes stored, tr_time now);

#endif
