/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the sleep machine says about itself, as text.
 */
#ifndef SLEEP_WHY_H
#define SLEEP_WHY_H

#include "sleep/sleep.h"

/**
 * Writes on one line why the actor is not asleep, or not gone, and who holds it; cut to `size`.
 * With WAKE_LOCKS_TEXT_SIZE nothing is cut. Returns the length in `text`.
 */
size_t tr__sleep_why(const struct sleep_machine *machine, tr_time now, char *text, size_t size);

const char *tr__sleep_state_name(enum sleep_state state);
const char *tr__sleep_step_name(enum sleep_step step);

#endif
