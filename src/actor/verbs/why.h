/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why an actor does not proceed: the two sides of tr_actor_why.
 *
 * actor/verbs/why.c examines an actor, on the actor's worker. actor/verbs/why_ask.c asks for the
 * report. If the asker is on another thread, the question is an ENVELOPE_WHY that is pushed to the
 * actor's door. The worker takes the question in like an order: the question takes no capacity and
 * waits for no turn. The answer is an ordinary reply to an ask of the turn or of the client that
 * called tr_actor_why. Only three members exist for these reports alone: two of cell_extra (which
 * actor has suspended this one, and when) and one of a turn (since when the turn waits).
 */
#ifndef ACTOR_VERBS_WHY_H
#define ACTOR_VERBS_WHY_H

#include <troupe/why.h>

struct cell;
struct envelope;
struct worker;

/**
 * Which report an asker wants: the reasons of tr_actor_why, the data of tr_actor_show
 * (actor/verbs/show.h), the messages that wait (actor/verbs/show_mail.h), the waits of the actor
 * (actor/verbs/show_waits.h), or how many messages of each type wait (actor/verbs/show_types.h).
 */
enum { LOOK_WHY, LOOK_SHOW, LOOK_MAIL, LOOK_WAITS, LOOK_TYPES };

/**
 * The question about the actor with this ref. The answer is a tr_why_told. See actor/ask/answer.h.
 */
TR_MESSAGE(tr_why_look, (u64, ref), (u32, what));
/** Makes `report` an empty report of this actor. */
void tr__why_begin(tr_why_report *report, uint64_t ref, tr_time now_ns);

/**
 * Adds a reason with this text. Returns NULL if the report has TR_REASONS_MAX reasons already.
 * age_ns -1: the age is not known.
 */
tr_reason *tr__why_add(tr_why_report *report, tr_why_kind kind, uint32_t holds, tr_time age_ns,
                       const char *format, ...) TR_PRINTF(5, 6);

/**
 * Returns how many envelopes a ring has. `last` is the last envelope of the ring, or NULL if the
 * ring is empty. Owner only.
 */
uint32_t tr__why_ring_count(const struct envelope *last);

/** Makes the report of an actor, which must not be Stopped. Owner only. */
void tr__why_see(struct worker *worker, struct cell *cell, tr_why_report *report);

#endif
