/* SPDX-License-Identifier: Apache-2.0 */
/** Commands that other programs do: this one only finds and starts them. */
#ifndef TOOL_OTHERS_H
#define TOOL_OTHERS_H

#include <stdbool.h>

struct options;

/** Starts a program with --rehearse, in the place of this one. Returns the exit code if it cannot. */
int rehearse_run(const char *program, const char *directory, bool is_json);
/** Starts troupe-bench, in the place of this one. Returns the exit code if it cannot. */
int bench_run(const struct options *options);

#endif
