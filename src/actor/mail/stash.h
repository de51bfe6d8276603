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

/** Sets the message of this turn aside. */
void tr__stash_push(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** Puts up to `max` stashed messages before what waits to be handled. Returns how many. The cell has an extra. */
size_t tr__unstash(struct cell *cell, size_t max);

/** What is left in the stash goes before everything else, to be buried with it. */
void tr__stash_empty(struct cell *cell);

#endif
