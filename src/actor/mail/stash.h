/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The stash: messages that an actor has set aside, in its extra. Owner only.
 */
#ifndef ACTOR_MAIL_STASH_H
#define ACTOR_MAIL_STASH_H

#include <stddef.h>

struct cell;
struct envelope;
struct worker;

/**
 * Appends the message of this turn to the stash. The stash must have space for it, and the cell an
 * extra.
 */
void tr__stash_push(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Puts up to `max` stashed messages before the mail that waits to be handled. Returns how many. The
 * cell must have an extra.
 */
size_t tr__unstash(struct cell *cell, size_t max);

/**
 * Puts all stashed messages before all other mail, so that tr__mail_bury makes dead letters of them
 * too.
 */
void tr__stash_empty(struct cell *cell);

#endif
