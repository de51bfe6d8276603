/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The extra of an actor: what only some actors have, such as a stash, timers and asks, so that
 * other actors do not pay for it. Allocated when it is first needed. Freed with the incarnation, or
 * earlier by tr__extra_rest. Owner only.
 */
#ifndef ACTOR_CELL_EXTRA_H
#define ACTOR_CELL_EXTRA_H

#include <stdint.h>

struct cell;
struct worker;

/**
 * Returns the extra of an actor, and makes it if there is none. Returns NULL if there is no memory.
 * The actor must have an owner.
 */
struct cell_extra *tr__extra_of(struct worker *worker, struct cell *cell);

/**
 * Removes the extra of an actor if there is nothing in it. This is for sessions, which are idle for
 * a long time; the next ask or wait makes a new extra. The worker keeps the memory of a few extras.
 * The numbers of asks continue in a new extra, so a late reply to an old ask finds no ask.
 */
void tr__extra_rest(struct worker *worker, struct cell *cell);

/** Frees the memory of extras that the worker keeps. Owner only. */
void tr__extras_free(struct worker *worker);

/**
 * Records which actor suspends this one (0 for a client), and when, for tr_actor_why. Called before
 * tr__mail_order. Owner only.
 */
void tr__extra_note_suspend(struct worker *worker, struct cell *cell, uint64_t who);

#endif
