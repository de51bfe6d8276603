/* SPDX-License-Identifier: Apache-2.0 */
/** Runs the turn of a record again: starts the program that has written it, with --replay. */
#ifndef TOOL_REPLAY_H
#define TOOL_REPLAY_H

#include <stdbool.h>

/** Becomes that program, or gdb with that program. Returns only if it cannot: the exit code. */
int replay_run(const char *path, bool uses_gdb, bool is_json);

#endif
