/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The asks of a turn, in the order in which they were made.
 *
 * Most are answered, and of an answered one no more is kept than its reply, until the turn ends: who was
 * asked, and what, is written into the envelope, where it is in nobody's way, and the ask itself is the
 * next one's. A turn that asks often goes through little memory that way. What is not answered, or ended
 * otherwise, is still a struct ask. Owner only.
 */
#ifndef ACTOR_ASK_TURN_ASKS_H
#define ACTOR_ASK_TURN_ASKS_H

#include "actor/ask/ask.h"

enum { TURN_ASK_IS_ANSWERED = 1 }; /* in a place: it is an envelope */

/** Makes capacity for one more. False: no memory. */
bool tr__turn_asks_grow(struct tr_self *self);

/** Adds an ask that has its number. False: no memory. */
static inline bool turn_asks_add(struct tr_self *self, struct ask *ask)
{
    struct turn_asks *asks = &self->asks;
    if (__builtin_expect(asks->count == asks->capacity, 0) && !tr__turn_asks_grow(self))
        return false;
    ask->place = asks->count;
    asks->places[asks->count++] = (uintptr_t)ask;
    return true;
}

/** Frees the places, of a turn without asks. Worker only: the turn need not have an actor any more. */
void tr__turn_asks_free(struct tr_self *self);

/** What is known by this in its turn. */
static inline tr_pending ask_pending(const struct ask *ask)
{
    return (tr_pending){ask->pending};
}

/** Whether a place has a reply, */
static inline bool place_is_answered(uintptr_t place)
{
    return place & TURN_ASK_IS_ANSWERED;
}

/** and which. */
static inline struct envelope *place_answer(uintptr_t place)
{
    return (struct envelope *)(place - TURN_ASK_IS_ANSWERED);
}

/** The next older ask of a turn that was not answered, below the place *at, which becomes its; or NULL. */
static inline struct ask *turn_ask_before(const struct tr_self *turn, uint32_t *at)
{
    while (*at) {
        uintptr_t place = turn->asks.places[--*at];
        if (!place_is_answered(place))
            return (struct ask *)place;
    }
    return NULL;
}

/** The same in a place; NULL when it was answered meanwhile. */
static inline struct ask *turn_ask_at(const struct tr_self *turn, uint32_t at)
{
    uintptr_t place = turn->asks.places[at];
    return place_is_answered(place) ? NULL : (struct ask *)place;
}

/** For each ask of a turn that was not answered, the newest first, which may be answered by the body. */
#define TURN_EACH_ASK(ask, at, turn)                                                               \
    for (uint32_t at = (turn)->asks.count; (ask = turn_ask_before(turn, &at));)

/** Of a reply that is kept: who was asked, and the type of the request. */
static inline uint64_t answer_to(const struct envelope *answer)
{
    return answer->sender;
}

static inline const tr_type *answer_type(const struct envelope *answer)
{
    return (const tr_type *)(uintptr_t)answer->causal;
}

/** Keeps a reply in place of its ask, which is no longer the turn's. */
static inline void turn_ask_answer(const struct ask *ask, struct tr_self *turn,
                                   struct envelope *answer)
{
    answer->sender = ask->to;
    answer->causal = (uint64_t)(uintptr_t)ask->type;
    turn->asks.places[ask->place] = (uintptr_t)answer | TURN_ASK_IS_ANSWERED;
}

#endif
