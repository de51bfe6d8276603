/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where an actor stands with the scheduler, and the changes of that which are legal: L-08 of docs/contract.md.
 *
 * The functions here are the only places that write cell->sched_state after cell_clear. Owner only; of an
 * actor that moves, the worker that gives it and then the one that takes it.
 */
#ifndef ACTOR_CELL_SCHED_STATE_H
#define ACTOR_CELL_SCHED_STATE_H

#include "actor/cell/cell.h"
#include "base/assert.h"

/** "Waiting". */
const char *tr__sched_name(enum sched_state state);

/** The legal changes: of each state, a bit for each that may follow. */
extern const uint8_t tr__sched_legal[SCHED_COUNT];

/** Whether an actor may go from one state to the other. */
static inline bool sched_may_become(enum sched_state from, enum sched_state to)
{
    return from < SCHED_COUNT && to < SCHED_COUNT && tr__sched_legal[from] >> to & 1;
}

/** Changes the scheduling state, from whatever it is. */
static inline void cell_sched_change(struct cell *cell, enum sched_state to)
{
    TR_ASSERT_SLOW(sched_may_become(cell->sched_state, to));
    cell->sched_state = (uint8_t)to;
}

/** As cell_sched_change, where the caller knows the state before. */
static inline void cell_sched_change_from(struct cell *cell, enum sched_state from,
                                          enum sched_state to)
{
    TR_ASSERT_SLOW(cell->sched_state == from);
    cell_sched_change(cell, to);
}

#endif
