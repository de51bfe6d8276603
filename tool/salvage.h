/* SPDX-License-Identifier: Apache-2.0 */
/** `troupe --store DIR store salvage INTO`: saves what is intact of a damaged store. */
#ifndef TOOL_SALVAGE_H
#define TOOL_SALVAGE_H

#include <stdbool.h>

/** Copies what is intact into a new store, names what is lost, and prints how much. `directory` NULL: there was no --store. Returns the exit code. */
int salvage_run(const char *directory, const char *into, bool is_json);

#endif
