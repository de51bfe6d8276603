/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What only some actors have, so that an idle actor does not pay for it: a stash, timers, asks.
 * Allocated at the first need, given back with the incarnation or by tr__extra_rest. Owner only.
 */
#ifndef ACTOR_CELL_EXTRA_H
#define ACTOR_CELL_EXTRA_H

#include <stdint.h>

struct cell;
struct worker;

/**
 * Returns the extra of an actor, and allocates it if needed; NULL: out of memory. The actor must
 * have an owner.
 */
struct cell_extra *tr__extra_of(struct worker *worker, struct cell *cell);

/**
 * Takes the extra of an actor away if there is nothing in it. For sessions, which wait for a long
 * time: the next ask or wait makes it again. The worker keeps a few of the records. A late reply to
 * an old ask finds no ask, because the numbers continue.
 */
void tr__extra_rest(struct worker *worker, struct cell *cell);

/** Frees the records that the worker has kept. Owner only. */
void tr__extras_free(struct worker *worker);

/**
 * Records for tr_actor_why which actor suspends this one, 0 for a client, and when. Called before
 * tr__mail_order. Owner only.
 */
void tr__extra_note_suspend(struct worker *worker, struct cell *cell, uint64_t who);

#endif
