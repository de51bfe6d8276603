/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why an actor does not do what one waits for: the two sides of tr_actor_why.
 *
 * actor/verbs/why.c looks at an actor, on its worker; actor/verbs/why_ask.c asks. Where those are different threads
 * the question is a WHY behind the actor's door, which is taken in like an order: it takes no capacity and
 * waits for no turn. The answer is an ordinary reply to an ask of the turn, or of the client, that wants
 * to know. Nothing is kept for the sake of this but two members of cell_extra (who has suspended the
 * actor, and when) and one of a turn (since when it waits).
 */
#ifndef ACTOR_VERBS_WHY_H
#define ACTOR_VERBS_WHY_H

#include <troupe/why.h>

#include "actor/ask/ask.h"

/** The question. */
TR_MESSAGE(tr_why_look, (u64, ref));
/** The answer: a tr_why_report as it is in memory, cut behind its last reason. */
TR_MESSAGE(tr_why_told, (bytes, report));

/** An empty report. */
void tr__why_begin(tr_why_report *report, uint64_t ref, tr_time now_ns);

/** Adds a reason with these words; NULL when there is no capacity for it. age_ns -1: not known. */
tr_reason *tr__why_add(tr_why_report *report, tr_why_kind kind, uint32_t holds, tr_time age_ns,
                       const char *format, ...) TR_PRINTF(5, 6);

/** Looks at an actor that is not Stopped. Its owner only. */
void tr__why_see(struct worker *worker, struct cell *cell, tr_why_report *report);

/** Whether a reply that nobody waits for is an answer of this page: no loss. */
bool tr__why_is_told(const struct envelope *envelope);

/** Somebody suspends an actor; before tr__mail_order. Owner only. */
void tr__why_suspends(struct worker *worker, struct cell *cell, uint64_t who);

#endif
