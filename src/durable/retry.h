/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Retry policies of alarms and of items in queues.
 */
#ifndef DURABLE_RETRY_H
#define DURABLE_RETRY_H

#include <troupe/retry.h>

#include "calendar/alarm_plan.h"

bool tr__retry_is_valid(const tr_retry *retry);
/** Returns the policy of `own`. For members of zero it has those of `other`, then the defaults. Both may be NULL. */
struct alarm_retry tr__retry_of(const tr_retry *own, const tr_retry *other);

#endif
