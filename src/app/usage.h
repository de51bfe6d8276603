/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Prints the texts of --help and --version, in at most 79 columns: first the flags of the program,
 * then those of the runner.
 */
#ifndef APP_USAGE_H
#define APP_USAGE_H

#include <troupe/app.h>

/** Prints all flags to standard output, each with its meaning and an example. */
void tr__usage_say(const char *program, const tr_app *app, bool has_store);
/** Prints the version of the program, if it has one, and the version of the library. */
void tr__version_say(const char *program, const tr_app *app);

#endif
