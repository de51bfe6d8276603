/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The stash: messages that an actor has set aside. The stash is in the actor's extra. Owner only.
 */
#ifndef ACTOR_MAIL_STASH_H
#define ACTOR_MAIL_STASH_H

#include <stddef.h>

struct cell;
struct envelope;
struct worker;

/**
 * Appends the message of the current turn to the stash. The stash must have space for this message,
 * and the cell must have an extra.
 */
void tr__stash_push(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Puts up to `max` stashed messages before all other mail of the actor. Returns how many. The cell
 * must have an extra.
 */
size_t tr__unstash(struct cell *cell, size_t max);

/**
 * Puts all stashed messages before all other mail of an actor that ends. So tr__mail_bury makes
 * dead letters of them too.
 */
void tr__stash_empty(struct cell *cell);

#endif
