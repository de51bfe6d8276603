/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Retry policies of alarms and of items in queues.
 */
#ifndef DURABLE_RETRY_H
#define DURABLE_RETRY_H

#include <troupe/retry.h>

#include "calendar/alarm_plan.h"

bool tr__retry_is_valid(const tr_retry *retry);
/**
 * Returns the policy `own`. A member that is zero in `own` is taken from `other`, and if it is zero
 * there too, from the defaults. Both may be NULL.
 */
struct alarm_retry tr__retry_of(const tr_retry *own, const tr_retry *other);

#endif
