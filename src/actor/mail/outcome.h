/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The messages that notify clients how their spawns and probes ended.
 */
#ifndef ACTOR_MAIL_OUTCOME_H
#define ACTOR_MAIL_OUTCOME_H

#include <troupe/message.h>

struct envelope;
struct worker;

/** Notifies a client that one of its spawns failed. */
TR_MESSAGE(tr_outcome, (u64, ref), (i32, status), (str, text), (str, where));
/**
 * Asks an actor whether it is up; a client waits for the answer. The answer travels in the same
 * envelope.
 */
TR_MESSAGE(tr_probe, (u64, ref), (i32, status));

/** Answers a probe. `is_up`: the actor was set up. Takes the envelope. */
void tr__probe_answer(struct worker *worker, struct envelope *envelope, bool is_up);
/** Notifies a client that one of its spawns failed. Without memory, the client is not notified. */
void tr__outcome_send(struct worker *worker, uint64_t client, uint64_t ref, const tr_error *error);

#endif
