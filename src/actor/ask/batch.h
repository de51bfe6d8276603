/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Batches: turns with several messages.
 *
 * A turn begins with one message, as any. The function that calls a handler of batches first asks for
 * more (tr_self_batch): what waits behind that message and belongs to it is taken out of the cycle. So
 * handlers without a batch pay nothing. The envelopes are kept in the scratch memory of the turn until it
 * ends; when there is none, the message comes alone. Owner only, all of it.
 */
#ifndef ACTOR_ASK_BATCH_H
#define ACTOR_ASK_BATCH_H

#include <troupe/status.h>

struct cell;
struct tr_self;

struct batch_item {
    struct envelope *envelope;
    tr_status reply_failed; /* as that of a turn */
};

/** A batch of more than one message; the turn's own envelope is the first of them. */
struct batch {
    uint32_t count;
    const void **messages;
    struct batch_item items[];
};

/** Refuses all that have no answer. */
void tr__batch_refuse(struct tr_self *self, int code, const char *text);

/** The message of a batch that is due last: asks of the turn may take as long. */
const struct envelope *tr__batch_latest(const struct tr_self *self);

/** How many messages the turns of an actor that wait have in hand. */
uint32_t tr__batch_in_hand(const struct cell *cell);

#endif
