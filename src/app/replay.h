/* SPDX-License-Identifier: Apache-2.0 */
/** Runs the turn of a record again: --replay FILE. */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include <troupe/durable.h>

#include "actor/cell/dispatch.h"

/** What a record is run with: the behaviors of the program, and its durable kinds; NULL: there are none. */
struct replay_source {
    const char *program;
    bool is_json;       /* print the result as JSON */
    size_t stack_bytes; /* of the app's turns; 0: TR_STACK_SIZE */
    const struct tr_durables *durables;
    struct behavior_list behaviors;
};

/**
 * Runs the turn in a kit, with the state and the message of the record, and what it had read.
 * Prints how the turn ended. Returns whether it ended again in the same way.
 */
bool tr__replay_run(const struct replay_source *source, const char *path);

#endif
