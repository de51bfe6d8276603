/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes a project: a directory with a program, its tests, and all that builds and ships it.
 *
 *     troupe new shop --durable
 */
#ifndef TOOL_NEW_H
#define TOOL_NEW_H

#include "command.h"

/**
 * Writes the project of the command line into a new directory. Returns the exit code: 0 done, 1 the directory exists or
 * cannot be written, 2 wrong arguments. After an error nothing is left of the project.
 */
int new_run(const struct options *options);

#endif
