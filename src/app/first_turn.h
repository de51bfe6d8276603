/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The first turn of an app's root. When it ends, the app is ready, unless the app announces itself
 * when it is ready (tr_app.says_ready).
 *
 * The first turn is the turn of tr_args. If the root has no handler for tr_args, it is the turn of
 * tr_pre_start. If the root has no handler for that either, the set-up is the first turn, for
 * example a set-up that returns tr_become. To notice the end of the first turn, the runner spawns
 * the root with a copy of its behavior. In this copy, functions of the runner call the handler and
 * the set-up of the root. The copy is made only if systemd waits for a notification that the app is
 * ready.
 */
#ifndef APP_FIRST_TURN_H
#define APP_FIRST_TURN_H

#include <troupe/behavior.h>

#include "mem/source.h"

struct first_turn {
    struct memory_source source;
    struct root_copy *copy; /* NULL: none */
};

/* The function of the first turn and the function of the set-up; NULL: there is none. */
struct first_calls {
    tr_next (*turn)(tr_self *self, void *state, const void *message);
    tr_next (*setup)(tr_self *self, void *state, const void *message);
};

/**
 * Returns the behavior with which to spawn the root; NULL when out of memory. The behavior lives
 * until tr__first_turn_free. It calls the functions in `calls` in place of those of `root`.
 * Afterwards `calls` has the functions of `root`. If there is no first turn, sets the functions in
 * `calls` to NULL and returns `root` itself.
 */
const tr_behavior *tr__first_turn_watch(struct first_turn *first, const tr_behavior *root,
                                        struct first_calls *calls);
void tr__first_turn_free(struct first_turn *first);

#endif
