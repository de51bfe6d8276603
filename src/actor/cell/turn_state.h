/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The legal changes of the state of a turn. Only turn_change writes self->state, on the worker that
 * has the turn.
 */
#ifndef ACTOR_CELL_TURN_STATE_H
#define ACTOR_CELL_TURN_STATE_H

#include "actor/cell/worker.h"
#include "base/assert.h"

/** Whether a turn may change from one state to the other. */
static inline bool turn_may_become(enum turn_state from, enum turn_state to)
{
    switch (from) {
    case TURN_RUNS:
        return to != TURN_WOKEN; /* only a turn that waits is woken */
    /*
     * The usual next state is TURN_WOKEN. If the turn was cancelled or could not wait, the next
     * state is TURN_RUNS. If the turn was abandoned after a fault, the next state is TURN_ENDED.
     */
    case TURN_PARKED:
        return to == TURN_WOKEN || to == TURN_RUNS || to == TURN_ENDED;
    case TURN_WOKEN:
        return to == TURN_RUNS || to == TURN_ENDED;
    /* the next state is TURN_RUNS when another turn uses the same record */
    case TURN_ENDED:
        return to == TURN_ENDED || to == TURN_RUNS;
    case TURN_STUCK:
        return to == TURN_RUNS;
    }
    return false;
}

/** Changes the state of a turn. */
static inline void turn_change(struct tr_self *self, enum turn_state to)
{
    TR_ASSERT_SLOW(turn_may_become((enum turn_state)self->state, to));
    self->state = (uint8_t)to;
}

#endif
