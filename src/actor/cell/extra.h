/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What only some actors have, and an idle actor does not pay for: a stash, timers, a receive
 * timeout. Made when first needed, freed with the incarnation. Owner only.
 */
#ifndef ACTOR_CELL_EXTRA_H
#define ACTOR_CELL_EXTRA_H

#include <stdint.h>

struct cell;
struct worker;

/** The extra of an actor that has its owner; NULL when out of memory. */
struct cell_extra *tr__extra_of(struct worker *worker, struct cell *cell);

/** Notes for tr_actor_why who suspends an actor, 0 for a client, and when. Call it before tr__mail_order. Owner only. */
void tr__extra_note_suspend(struct worker *worker, struct cell *cell, uint64_t who);

#endif
