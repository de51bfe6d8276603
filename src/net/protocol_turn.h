/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that a protocol has for things of its own, such as the streams of HTTP/2, instead of for pieces of the input.
 *
 * A channel with such streams is read outside of turns, as soon as something has come
 * (tr_protocol.on_input). So a turn that waits for the other side never keeps the channel from
 * being read. What is to be handled in a turn of the actor is queued here, and several of these
 * turns may wait at once. The record of a turn is known by its envelope: `sender` is its address,
 * with TURN_TAG.
 *
 * Rules
 *     1. A record is in the list of its channel from tr__protocol_turn_queue until tr_protocol.on_turn_done.
 *     2. The end of the channel, tr_closed, comes when none of its turns is left.
 *     3. A channel that is freed, or whose actor ends, forgets the turns that have not begun. They never begin.
 * Owner only.
 */
#ifndef NET_PROTOCOL_TURN_H
#define NET_PROTOCOL_TURN_H

#include "net/channel.h"

enum { TURN_TAG = 2 /* PIECE_TAG is 1, and both tag the sender of an envelope */ };

/** What a protocol has a turn for. It is the first member of a record of that protocol. */
struct protocol_turn {
    struct list link; /* in protocol_streams.turns */
    const struct tr_protocol *protocol;
    struct channel *channel; /* NULL: it is gone */
    /* the event that waits for its turn; NULL: none, or the turn has begun */
    struct envelope *event;
    bool is_running; /* the turn has begun, and has not ended */
    /* the request that the turn handles, in the turn's memory; NULL: none */
    void *request;
};

/** What a channel has whose protocol reads outside of turns. It is the first member of a record of that protocol. */
struct protocol_streams {
    struct list turns; /* of struct protocol_turn: queued or begun */
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

/** Has the actor of turn->channel begin a turn. TR_NO_MEMORY; TR_STOPPING: it begins no more turns. */
TR_MUST_CHECK tr_status tr__protocol_turn_queue(struct protocol_turn *turn);
/** Cancels a turn that has not begun. */
void tr__protocol_turn_forget(struct protocol_turn *turn);
/** Cancels all turns of a channel that have not begun. */
void tr__protocol_turns_forget(struct channel *channel);
/** Ends the record of a turn that has ended. Takes the envelope; `turn` may be freed. */
void tr__protocol_turn_done(struct worker *worker, struct envelope *envelope);

#endif
