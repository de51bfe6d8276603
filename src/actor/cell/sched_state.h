/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduling state of an actor, and its legal changes: L-08 of docs/contract.md.
 *
 * Only the functions of this header write cell->sched_state after cell_clear. Only the owner calls
 * them. While an actor moves, its owner is first the worker that it leaves, and then the worker
 * that takes it in.
 */
#ifndef ACTOR_CELL_SCHED_STATE_H
#define ACTOR_CELL_SCHED_STATE_H

#include "actor/cell/cell.h"
#include "base/assert.h"

/** Returns the name of a state, such as "Waiting". */
const char *tr__sched_name(enum sched_state state);

/** The legal changes: for each state, a bit for each state that may follow. */
extern const uint8_t tr__sched_legal[SCHED_COUNT];

/** Whether an actor may change from one state to the other. */
static inline bool sched_may_become(enum sched_state from, enum sched_state to)
{
    return from < SCHED_COUNT && to < SCHED_COUNT && tr__sched_legal[from] >> to & 1;
}

/** Changes the scheduling state of an actor. */
static inline void cell_sched_change(struct cell *cell, enum sched_state to)
{
    TR_ASSERT_SLOW(sched_may_become(cell->sched_state, to));
    cell->sched_state = (uint8_t)to;
}

/** As cell_sched_change, but for a caller that knows the present state. */
static inline void cell_sched_change_from(struct cell *cell, enum sched_state from,
                                          enum sched_state to)
{
    TR_ASSERT_SLOW(cell->sched_state == from);
    cell_sched_change(cell, to);
}

#endif
