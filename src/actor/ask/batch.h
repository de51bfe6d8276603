/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches: turns with several messages.
 *
 * A turn begins with one message, like any other turn. The function that calls a handler of batches
 * first calls tr_self_batch. This takes the messages that wait behind the first one and belong to
 * it out of the cycle. So handlers without a batch pay nothing. The envelopes are kept in the
 * scratch memory of the turn until it ends. If there is no memory, the message comes alone. All
 * functions: owner only.
 */
#ifndef ACTOR_ASK_BATCH_H
#define ACTOR_ASK_BATCH_H

#include <troupe/status.h>

struct cell;
struct tr_self;

struct batch_item {
    struct envelope *envelope;
    tr_status reply_failed; /* what tr_self.reply_failed is for a turn, but for this message */
};

/** A batch of more than one message; the turn's own envelope is the first of them. */
struct batch {
    uint32_t count;
    const void **messages;
    struct batch_item items[];
};

/** Refuses all messages of a batch that have no answer. */
void tr__batch_refuse(struct tr_self *self, int code, const char *text);

/** Returns the message of a batch with the latest deadline: asks of the turn may take as long. */
const struct envelope *tr__batch_latest(const struct tr_self *self);

/** Returns how many messages the waiting turns of an actor hold. */
uint32_t tr__batch_in_hand(const struct cell *cell);

#endif
