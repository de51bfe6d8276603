/* SPDX-License-Identifier: Apache-2.0 */
/** The sleep machine as text for people. */
#ifndef SLEEP_WHY_H
#define SLEEP_WHY_H

#include "sleep/sleep.h"

/**
 * Writes on one line why the actor is not asleep, or not gone, and which wake locks it has. Cuts the text to `size`. A
 * size of WAKE_LOCKS_TEXT_SIZE is always enough. Returns the length of the text.
 */
size_t tr__sleep_why(const struct sleep_machine *machine, tr_time now, char *text, size_t size);

const char *tr__sleep_state_name(enum sleep_state state);
const char *tr__sleep_step_name(enum sleep_step step);

#endif
