/* SPDX-License-Identifier: Apache-2.0 */
/** Writes the figures of a system in the text format of Prometheus. */
#ifndef OBSERVE_METRICS_H
#define OBSERVE_METRICS_H

#include "observe/census.h"
#include "observe/json_line.h"
#include "observe/visitor.h"

enum { METRICS_SERIES_MAX = 2000 };

/** Appends all figures of the system. Reads all actors, which takes 50 ms for a million. Any thread. */
void tr__metrics_write(struct json_line *text, tr_system *system);
/** As tr__metrics_write, with the result of a census that has ended. */
void tr__metrics_of_write(struct json_line *text, const struct census *census);

void tr__verb_metrics(struct visitor *visitor, const struct control_request *request);

#endif
