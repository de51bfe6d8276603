/* SPDX-License-Identifier: Apache-2.0 */
/** Runs the turn of a record again: --replay FILE. */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include <troupe/durable.h>

/**
 * Runs the turn in a kit, with the state, the message and the reads of the record. Prints how the
 * turn ended. Returns whether it failed again in the same way.
 */
bool tr__replay_run(const char *program, const struct tr_durables *durables, const char *path);

#endif
