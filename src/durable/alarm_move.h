/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Plans of alarms after the wall clock was set back.
 */
#ifndef DURABLE_ALARM_MOVE_H
#define DURABLE_ALARM_MOVE_H

#include "calendar/alarm_plan.h"
#include "durable/host.h"

/** The zone of a plan; NULL: it has none, or that cannot be read here. */
const struct zone *tr__alarm_zone(struct durable_host *host, const struct alarm_plan *plan);
/** Where the plan ends in what is stored of an alarm; 0: TR_STORE_CORRUPT. */
size_t tr__alarm_plan_end(tr_bytes stored);
/** Moves a plan if the clock was set back, and it is for another time therefore; whether it did. */
bool tr__alarm_move(struct durable_host *host, struct alarm_plan *plan, tr_time now);
/** What this process knows of the wall clock now. */
struct alarm_clock tr__alarm_clock(const struct durable_host *host);
/**
 * Whether an alarm of a sleeper, as it is stored, is to be moved because the clock was set back: its actor is to
 * look at it.
 */
bool tr__alarm_is_moved(struct durable_host *host, tr_bytes stored, tr_time now);

#endif
