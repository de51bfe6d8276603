/* SPDX-License-Identifier: Apache-2.0 */
/** The policy for retries of alarms and of items in queues. */
#ifndef DURABLE_RETRY_H
#define DURABLE_RETRY_H

#include <troupe/retry.h>

#include "calendar/alarm_plan.h"

bool tr__retry_is_valid(const tr_retry *retry);
/**
 * Returns the policy `own`, with its zero members filled in. A zero member gets its value from
 * `other`; if it is zero there too, it gets the default. `own` and `other` may be NULL.
 */
struct alarm_retry tr__retry_of(const tr_retry *own, const tr_retry *other);

#endif
