/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The byte form of an alarm plan, which a store keeps.
 */
#ifndef CALENDAR_ALARM_BYTES_H
#define CALENDAR_ALARM_BYTES_H

#include "calendar/alarm_plan.h"

enum { ALARM_BYTES_MAX = 256 };

/** Writes a plan; gives the size. Equal plans give equal bytes. */
size_t tr__alarm_plan_write(const struct alarm_plan *plan, unsigned char bytes[ALARM_BYTES_MAX]);

/**
 * Reads what was written. TR_BAD_DATA: it is none, or has a value that no plan has; TR_NOT_SUPPORTED:
 * a version of a newer program. Nothing is left over, no number is longer than it needs to be:
 * what can be read is what write makes of it. *plan is written on TR_OK only. Any thread.
 */
TR_MUST_CHECK tr_status tr__alarm_plan_read(const void *bytes, size_t size,
                                            struct alarm_plan *plan);

#endif
