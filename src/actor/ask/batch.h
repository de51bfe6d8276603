/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches: turns with several messages.
 *
 * A turn begins with one message, like any other turn. The function that calls a handler of batches
 * first calls tr_self_batch. tr_self_batch takes the messages that wait behind the first one, and
 * belong to the same batch, out of the cycle. So handlers without a batch pay nothing. The
 * envelopes are kept in the scratch memory of the turn until it ends. If there is no memory, the
 * handler gets the first message alone. All functions: owner only.
 */
#ifndef ACTOR_ASK_BATCH_H
#define ACTOR_ASK_BATCH_H

#include <troupe/status.h>

struct cell;
struct tr_self;

struct batch_item {
    struct envelope *envelope;
    tr_status reply_failed; /* as tr_self.reply_failed, but for this message */
};

/** A batch of more than one message. The first one is in the turn's own envelope. */
struct batch {
    uint32_t count;
    const void **messages;
    struct batch_item items[];
};

/** Refuses all requests of a batch that were not answered. */
void tr__batch_refuse(struct tr_self *self, int code, const char *text);

/**
 * Returns the message of a batch with the latest deadline. The asks of the turn may take until
 * then.
 */
const struct envelope *tr__batch_latest(const struct tr_self *self);

/** Returns how many messages the waiting turns of an actor hold, batches included. */
uint32_t tr__batch_current(const struct cell *cell);

#endif
