/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks for which no turn waits: tr_ask_then.
 *
 * Such an ask belongs to the actor and is in its table like any other. From the beginning it has an
 * envelope, its carrier, so that nothing need be allocated when the ask ends. Until then the link
 * of the carrier points to the cell. When the ask ends, the carrier goes to the mailbox of replies
 * or of exceptions. The turn of the carrier calls the function of tr_ask_then. When that turn
 * begins, the ask becomes one of its asks, and ends with it. Owner only, all of it.
 */
#ifndef ACTOR_ASK_ASK_THEN_H
#define ACTOR_ASK_ASK_THEN_H

struct ask;
struct cell;
struct worker;

/** Puts the carrier of an ask that has ended into a mailbox of its actor. */
void tr__then_due(struct worker *worker, struct ask *ask);

/**
 * Ends all asks of tr_ask_then of an incarnation that ends. Carriers that are queued become VOID.
 */
void tr__thens_drop(struct worker *worker, struct cell *cell);

#endif
