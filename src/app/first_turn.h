/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The first turn of an app's root: when it ends, the app is ready, unless the app announces that
 * itself. For the runner.
 *
 * The first turn is that of tr_args. If the root has no handler for it, it is that of tr_pre_start;
 * without that, it is the set-up, for example if the set-up returns tr_become. To notice its end,
 * the root is spawned with a copy of its behavior, in which other functions call the handler and
 * the set-up. The copy is made only if somebody waits until the app is ready.
 */
#ifndef APP_FIRST_TURN_H
#define APP_FIRST_TURN_H

#include <troupe/behavior.h>

#include "mem/source.h"

struct first_turn {
    struct memory_source source;
    struct root_copy *copy; /* NULL: none */
};

/* The functions of the first turn and of the set-up; NULL: none. */
struct first_calls {
    tr_next (*turn)(tr_self *self, void *state, const void *message);
    tr_next (*setup)(tr_self *self, void *state, const void *message);
};

/**
 * Returns the behavior to spawn the root with; NULL: out of memory. It lives until
 * tr__first_turn_free. This behavior calls the functions in `calls` instead of those of `root`, and
 * `calls` gets the functions of `root` instead. If there is no first turn, `calls` gets NULL, and
 * the result is `root` itself.
 */
const tr_behavior *tr__first_turn_watch(struct first_turn *first, const tr_behavior *root,
                                        struct first_calls *calls);
void tr__first_turn_free(struct first_turn *first);

#endif
