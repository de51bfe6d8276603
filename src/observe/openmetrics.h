/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes the figures of a system in the format of OpenMetrics 1.0. These are the figures of
 * observe/metrics.h, with exemplars. The exemplar of a bucket is the slowest turn in it, with the
 * causal id of the turn. With this id one can search by `troupe trace` and in the log.
 */
#ifndef OBSERVE_OPENMETRICS_H
#define OBSERVE_OPENMETRICS_H

#include <troupe/self.h>

#include "observe/census.h"
#include "observe/json_line.h"

#define OPENMETRICS_TYPE "application/openmetrics-text"

/** Appends all figures of the system. Reads all actors, which takes 50 ms for a million. Any thread. */
void tr__openmetrics_write(struct json_line *text, tr_system *system);
/** As tr__openmetrics_write, with the result of a census that has ended. */
void tr__openmetrics_of_write(struct json_line *text, const struct census *census);

#endif
