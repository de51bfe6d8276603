/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The states of an actor's life and the changes between them that are legal.
 */
#ifndef ACTOR_LIFECYCLE_H
#define ACTOR_LIFECYCLE_H

#include "actor/cell.h"

struct tr_system;

/** "Running". */
const char *tr__life_name(enum life life);

/** Whether an actor may go from one state to the other. */
bool tr__life_may_become(enum life from, enum life to);

/**
 * Changes the state of an actor's life; the only place that does.
 *
 * TR_INVALID_TRANSITION: nothing was changed, an error is logged, and *error, unless NULL, names both
 * states and the caller. It is a bug of the runtime or of something built into it.
 */
TR_MUST_CHECK tr_status tr__cell_change(struct tr_system *system, struct cell *cell, enum life to,
                                        const char *caller, tr_error *error);

/** The same where the runtime knows that it is legal. */
void tr__cell_become(struct tr_system *system, struct cell *cell, enum life to, const char *caller);

#endif
