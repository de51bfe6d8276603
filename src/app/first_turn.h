/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The first turn of an app's root: when that turn ends, the app is ready, unless the app itself says when it is. For
 * the runner.
 *
 * The first turn is that of tr_args; of a root that has no handler for it, that of tr_pre_start; else its set-up. To
 * notice its end, the root is spawned with a copy of its behavior, in which another function calls the handler. There is a
 * copy only if somebody waits for the app to be ready.
 */
#ifndef APP_FIRST_TURN_H
#define APP_FIRST_TURN_H

#include <troupe/behavior.h>

#include "mem/source.h"

struct first_turn {
    struct memory_source source;
    tr_behavior behavior; /* the copy */
    tr_handler *handlers; /* those of the copy; NULL: the copy has none */
};

/**
 * Returns the behavior to spawn the root with; NULL: out of memory. It lives until tr__first_turn_free. The function that
 * the copy replaces is in *original, for `instead` to call. If there is no first turn, *original is NULL and the behavior
 * is `root`.
 */
const tr_behavior *tr__first_turn_watch(struct first_turn *first, const tr_behavior *root,
                                        tr_next (*instead)(tr_self *self, void *state,
                                                           const void *message),
                                        tr_next (**original)(tr_self *self, void *state,
                                                             const void *message));
void tr__first_turn_free(struct first_turn *first);

#endif
