/* SPDX-License-Identifier: Apache-2.0 */
/** Error texts for an app that cannot start. They say what the user can do. */
#ifndef APP_REFUSAL_H
#define APP_REFUSAL_H

#include <troupe/app.h>

/**
 * Writes to standard error why the system of an app could not be made or started. `app` must have a
 * name.
 */
void tr__refusal_say(const char *program, const tr_app *app, tr_status status);

#endif
