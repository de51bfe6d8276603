/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks for which no turn waits: tr_ask_then.
 *
 * Such an ask belongs to the actor and lives in its table like others. It has an envelope from the
 * beginning, its carrier, so that nothing need be allocated when it ends. Until then the carrier's link
 * is the cell; then it goes to the mailbox of replies, or of exceptions, and its turn is that of the
 * function. When that begins the ask becomes one of the turn, and ends with it. Owner only, all of it.
 */
#ifndef ACTOR_ASK_ASK_THEN_H
#define ACTOR_ASK_ASK_THEN_H

struct ask;
struct cell;
struct worker;

/** The ask has ended: its carrier becomes mail. */
void tr__then_due(struct worker *worker, struct ask *ask);

/** The incarnation ends: nobody waits any more, and carriers that are queued are void. */
void tr__thens_drop(struct worker *worker, struct cell *cell);

#endif
