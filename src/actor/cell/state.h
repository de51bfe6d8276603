/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory of an actor's state: in its cell, in a place beside the cell, or in an allocation of
 * its own.
 *
 * Most states are too large for the cell, but not by much. For these there are places beside the
 * cells. The first actor of a chunk with such a state allocates an array with a place for each cell
 * of the chunk. The array stays while the chunk has tenants, and longer: see tr__slots_trim. So the
 * start of nearly every actor needs no allocation, and a state stays where it is when its actor
 * moves to another worker.
 */
#ifndef ACTOR_CELL_STATE_H
#define ACTOR_CELL_STATE_H

#include "actor/cell/worker.h"

/**
 * Returns memory for a new state of `size` bytes, which must be more than 0. Returns NULL if there
 * is no memory. The content is undefined. If `is_apart` is true, makes an allocation of its own for
 * the state. The caller needs this if waiting turns may still use the previous state, which can be
 * in the cell or in a place beside it. Owner only.
 */
void *tr__state_new(struct worker *worker, struct cell *cell, size_t size, bool is_apart);

/** Frees the state of an actor and sets it to NULL. Owner only. */
void tr__state_free(struct worker *worker, struct cell *cell);

/**
 * Returns the state of an actor if it is in an allocation of its own, otherwise NULL. Owner only.
 */
void *tr__state_apart(const struct cell *cell);

#endif
