/* SPDX-License-Identifier: Apache-2.0 */
/** Writes the figures of a system in the text format of Prometheus. */
#ifndef OBSERVE_METRICS_H
#define OBSERVE_METRICS_H

#include "observe/json_line.h"
#include "observe/visitor.h"

enum { METRICS_SERIES_MAX = 2000 };

/** Appends all figures of the system. Any thread. */
void tr__metrics_write(struct json_line *text, tr_system *system);

void tr__verb_metrics(struct visitor *visitor, const struct control_request *request);

#endif
