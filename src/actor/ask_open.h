/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks between their request and their reply: what every ask goes through, inline.
 *
 * A free ask has all its flags down, no carrier, answer or story, TR_OK as its status, and no timer: an
 * answered one is left so by what follows, and tr__ask_free sees to it for the others. So a new one
 * need not be cleared.
 *
 * The timer of an ask is young at first: in a ring of the worker's, in the order of asking. The next round,
 * or who wants to know when to wake up, gives it to the wheel (tr__asks_settle). Nearly all are answered
 * before.
 *
 * To read a clock takes longer than all of this. So where a watch ticks, and no tick has come since the
 * worker last looked, an ask to an actor of the same worker is made without: it notes when that was, and its
 * time is counted from when its timer gets to the wheel. That is never early, and as late as a round, or as
 * its own turn goes on without waiting: before that nobody could have answered it. What such a request says
 * of its deadline is rough (ASK_ROUGH_NS), and a doubt is resolved by a look at the ask itself.
 *
 * Owner only, all of it.
 */
#ifndef ACTOR_ASK_OPEN_H
#define ACTOR_ASK_OPEN_H

#include "actor/ask_table.h"
#include "actor/extra.h"
#include "actor/park.h"
#include "actor/turn_asks.h"

enum { ASK_SPARE_MAX = 1024 };

static inline void ask_give(struct worker *worker, struct ask *ask)
{
    if (__builtin_expect(worker->ask_spare_count >= ASK_SPARE_MAX, 0)) {
        source_resize(&worker->source, ask, 0);
        return;
    }
    ask->next = worker->ask_spare;
    worker->ask_spare = ask;
    worker->ask_spare_count++;
}

/** Arms the timer of an ask that has none. */
static inline void ask_arm(struct worker *worker, struct ask *ask, tr_time deadline_ns)
{
    struct timer_node *young = &worker->ask_young;
    struct timer_node *last = young->previous;
    ask->is_young = true;
    ask->timeout.deadline_ns = deadline_ns;
    ask->timeout.next = young;
    ask->timeout.previous = last;
    last->next = &ask->timeout;
    young->previous = &ask->timeout;
}

/** Disarms the timer of an ask, if it has one. */
static inline void ask_disarm(struct worker *worker, struct ask *ask)
{
    struct timer_node *node = &ask->timeout;
    if (__builtin_expect(!ask->is_young, 0)) {
        (void)tr__wheel_cancel(&worker->ask_timeouts, node);
        return;
    }
    ask->is_young = false;
    node->next->previous = node->previous;
    node->previous->next = node->next;
    node->next = NULL;
}

static inline void ask_unlist(struct cell *cell, struct ask *ask)
{
    ask->is_listed = false;
    ask_table_remove(&cell->extra->asks, ask);
}

/** An ask of a turn is done: lets that go on if it waited for no other. */
static inline void ask_wake(struct tr_self *turn, bool is_wanted)
{
    if (is_wanted && turn->wanted && !--turn->wanted)
        turn_wake(turn, TR_OK);
}

/** Whether a reply ends this ask and nothing more is to be known of it. */
static inline bool ask_is_plain(const struct ask *ask)
{
    return !ask->is_fixed && !ask->is_look && !ask->carrier;
}

/** The reply to a plain ask is there: it is kept, and the ask itself is not. */
static inline void ask_answer(struct worker *worker, struct cell *cell, struct ask *ask,
                              struct envelope *reply)
{
    struct tr_self *turn = ask->turn;
    bool is_wanted = ask->is_wanted;
    ask_disarm(worker, ask);
    ask_unlist(cell, ask);
    turn_ask_answer(ask, reply);
    ask->is_wanted = false;
    ask->is_ringed = false;
    ask_give(worker, ask);
    ask_wake(turn, is_wanted);
}

#endif
