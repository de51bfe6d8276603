/* SPDX-License-Identifier: Apache-2.0 */
/** Follows messages through a program, and prints what became of each as a tree. */
#ifndef TOOL_TRACE_H
#define TOOL_TRACE_H

#include "command.h"

/** Runs `troupe trace PATH|CAUSAL [-f]`. Returns the exit code. */
int trace_run(struct connection *connection, const struct options *options);

#endif
