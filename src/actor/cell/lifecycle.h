/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The states of an actor's life and the changes between them that are legal.
 */
#ifndef ACTOR_CELL_LIFECYCLE_H
#define ACTOR_CELL_LIFECYCLE_H

#include "actor/cell/cell.h"
#include "base/assert.h"

struct tr_system;

/** "Running". */
const char *tr__life_name(enum life life);

/** The twelve legal changes: of each state, a bit for each that may follow. */
extern const uint8_t tr__life_legal[LIFE_COUNT];

/** Whether an actor may go from one state to the other. */
static inline bool life_may_become(enum life from, enum life to)
{
    return from < LIFE_COUNT && to < LIFE_COUNT && tr__life_legal[from] >> to & 1;
}

/**
 * Changes the state of an actor's life; this and cell_become are the only places that do.
 *
 * TR_INVALID_TRANSITION: nothing was changed, an error is logged, and *error, unless NULL, names both
 * states and the caller. It is a bug of the runtime or of something built into it.
 */
TR_MUST_CHECK tr_status tr__cell_change(struct tr_system *system, struct cell *cell, enum life to,
                                        const char *caller, tr_error *error);

/** The same where the runtime knows that it is legal. */
static inline void cell_become(struct tr_system *system, struct cell *cell, enum life to,
                               const char *caller)
{
    if (__builtin_expect(life_may_become(cell->life, to), 1)) {
        cell->life = (uint8_t)to;
        return;
    }
    tr_status status = tr__cell_change(system, cell, to, caller, NULL); /* says so in the log */
    TR_ASSERT(status == TR_OK);
}

#endif
