/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where the state of an actor is: in its cell, beside it, or in memory of its own.
 *
 * Most states are larger than the cell has capacity for, and not by much. Those have places that go with
 * the slots: the first actor of a chunk with such a state makes an array with a place for each of its
 * cells, which stays as long as they do. So neither the start nor the end of an actor asks for memory,
 * and a state stays where it is when its actor moves to another worker.
 */
#ifndef ACTOR_CELL_STATE_H
#define ACTOR_CELL_STATE_H

#include "actor/cell/worker.h"

/**
 * Memory for a new state of `size` bytes, more than 0, of any content; NULL when out of memory. With
 * `is_apart` it is memory of its own: turns that wait may still use the places of the cell. Owner only.
 */
void *tr__state_new(struct worker *worker, struct cell *cell, size_t size, bool is_apart);

/** Frees the state of an actor; afterwards it has none. Owner only. */
void tr__state_free(struct worker *worker, struct cell *cell);

/** The state of an actor if it is memory of its own, else NULL. Owner only. */
void *tr__state_apart(const struct cell *cell);

#endif
