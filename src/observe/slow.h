/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb slow: the slowest turns among those that were timed in the last minute. With "follow":true the
 * next turns of slow handlers are followed, with what they lead to, for a while: a few, so that the cost
 * has a bound (observe/trials.h). "followed" of a turn says that "trace" with its causal id lists it.
 */
#ifndef OBSERVE_SLOW_H
#define OBSERVE_SLOW_H

#include "actor/cell/samples.h"
#include "observe/visitor.h"

/** A turn, and the worker that has timed it. */
struct slow_row {
    struct slow_turn turn;
    uint32_t worker;
};

/** Returns how many turns tr__slow_collect copies at most. */
size_t tr__slow_max(const tr_system *system);
/**
 * Copies the slowest turns that were timed in the last minute, slowest first. Returns their number.
 * Any thread.
 */
size_t tr__slow_collect(tr_system *system, struct slow_row *rows);

void tr__verb_slow(struct visitor *visitor, const struct control_request *request);

#endif
