/* SPDX-License-Identifier: Apache-2.0 */
/** Runs the turn of a record again: --replay FILE. */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include <troupe/durable.h>

#include "actor/cell/behavior_list.h"

/**
 * What the program provides to run a record: its behaviors, and its durable kinds, which are NULL
 * if it has none.
 */
struct replay_source {
    const char *program;
    bool is_json;       /* print the result as JSON */
    size_t stack_bytes; /* the stack size of the app's turns; 0: TR_STACK_SIZE */
    const struct tr_durables *durables;
    struct behavior_list behaviors;
};

/**
 * Runs the turn of a record in a test kit. The record has the state and the message of the turn,
 * and each value that the turn had read, such as the time. The turn gets all of these again. Prints
 * how the turn ended. Returns whether the turn has ended in the same way again.
 */
bool tr__replay_run(const struct replay_source *source, const char *path);

#endif
