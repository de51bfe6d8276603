/* SPDX-License-Identifier: Apache-2.0 */
/** troupe inspect: serves the page of the inspector, for a program that runs. */
#ifndef TOOL_INSPECT_H
#define TOOL_INSPECT_H

struct options;

/** Serves the page until SIGINT or SIGTERM comes. Returns the exit code. */
int inspect_run(const struct options *options);

#endif
