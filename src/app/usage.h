/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What --help and --version print: at most 79 columns, the flags of the program first, then the
 * flags of the runner.
 */
#ifndef APP_USAGE_H
#define APP_USAGE_H

#include <troupe/app.h>

/** Prints all flags, each with what it does and an example, to standard output. */
void tr__usage_say(const char *program, const tr_app *app, bool has_store);
/** Prints the version of the program, if it has one, and the version of the library. */
void tr__version_say(const char *program, const tr_app *app);

#endif
