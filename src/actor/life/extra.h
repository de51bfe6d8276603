/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What only some actors have, and an idle actor does not pay for: a stash, timers, a receive
 * timeout. Made when first needed, freed with the incarnation. Owner only.
 */
#ifndef ACTOR_LIFE_EXTRA_H
#define ACTOR_LIFE_EXTRA_H

#include <stddef.h>

struct cell;
struct envelope;
struct worker;

/** The extra of an actor that has its owner; NULL when out of memory. */
struct cell_extra *tr__extra_of(struct worker *worker, struct cell *cell);

/** Frees it; nothing may be left in the stash. */
void tr__extra_free(struct worker *worker, struct cell *cell);

/** Sets the message of this turn aside. */
void tr__stash_push(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** Puts up to `max` stashed messages before what waits to be handled. Returns how many. The cell has an extra. */
size_t tr__unstash(struct cell *cell, size_t max);

/** What is left in the stash goes before everything else, to be buried with it. */
void tr__stash_empty(struct cell *cell);

#endif
