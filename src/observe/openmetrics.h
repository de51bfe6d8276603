/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The figures of a system in the format of OpenMetrics 1.0: the figures of observe/metrics.h, with
 * exemplars. The exemplar of a bucket is the slowest turn in it, with its causal id, by which
 * `troupe trace` and the lines of the log can be searched.
 */
#ifndef OBSERVE_OPENMETRICS_H
#define OBSERVE_OPENMETRICS_H

#include <troupe/self.h>

#include "observe/json_line.h"

#define OPENMETRICS_TYPE "application/openmetrics-text"

/** Appends all figures. Any thread. */
void tr__openmetrics_write(struct json_line *text, tr_system *system);

#endif
