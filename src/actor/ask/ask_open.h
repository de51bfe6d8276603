/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks between their request and their reply: what every ask goes through, inline.
 *
 * A free ask has all its flags down, no carrier, answer or trace, TR_OK as its status, and no timer: an
 * answered one is left so by what follows, and tr__ask_free sees to it for the others. So a new one
 * need not be cleared.
 *
 * The timer of an ask is young at first. The next round, or who wants to know when to wake up, gives it to
 * the wheel (tr__asks_settle). Nearly all are answered before. So that this costs nothing, a chain of the
 * worker's holds all asks that may be young, and an answered one stays in it, free or asked anew, until then.
 *
 * To read a clock takes longer than all of this. So where a watch ticks, and no tick has come since the
 * worker last looked, an ask to an actor of the same worker is made without: it notes when that was, and its
 * time is counted from the latest moment at which it can have been made, which is known when its timer gets to
 * the wheel: then, or so many ticks ago as have come since. That is never early, and a few ticks late. What
 * such a request says of its deadline is rough (ASK_ROUGH_NS), and a doubt is resolved by a look at the ask
 * itself.
 *
 * Owner only, all of it.
 */
#ifndef ACTOR_ASK_ASK_OPEN_H
#define ACTOR_ASK_ASK_OPEN_H

#include "actor/cell/ask_table.h"
#include "actor/life/extra.h"
#include "actor/turn/park.h"
#include "actor/ask/turn_asks.h"
#include "base/assert.h"

enum { ASK_SPARE_MAX = 1024 };

static inline void ask_give(struct worker *worker, struct ask *ask)
{
    if (__builtin_expect(worker->asks.spare_count >= ASK_SPARE_MAX, 0)) {
        if (ask->is_chained)
            tr__asks_settle(worker); /* which leaves the chain empty */
        source_resize(&worker->source, ask, 0);
        return;
    }
    ask->next = worker->asks.spare;
    worker->asks.spare = ask;
    worker->asks.spare_count++;
}

/** An ask that is young by its flags: sees to it that the next round finds it. */
static inline void ask_chain(struct worker *worker, struct ask *ask)
{
    if (__builtin_expect(ask->is_chained, 1))
        return;
    ask->is_chained = true;
    ask->young_next = NULL;
    *worker->asks.young_end = ask;
    worker->asks.young_end = &ask->young_next;
}

/** Arms the timer of an ask that has none. */
static inline void ask_arm(struct worker *worker, struct ask *ask, tr_time deadline_ns)
{
    ask->is_young = true;
    ask->timeout.deadline_ns = deadline_ns;
    ask_chain(worker, ask);
}

/** Disarms the timer of an ask, if it has one. */
static inline void ask_disarm(struct worker *worker, struct ask *ask)
{
    if (__builtin_expect(!ask->is_young, 0))
        (void)tr__wheel_cancel(&worker->asks.timeouts, &ask->timeout);
    ask->is_young = false;
}

static inline void ask_unlist(struct cell *cell, struct ask *ask)
{
    ask->is_listed = false;
    ask_table_remove(&cell->extra->asks.table, ask);
}

/** An ask of a turn is done: lets that go on if it waited for no other. */
static inline void ask_wake(struct tr_self *turn, bool is_wanted)
{
    if (is_wanted && turn->wait.wanted && !--turn->wait.wanted)
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
    turn_ask_answer(ask, turn, reply);
    ask->is_wanted = false;
    ask->is_ringed = false;
    ask_give(worker, ask);
    ask_wake(turn, is_wanted);
}

/** The newest ask of an actor, one that is awaited and the only one its turn waits for, has its reply. */
static inline void ask_answer_awaited(struct worker *worker, struct cell *cell,
                                      struct cell_extra *extra, struct ask *ask,
                                      struct envelope *reply)
{
    struct tr_self *turn = ask->turn;
    TR_ASSERT_SLOW(!ask->carrier && !ask->is_fixed && !timer_is_armed(&turn->waits.deadline));
    turn_ask_answer(ask, turn, reply);
    extra->asks.table.newest = NULL;
    ask->flags = 0;
    ask->next = worker->asks.spare;
    worker->asks.spare = ask;
    worker->asks.spare_count++;
    turn->wait.wanted = 0;
    turn->wait.outcome = TR_OK;
    woken_push(cell, extra, turn);
    if (cell->sched_state == SCHED_WAITING) {
        cell->sched_state = SCHED_READY;
        loop_enqueue(&worker->loop, &cell->task, TASK_NORMAL);
    }
}

/** Whether a turn waits for one ask and for nothing else: who wants one has no deadline of its own. */
static inline bool turn_awaits_one(const struct tr_self *turn)
{
    return turn->wait.wanted == 1 && turn->state == TURN_PARKED;
}

/**
 * Answers the request of a turn, in the most ordinary of cases: a flat reply of the right type to an actor of
 * this worker with a turn that waits for just that. False, and nothing was done, in any other. All is looked
 * at before anything is done, and nothing is called, so that the rest costs this path no register.
 */
static inline bool ask_reply_quickly(struct tr_self *self, const tr_type *type, const void *message)
{
    struct worker *worker = self->worker;
    struct envelope *request = self->envelope;
    /*
     * Compilers read anew behind what is atomic. So what is needed once is looked at before that, and what
     * is needed again behind it: the registers suffice.
     */
    if (__builtin_expect(request->type->reply != type || !type->is_flat ||
                             type->size > ENVELOPE_INLINE_ASK || self->is_cancelled,
                         0))
        return false;
    struct cell *cell = slots_find(worker->slots, request->sender);
    if (__builtin_expect(!cell || cell_owner(cell) != worker->index || door_has_mail(&cell->door) ||
                             cell->life != LIFE_RUNNING || cell->flags & CELL_MIXED ||
                             !cell->extra || worker->outbox,
                         0))
        return false;
    struct cell_extra *extra = cell->extra;
    struct ask *ask = extra->asks.table.newest;
    /* One that is young is not fixed, and one that a turn waits for has no carrier: it is plain. */
    const uint32_t plain = ASK_STANDING(ASK_LISTED | ASK_YOUNG | ASK_WANTED);
    if (__builtin_expect(!ask || ask->id != request->payload.ask.id || ask->standing != plain ||
                             !turn_awaits_one(ask->turn) || !worker->pool.free ||
                             worker->asks.spare_count >= ASK_SPARE_MAX,
                         0))
        return false;
    struct envelope *envelope = envelope_take_free(&worker->pool);
    request->kind = ENVELOPE_ANSWERED;
    envelope->type = type;
    envelope->kind = ENVELOPE_REPLY;
    envelope->block_class = ENVELOPE_NO_BLOCK;
    envelope_copy(envelope, message, type->size);
    atom64_count(&worker->counters.accepted, 1);
    atom64_count(&worker->counters.handled, 1);
    envelope->payload.ask.id = ask->id;
    ask_answer_awaited(worker, cell, extra, ask, envelope);
    return true;
}

#endif
