/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compares two schemas that programs have printed with --schema, and says of each difference what it breaks.
 *
 *     troupe schema diff old.json new.json
 */
#ifndef TOOL_SCHEMA_H
#define TOOL_SCHEMA_H

#include <stdbool.h>

struct json;

/** Prints the differences between two schemas that were read. Returns the exit code, 0 or 1. */
int schema_compare(const struct json *before, const struct json *after, bool is_json);

/** Prints the differences. Returns the exit code: 0 nothing breaks, 1 something does, 2 a file cannot be read. */
int schema_diff(const char *old_path, const char *new_path, bool is_json);

#endif
