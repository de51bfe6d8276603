/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches: turns with several messages.
 *
 * A turn with a batch begins with one message, like any other turn. A handler of batches is called
 * by a function that first calls tr_self_batch. tr_self_batch takes further messages out of the
 * cycle: those right behind the first message that belong to the same batch. So handlers without a
 * batch pay nothing. The scratch memory of the turn keeps the envelopes until the turn ends. When
 * there is no memory, the handler gets the first message alone. All functions: owner only.
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
 * Returns the message of a batch with the latest deadline. This deadline limits the asks of the
 * turn.
 */
const struct envelope *tr__batch_latest(const struct tr_self *self);

/** Returns how many messages the waiting turns of an actor hold, batches included. */
uint32_t tr__batch_current(const struct cell *cell);

#endif
