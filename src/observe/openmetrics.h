/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The figures of a system in the format of OpenMetrics 1.0: those of observe/metrics.h, and exemplars. An exemplar is the
 * slowest turn of a handler that belongs into a bucket, with its causal id, for `troupe trace` and the lines of the log.
 */
#ifndef OBSERVE_OPENMETRICS_H
#define OBSERVE_OPENMETRICS_H

#include <troupe/self.h>

#include "observe/json_line.h"

#define OPENMETRICS_TYPE "application/openmetrics-text"

/** Appends all figures. Any thread. */
void tr__openmetrics_write(struct json_line *text, tr_system *system);

#endif
