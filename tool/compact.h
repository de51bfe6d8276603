/* SPDX-License-Identifier: Apache-2.0 */
/** `troupe --store DIR store compact`: makes the store of a program that does not run smaller. */
#ifndef TOOL_COMPACT_H
#define TOOL_COMPACT_H

#include <stdbool.h>

/** Compacts the store and prints its sizes. Returns the exit code. */
int compact_run(const char *directory, bool is_json);

#endif
