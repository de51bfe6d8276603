/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The messages that notify clients how their spawns and probes ended.
 */
#ifndef ACTOR_MAIL_OUTCOME_H
#define ACTOR_MAIL_OUTCOME_H

#include <troupe/message.h>

struct envelope;
struct worker;

/** Notifies a client that a spawn failed. */
TR_MESSAGE(tr_outcome, (u64, ref), (i32, status), (str, text), (str, where));
/** Asks an actor, for a client, whether it is up. The answer travels in the same envelope. */
TR_MESSAGE(tr_probe, (u64, ref), (i32, status));

/** Answers a probe: `is_up` says whether the actor was set up. Takes the envelope. */
void tr__probe_answer(struct worker *worker, struct envelope *envelope, bool is_up);
/** Notifies a client that a spawn failed. If memory is short, the client is not notified. */
void tr__outcome_send(struct worker *worker, uint64_t client, uint64_t ref, const tr_error *error);

#endif
