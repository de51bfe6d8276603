/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The lifecycle states of an actor, and the legal changes between them.
 */
#ifndef ACTOR_CELL_LIFECYCLE_H
#define ACTOR_CELL_LIFECYCLE_H

#include "actor/cell/cell.h"
#include "base/assert.h"

struct tr_system;

/** Returns the name of a state, such as "Running". */
const char *tr__life_name(enum life life);

/** The twelve legal changes: for each state, a bit for each state that may follow. */
extern const uint8_t tr__life_legal[LIFE_COUNT];

/** Whether an actor may change from one state to the other. */
static inline bool life_may_become(enum life from, enum life to)
{
    return from < LIFE_COUNT && to < LIFE_COUNT && tr__life_legal[from] >> to & 1;
}

/**
 * Changes the lifecycle state of an actor. Only this function and cell_become do so.
 *
 * Returns TR_INVALID_TRANSITION if the change is not legal. Then nothing is changed, a line of the
 * log has the error, and *error names both states and the caller. `error` may be NULL. An illegal
 * change is a bug of the runtime or of code built into it.
 */
TR_MUST_CHECK tr_status tr__cell_change(struct tr_system *system, struct cell *cell, enum life to,
                                        const char *caller, tr_error *error);

/** As tr__cell_change, but for a change that the runtime knows to be legal. */
static inline void cell_become(struct tr_system *system, struct cell *cell, enum life to,
                               const char *caller)
{
    if (__builtin_expect(life_may_become(cell->life, to), 1)) {
        cell->life = (uint8_t)to;
        return;
    }
    tr_status status = tr__cell_change(system, cell, to, caller, NULL); /* logs the error */
    TR_ASSERT(status == TR_OK);
}

#endif
