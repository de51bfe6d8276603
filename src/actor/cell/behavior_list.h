/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All behaviors of a program, for those who look a behavior up by its name.
 */
#ifndef ACTOR_CELL_BEHAVIOR_LIST_H
#define ACTOR_CELL_BEHAVIOR_LIST_H

#include <troupe/behavior.h>

/** An array from `first` to before `end`. All zero: the behaviors are not known. */
struct behavior_list {
    const tr_behavior *const *first;
    const tr_behavior *const *end;
};

#endif
