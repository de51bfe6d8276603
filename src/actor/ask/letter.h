/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Letters: mail of the runtime. Waiting senders and the owners of full mailboxes exchange capacity
 * by letters (actor/ask/waiters.h), and a search for a cycle of waiting actors travels in a letter
 * (actor/ask/ask_cycle.h).
 */
#ifndef ACTOR_ASK_LETTER_H
#define ACTOR_ASK_LETTER_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/message.h>

#include "actor/mail/kind.h"
#include "mem/envelope.h"

struct worker;

/**
 * The message in a WANTED, a GRANT, a BACK and a CYCLE. `number` is the number of the sender's
 * wait. Some kinds give the fields, or `causal` of the envelope, another meaning:
 *   - WANTED of a client: `causal` is the client.
 *   - BACK with the status TR_CANCELLED: the sender has given up.
 *   - CYCLE: `messages` is how many actors the search may still look at, and `status` is the ask of
 *     the turn that searches. `lines` is the ask that led to the receiver of the CYCLE, and
 *     `causal` is the actor that made that ask.
 */
TR_MESSAGE(tr_capacity, (u64, number), (i32, messages), (i32, lines), (i32, status),
           (bool, is_client));

/** Returns the message of a letter. */
static inline struct tr_capacity *capacity_of(struct envelope *envelope)
{
    return envelope_data(envelope);
}

/**
 * Returns an envelope with a tr_capacity; NULL when out of memory. tr__letter_send sets its kind.
 */
struct envelope *tr__letter_new(struct worker *worker, uint64_t number, int32_t messages,
                                int32_t lines);
/** Sends an envelope with a tr_capacity. If its receiver is gone, frees it and returns false. */
bool tr__letter_send(struct worker *worker, struct envelope *envelope, enum envelope_kind kind,
                     uint64_t to, uint64_t from);

#endif
