/* SPDX-License-Identifier: Apache-2.0 */
/** The inspector of an app: --inspect. */
#ifndef APP_INSPECTED_H
#define APP_INSPECTED_H

#include <troupe/app.h>

struct control;
struct inspector;

/**
 * Starts the inspector that an app asks for, and writes the address of the inspector to standard
 * error. If the app asks for no inspector, does not change *inspector. On failure returns false,
 * with a sentence on standard error. The app, the control socket and the system must live until
 * tr__inspector_stop.
 */
bool tr__inspected_start(const tr_app *app, const char *program, struct control *control,
                         tr_system *system, struct inspector **inspector);

#endif
