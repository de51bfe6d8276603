/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb slow. It lists the slowest turns among those that were timed in the last minute. With "follow":true, the
 * next turns of slow handlers are followed for a while, and so are the turns that they lead to. Only a few are
 * followed, so that the cost has a bound (observe/trials.h). If "followed" of a turn is true, the verb "trace" lists
 * the turn by its causal id, for at least 10 s from now on (observe/slow_trees.h).
 */
#ifndef OBSERVE_SLOW_H
#define OBSERVE_SLOW_H

#include "actor/cell/samples.h"
#include "observe/visitor.h"

/** A slow turn, and the worker that has timed it. */
struct slow_row {
    struct slow_turn turn;
    uint32_t worker;
};

/** Returns the most turns that tr__slow_collect copies. */
size_t tr__slow_max(const tr_system *system);
/**
 * Copies the slowest turns that were timed in the last minute, the slowest first. Returns how many.
 * Any thread.
 */
size_t tr__slow_collect(tr_system *system, struct slow_row *rows);

void tr__verb_slow(struct visitor *visitor, const struct control_request *request);

#endif
