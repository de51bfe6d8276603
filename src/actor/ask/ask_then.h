/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks for which no turn waits: tr_ask_then.
 *
 * Such an ask belongs to the actor and is in its table like any other. From the beginning it has an
 * envelope, its carrier, so that nothing must be allocated when the outcome of the ask is known.
 * Until then, the link of the carrier points to the cell. When the outcome is known, the worker
 * puts the carrier into the mailbox of replies or of exceptions. The turn that handles the carrier
 * calls the function of tr_ask_then. When this turn begins, it gets the ask, and it frees the ask
 * when it ends. All functions: owner only.
 */
#ifndef ACTOR_ASK_ASK_THEN_H
#define ACTOR_ASK_ASK_THEN_H

#include <troupe/ask.h>

struct ask;
struct cell;
struct tr_self;
struct worker;

/** Puts the carrier of an ask whose outcome is known into a mailbox of the actor that asked. */
void tr__then_due(struct worker *worker, struct ask *ask);

/**
 * As tr_try_ask_then, but the actor handles the answer among its other messages, in order of
 * arrival. tr_try_ask_then has the answer handled before them. Only in a turn.
 */
TR_MUST_CHECK tr_status tr__ask_then_in_order(struct tr_self *self, const tr_then *then,
                                              void *context, tr_ref to, const void *message,
                                              tr_time timeout_ns);

/**
 * Ends all asks of tr_ask_then, because the incarnation of their actor ends. Carriers that are
 * queued become VOID.
 */
void tr__thens_drop(struct worker *worker, struct cell *cell);

#endif
