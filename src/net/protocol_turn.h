/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that a protocol begins for objects of its own, such as the streams of HTTP/2, and not for
 * pieces of the input.
 *
 * A channel with such objects is read outside of turns, as soon as bytes have come
 * (tr_protocol.on_input). So the channel is read even while a turn waits for the other side. The
 * protocol queues a turn for each object that the actor must handle; several such turns may wait at
 * the same time. The envelope of a turn leads to the record of the turn, a struct protocol_turn:
 * `sender` is the address of the record, with TURN_TAG.
 *
 * Rules
 *     1. A record is in the list of its channel from tr__protocol_turn_queue until
 *        tr_protocol.on_turn_done.
 *     2. The actor gets tr_closed when none of the turns of the channel is left.
 *     3. If a channel is freed or its actor ends, turns that have not started never begin. Owner
 *        only.
 */
#ifndef NET_PROTOCOL_TURN_H
#define NET_PROTOCOL_TURN_H

#include "net/channel.h"

/* differs from PIECE_TAG, which is 1 and also marks the sender of an envelope */
enum { TURN_TAG = 2 };

/** The record of a turn. This struct must be the first member of a record of the protocol. */
struct protocol_turn {
    struct list link; /* link in protocol_streams.turns */
    const struct tr_protocol *protocol;
    struct channel *channel; /* the channel of the turn; NULL: the channel is gone */
    /* the event of the turn while it is queued; NULL: not queued, or the turn has begun */
    struct envelope *event;
    bool is_running; /* the turn has begun, and has not ended */
    /* the request that the turn handles, in memory of the turn; NULL: none */
    void *request;
};

/**
 * The turns of a channel whose protocol reads outside of turns. This struct must be the first
 * member of a record of the protocol.
 */
struct protocol_streams {
    struct list turns; /* records of the turns that are queued or have begun */
    uint32_t open;     /* their count */
};

static inline bool protocol_turn_is(const struct envelope *envelope)
{
    return envelope->sender & TURN_TAG;
}

/** Returns the record of an envelope with TURN_TAG. */
static inline struct protocol_turn *protocol_turn_of(const struct envelope *envelope)
{
    return (struct protocol_turn *)(uintptr_t)(envelope->sender & ~(uint64_t)TURN_TAG);
}

/**
 * Queues a turn of the actor of turn->channel. Fails with TR_NO_MEMORY, or with TR_STOPPING if that
 * actor begins no more turns.
 */
TR_MUST_CHECK tr_status tr__protocol_turn_queue(struct protocol_turn *turn);
/** Cancels a turn that has not started. */
void tr__protocol_turn_forget(struct protocol_turn *turn);
/** Cancels all turns of a channel that have not started. */
void tr__protocol_turns_forget(struct channel *channel);
/**
 * Call when the turn of an envelope has ended. Updates the record of the turn, and calls
 * on_turn_done, which may free the record. Takes ownership of the envelope.
 */
void tr__protocol_turn_done(struct worker *worker, struct envelope *envelope);

#endif
