/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What clients are told of the actors that they have spawned.
 */
#ifndef ACTOR_MAIL_OUTCOME_H
#define ACTOR_MAIL_OUTCOME_H

#include <troupe/message.h>

struct envelope;
struct worker;

/** What a client is told of a spawn that failed. */
TR_MESSAGE(tr_outcome, (u64, ref), (i32, status), (str, text), (str, where));
/** What a client asks an actor: are you up? The answer travels in the same envelope. */
TR_MESSAGE(tr_probe, (u64, ref), (i32, status));

/** Answers a probe: whether the actor was set up. Takes the envelope. */
void tr__probe_answer(struct worker *worker, struct envelope *envelope, bool is_up);
/** Tells a client that a spawn failed. */
void tr__outcome_send(struct worker *worker, uint64_t client, uint64_t ref, const tr_error *error);

#endif
