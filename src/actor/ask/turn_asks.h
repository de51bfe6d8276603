/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The asks of a turn, in the order in which they were made.
 *
 * Most asks are answered. When an ask is answered, its struct ask becomes free for the next ask, and
 * the turn keeps only the reply until the turn ends. Fields of the reply's envelope that are no
 * longer needed hold the receiver and the type of the request. So a turn that asks often uses
 * little memory. An ask that is open, or that ended without a reply, keeps its struct ask. Owner
 * only.
 */
#ifndef ACTOR_ASK_TURN_ASKS_H
#define ACTOR_ASK_TURN_ASKS_H

#include <troupe/message.h>

#include "actor/cell/ask_table.h"
#include "actor/cell/worker.h"
#include "mem/envelope.h"
#include "base/assert.h"

struct ask;
struct tr_self;

/* a bit of a place: set if the place has the envelope of a reply, and not an ask */
enum { TURN_ASK_IS_ANSWERED = 1 };

/** Makes space for more asks of a turn. Returns false when out of memory. */
bool tr__turn_asks_grow(struct tr_self *self);

/**
 * Adds an ask to its turn, which frees the ask when it ends. The ask must have its number already.
 * Returns false when out of memory.
 */
static inline bool turn_asks_add(struct tr_self *self, struct ask *ask)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct turn_asks *asks = &self->asks;
    if (__builtin_expect(asks->count == asks->capacity, 0) && !tr__turn_asks_grow(self))
        return false;
    ask->place = asks->count;
    asks->places[asks->count++] = (uintptr_t)ask;
    turn_require_slow_end(self);
    return true;
}

/** Returns the tr_pending that the turn has for an ask. */
static inline tr_pending ask_pending(const struct ask *ask)
{
    return (tr_pending){ask->pending};
}

/** Whether a place has the reply of an answered ask. */
static inline bool place_is_answered(uintptr_t place)
{
    return place & TURN_ASK_IS_ANSWERED;
}

/** Returns the reply in a place. place_is_answered must be true. */
static inline struct envelope *place_answer(uintptr_t place)
{
    return (struct envelope *)(place - TURN_ASK_IS_ANSWERED);
}

/**
 * Searches the asks of a turn below the place *at, and returns the newest of them that was not
 * answered. Sets *at to the place of this ask. Returns NULL if there is no such ask.
 */
static inline struct ask *turn_ask_before(const struct tr_self *turn, uint32_t *at)
{
    TR_ASSERT_SLOW(turn_is_mine(turn));
    while (*at) {
        uintptr_t place = turn->asks.places[--*at];
        if (!place_is_answered(place))
            return (struct ask *)place;
    }
    return NULL;
}

/** Returns the ask in a place of a turn; NULL when it was answered meanwhile. */
static inline struct ask *turn_ask_at(const struct tr_self *turn, uint32_t at)
{
    TR_ASSERT_SLOW(turn_is_mine(turn));
    uintptr_t place = turn->asks.places[at];
    return place_is_answered(place) ? NULL : (struct ask *)place;
}

/**
 * Loops over the asks of a turn that were not answered, the newest first. The body may answer the
 * ask.
 */
#define TURN_EACH_ASK(ask, at, turn)                                                               \
    for (uint32_t at = (turn)->asks.count; (ask = turn_ask_before(turn, &at));)

/** Returns the actor that was asked. `answer` is a reply that a turn keeps. */
static inline uint64_t answer_to(const struct envelope *answer)
{
    return answer->sender;
}

/** Returns the type of the request. `answer` is a reply that a turn keeps. */
static inline const tr_type *answer_type(const struct envelope *answer)
{
    return (const tr_type *)(uintptr_t)answer->causal;
}

/** Puts a reply in the place of its ask. Then the ask no longer belongs to the turn. */
static inline void turn_ask_answer(const struct ask *ask, struct tr_self *turn,
                                   struct envelope *answer)
{
    TR_ASSERT_SLOW(turn_is_mine(turn));
    answer->sender = ask->to;
    answer->causal = (uint64_t)(uintptr_t)ask->type;
    turn->asks.places[ask->place] = (uintptr_t)answer | TURN_ASK_IS_ANSWERED;
}

#endif
