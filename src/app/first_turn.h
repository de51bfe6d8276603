/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The first turn of an app's root: when that turn ends, the app is ready, unless the app itself says when it is. For
 * the runner.
 *
 * The first turn is that of tr_args; of a root that has no handler for it, that of tr_pre_start; else its set-up, as of a root
 * whose set-up returns tr_become. To notice its end, the root is spawned with a copy of its behavior, in which other
 * functions call the handler and the set-up. There is a copy only if somebody waits for the app to be ready.
 */
#ifndef APP_FIRST_TURN_H
#define APP_FIRST_TURN_H

#include <troupe/behavior.h>

#include "mem/source.h"

struct first_turn {
    struct memory_source source;
    struct root_copy *copy; /* NULL: none */
};

/* The handler of the first turn and the set-up; NULL: none. */
struct first_calls {
    tr_next (*turn)(tr_self *self, void *state, const void *message);
    tr_next (*setup)(tr_self *self, void *state, const void *message);
};

/**
 * Returns the behavior to spawn the root with; NULL: out of memory. It lives until
 * tr__first_turn_free. It calls the functions of `calls` in place of its own functions, which are
 * in `calls` afterwards. If there is no first turn, they are NULL and the behavior is `root`.
 */
const tr_behavior *tr__first_turn_watch(struct first_turn *first, const tr_behavior *root,
                                        struct first_calls *calls);
void tr__first_turn_free(struct first_turn *first);

#endif
