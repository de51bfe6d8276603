/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The byte form of an alarm plan, in which a store keeps the plan.
 */
#ifndef CALENDAR_ALARM_BYTES_H
#define CALENDAR_ALARM_BYTES_H

#include "calendar/alarm_plan.h"

enum { ALARM_BYTES_MAX = 256 };

/** Writes a plan and returns its size in bytes. Equal plans give equal bytes. */
size_t tr__alarm_plan_write(const struct alarm_plan *plan, unsigned char bytes[ALARM_BYTES_MAX]);

/**
 * Reads a plan. Accepts exactly what tr__alarm_plan_write makes: no byte may be left over, and no
 * number may be longer than needed.
 *
 * Returns TR_BAD_DATA if the bytes are no plan, or have a value that no plan has. Returns
 * TR_NOT_SUPPORTED if a newer program has written the plan. *plan is written on TR_OK only. Any
 * thread.
 */
TR_MUST_CHECK tr_status tr__alarm_plan_read(const void *bytes, size_t size,
                                            struct alarm_plan *plan);

#endif
