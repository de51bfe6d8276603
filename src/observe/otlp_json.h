/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes spans as JSON of OTLP, as an ExportTraceServiceRequest of opentelemetry-proto 1.x. Numbers
 * of 64 bits are strings, and ids are hexadecimal.
 */
#ifndef OBSERVE_OTLP_JSON_H
#define OBSERVE_OTLP_JSON_H

#include "observe/json_line.h"

struct follow_export;
struct span;
struct tr_system;

/** Begins a request with spans of a program. */
void tr__otlp_begin(struct json_line *line, const char *app);
void tr__otlp_span(struct json_line *line, const struct tr_system *system,
                   struct follow_export *export, const struct span *span);
void tr__otlp_end(struct json_line *line);

#endif
