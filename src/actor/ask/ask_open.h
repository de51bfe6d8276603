/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks between their request and their reply: the inline code that every ask goes through.
 *
 * A free ask has no flag set, no carrier, answer, trace or timer, and the status TR_OK. The
 * functions below leave an answered ask in that state, and tr__ask_free does so with every other
 * ask. So a new ask need not be cleared.
 *
 * The timer of an ask is young at first: it is in no wheel yet. tr__asks_settle moves the timer
 * into the wheel, in the next round of the loop or when the worker has to know when to wake up.
 * Nearly all asks are answered before that. A chain of the worker holds all asks that may be young.
 * An answer does not take its ask out of the chain, so that answering costs nothing extra. The ask
 * stays in the chain until the next tr__asks_settle, whether it is free or used again by then.
 *
 * To read a clock takes longer than the whole ask. So an ask to an actor of the same worker needs
 * no clock, if a watch ticks and no tick has come since the worker last read the clock. Such an ask
 * is untimed: it notes the time and the tick at which the worker last read the clock. Its timeout
 * is counted from the latest moment at which the ask can have been made. That moment is known when
 * the timer is moved into the wheel: it is the time of the move, less one tick period for each tick
 * since the ask. So the timeout is never early, and at most a few ticks late. The deadline in such
 * a request is rough (ASK_ROUGH_NS). If it seems to have passed, tr__ask_is_over looks at the ask
 * itself.
 *
 * All functions: owner only.
 */
#ifndef ACTOR_ASK_ASK_OPEN_H
#define ACTOR_ASK_ASK_OPEN_H

#include "actor/ask/ask.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/ask_table.h"
#include "actor/cell/slots.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "actor/mail/kind.h"

enum { ASK_SPARE_MAX = 1024 };

static inline void ask_give(struct worker *worker, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (__builtin_expect(worker->asks.spare_count >= ASK_SPARE_MAX, 0)) {
        if (ask->is_chained)
            tr__asks_settle(worker); /* this empties the chain */
        source_resize(&worker->source, ask, 0);
        return;
    }
    ask->next = worker->asks.spare;
    worker->asks.spare = ask;
    worker->asks.spare_count++;
}

/** Adds a young ask to the chain, so that the next tr__asks_settle finds it. */
static inline void ask_chain(struct worker *worker, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
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
    TR_ASSERT_SLOW(worker_is_mine(worker));
    ask->is_young = true;
    ask->timeout.deadline_ns = deadline_ns;
    ask_chain(worker, ask);
}

/** Disarms the timer of an ask, if it has one. */
static inline void ask_disarm(struct worker *worker, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (__builtin_expect(!ask->is_young, 0))
        (void)tr__wheel_cancel(&worker->asks.timeouts, &ask->timeout);
    ask->is_young = false;
}

static inline void ask_unlist(struct cell *cell, struct ask *ask)
{
    ask->is_listed = false;
    ask_table_remove(&cell->extra->asks.table, ask);
}

/** Counts a finished ask of a turn. If the turn waits for no other ask, wakes the turn. */
static inline void ask_wake(struct tr_self *turn, bool is_wanted)
{
    if (is_wanted && turn->wait.wanted && !--turn->wait.wanted)
        turn_wake(turn, TR_OK);
}

/**
 * Whether ask_answer may end this ask. Returns false if the outcome of the ask is already decided,
 * if the runtime itself asks, or if the ask has a carrier.
 */
static inline bool ask_is_plain(const struct ask *ask)
{
    return !ask->is_fixed && !ask->is_look && !ask->carrier;
}

/** Ends a plain ask with its reply: the turn keeps the reply, and the ask becomes free. */
static inline void ask_answer(struct worker *worker, struct cell *cell, struct ask *ask,
                              struct envelope *reply)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_self *turn = ask->turn;
    bool is_wanted = ask->is_wanted;
    ask_disarm(worker, ask);
    ask_unlist(cell, ask);
    turn_ask_answer(ask, turn, reply);
    ask->is_wanted = false;
    ask->is_in_cycle = false;
    ask_give(worker, ask);
    ask_wake(turn, is_wanted);
}

/**
 * As ask_answer, but only for the newest ask of an actor, and only while the turn waits for this
 * ask alone.
 */
static inline void ask_answer_awaited(struct worker *worker, struct cell *cell,
                                      struct cell_extra *extra, struct ask *ask,
                                      struct envelope *reply)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
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
        cell_sched_change_from(cell, SCHED_WAITING, SCHED_READY);
        loop_enqueue(&worker->loop, &cell->task, TASK_NORMAL);
    }
}

/**
 * Whether a turn waits for one ask and for nothing else. A turn that waits for asks has no deadline
 * itself, because the asks have theirs.
 */
static inline bool turn_awaits_one(const struct tr_self *turn)
{
    return turn->wait.wanted == 1 && turn->state == TURN_PARKED;
}

/**
 * Answers the request of a turn in the most ordinary case: a flat reply of the right type, to an
 * actor of this worker whose turn waits only for this reply. In any other case returns false and
 * does nothing. All conditions are checked before anything is changed, and no function is called.
 * So the other cases cost this path no register.
 */
static inline bool ask_reply_quickly(struct tr_self *self, const tr_type *type, const void *message)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct envelope *request = self->envelope;
    /*
     * Compilers read memory again after an atomic access. So values that are needed once are read
     * before the first atomic access, and values that are needed several times are read after it.
     * Then the registers suffice.
     */
    if (__builtin_expect(request->type->reply != type || !type->is_flat ||
                             type->size > ENVELOPE_INLINE_ASK || self->is_cancelled,
                         0))
        return false;
    struct cell *cell = slots_find(worker->slots, request->sender);
    if (__builtin_expect(!cell || cell_owner(cell) != worker->fast_owner ||
                             door_has_mail(&cell->door) || cell->life != LIFE_RUNNING ||
                             cell->flags & CELL_MIXED || !cell->extra,
                         0))
        return false;
    TR_ASSERT_SLOW(!worker->outbox_turn && !self->outbox);
    struct cell_extra *extra = cell->extra;
    struct ask *ask = extra->asks.table.newest;
    /*
     * An ask with just these flags is plain: it is not fixed, and an ask that a turn waits for has
     * no carrier.
     */
    const uint32_t plain = ASK_STANDING(ASK_LISTED | ASK_YOUNG | ASK_WANTED);
    if (__builtin_expect(!ask || ask->id != request->payload.ask.id || ask->standing != plain ||
                             !turn_awaits_one(ask->turn) || !worker->pool.free ||
                             worker->asks.spare_count >= ASK_SPARE_MAX,
                         0))
        return false;
    struct envelope *envelope = envelope_take_free(&worker->pool);
    request->kind = ENVELOPE_ANSWERED;
    /*
     * The turn that gets the reply reads only its type and its message, so the envelope needs no
     * address.
     */
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
