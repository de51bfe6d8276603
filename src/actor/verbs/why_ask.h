/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The mail by which one worker asks another why an actor does not run.
 */
#ifndef ACTOR_VERBS_WHY_ASK_H
#define ACTOR_VERBS_WHY_ASK_H

#include <stdbool.h>

struct cell;
struct envelope;
struct worker;

/** A WHY has arrived; takes it. Owner only. */
void tr__why_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** Whether a reply that nobody waits for is an answer of this page: no loss. */
bool tr__why_is_told(const struct envelope *envelope);

#endif
