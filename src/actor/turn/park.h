/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that wait.
 *
 * A handler runs on the fiber of its worker's loop. When it waits for the first time, that fiber
 * becomes the turn's own (the turn is detached): the loop goes on from its beginning on a fresh
 * fiber, and nobody returns to the frames below the handler. From then on a turn is called like a
 * function: who resumes it switches to its fiber, and comes back when it waits again or has ended.
 *
 * A turn that may go on is *woken*: it is resumed by the next run of its actor, between two turns,
 * in the order of waking. An actor that is Suspended resumes none. A turn of an actor that ends is
 * cancelled: resumed once, every verb gives TR_CANCELLED, and what it returns is ignored.
 *
 * Owner only, all of it.
 */
#ifndef ACTOR_TURN_PARK_H
#define ACTOR_TURN_PARK_H

#include "actor/mail/mail.h"
#include "base/assert.h"

/** Frees the turns that are kept for the next that wait. Between two runs only. */
void tr__turns_trim(struct worker *worker);

/** Prepares a turn of a worker, for its first use. */
void tr__turn_init(struct tr_self *self, struct worker *worker);
/** Frees the turns that are over, and what the worker's own ones hold. */
void tr__turns_free(struct worker *worker);

/** Whether a turn may wait here and now: TR_OK, TR_CANCELLED, TR_NOT_IN_A_TURN. */
static inline tr_status turn_may_park(const struct tr_self *self)
{
    if (__builtin_expect(self->is_cancelled, 0))
        return TR_CANCELLED;
    /* Not at its end, where its defers run, either: there is nothing left to come back to. */
    bool is_message =
        self->kind == TURN_MESSAGE && !self->worker->turns.depth && self->state == TURN_RUNS;
    return __builtin_expect(is_message, 1) ? TR_OK : TR_NOT_IN_A_TURN;
}

/**
 * Waits until tr__turn_wake, and gives its outcome; TR_TIMEOUT when `deadline_ns` is reached first,
 * TR_CANCELLED when the actor ends. TR_NO_MEMORY, and what turn_may_park gives: it did not wait.
 */
tr_status tr__turn_park(struct tr_self *self, tr_time deadline_ns);

/**
 * As tr__turn_park, for a wait that is no tr_await: it stands at `where` ("bank.c:33"), NULL when that is not known. The
 * place that tr_self_at has noted stays, because a tr_await may evaluate its ask, which waits, after it.
 */
static inline tr_status turn_park_at(struct tr_self *self, tr_time deadline_ns, const char *where)
{
    const char *awaits_at = self->wait.where;
    self->wait.where = where;
    tr_status status = tr__turn_park(self, deadline_ns);
    self->wait.where = awaits_at;
    return status;
}

/** Lets a turn that waits go on; nothing when it was woken already. */
void tr__turn_wake(struct tr_self *self, tr_status outcome);

/** Whether a turn in the list of those that have waited does so now. */
static inline bool turn_waits(const struct tr_self *self)
{
    return self->state == TURN_PARKED || self->state == TURN_WOKEN;
}

/** The first turn of an actor that waits, from this link of its list on; NULL for none. */
static inline struct tr_self *parked_from(const struct cell_extra *extra, const struct list *link)
{
    for (; link != &extra->parked.turns; link = link->next) {
        struct tr_self *self = LIST_OWNER((uintptr_t)link, struct tr_self, wait.link);
        if (__builtin_expect(turn_waits(self), 1))
            return self;
    }
    return NULL;
}

/** For each turn of an actor that waits, by their last wait. */
#define PARKED_EACH(turn, extra)                                                                   \
    for (struct tr_self *turn = parked_from(extra, (extra)->parked.turns.next); turn;              \
         turn = parked_from(extra, turn->wait.link.next))

/** A turn that waits may go on, after those that may already. */
static inline void woken_push(struct cell *cell, struct cell_extra *extra, struct tr_self *self)
{
    self->state = TURN_WOKEN;
    self->wait.woken_next = NULL;
    if (__builtin_expect(cell->flags & CELL_WOKEN, 0))
        extra->parked.woken_last->wait.woken_next = self;
    else
        extra->parked.woken_first = self;
    extra->parked.woken_last = self;
    cell->flags |= CELL_WOKEN;
}

/** Takes the first of them. */
static inline struct tr_self *woken_pop(struct cell *cell)
{
    struct tr_self *self = cell->extra->parked.woken_first;
    TR_ASSERT(self);
    struct tr_self *next = self->wait.woken_next;
    cell->extra->parked.woken_first = next;
    if (__builtin_expect(!next, 1))
        cell->flags &= (uint16_t)~CELL_WOKEN;
    return self;
}

/** All of them are about to end: none is to be found there. */
static inline void woken_clear(struct cell *cell)
{
    cell->extra->parked.woken_first = NULL;
    cell->flags &= (uint16_t)~CELL_WOKEN;
}

/** The same as tr__turn_wake, inline. */
static inline void turn_wake(struct tr_self *self, tr_status outcome)
{
    struct cell *cell = self->cell;
    if (__builtin_expect(self->state != TURN_PARKED, 0))
        return;
    self->wait.outcome = outcome;
    if (__builtin_expect(timer_is_armed(&self->waits.deadline), 0))
        tr__wheel_cancel(&self->worker->turns.deadlines, &self->waits.deadline);
    woken_push(cell, cell->extra, self);
    if (mail_is_idle(cell))
        mail_make_ready(self->worker, cell);
}

/** Resumes those turns of an actor that were woken. False when the actor has stopped running. */
bool tr__turns_resume(struct worker *worker, struct cell *cell);

/** Cancels all turns of an actor that wait. */
void tr__turns_cancel(struct worker *worker, struct cell *cell);

/**
 * A fault of the actor was trapped: drops its turns that wait, with their stacks as they are. What
 * tr_defer registered does not run. A turn for which a function runs on a helper thread is dropped
 * when that has returned.
 */
void tr__turns_abandon(struct worker *worker, struct cell *cell);

/** Wakes those whose deadline has come. */
void tr__waits_fire(struct worker *worker, tr_time now_ns);

/**
 * An actor that gets another state leaves the present one to those of its turns that wait, until
 * the last of them has ended. False: no memory.
 */
bool tr__state_keep(struct worker *worker, struct cell *cell);

/**
 * The thread of this turn is stuck, and its worker was taken from it: the worker goes on with
 * worker->fiber, without the turn, and nothing of its actor runs until tr__turn_unstick. False: no
 * memory; nothing has changed. On the thread that has taken the worker.
 */
TR_MUST_CHECK bool tr__turn_stick(struct tr_self *self);
/** Before that: gets the memory it needs, so that it need not ask for any. False: there is none. */
TR_MUST_CHECK bool tr__turn_prepare(struct tr_self *self);

/**
 * The thread is back: the turn goes on. What else `bits` of the actor's control word ask for comes after
 * it. False when the actor has stopped running.
 */
bool tr__turn_unstick(struct worker *worker, struct cell *cell, uint32_t bits);

/** The handler of a detached turn has returned: back to who resumed it. */
TR_NO_RETURN void tr__turn_switch_back(struct tr_self *self, tr_next next);

/**
 * Whether this turn is a barrier when it waits. In a batch of several, none is one by a predicate: the
 * first speaks for all.
 */
static inline bool turn_wants_barrier(const struct tr_self *self)
{
    const tr_handler *handler = self->handler;
    if (__builtin_expect(!handler->barrier_if, 1))
        return handler->is_barrier;
    return handler->is_barrier || handler->barrier_if(envelope_data(self->envelope));
}

/** From now on, until the end, no ask or notice of its actor begins. May be nested. */
void tr__barrier_begin(struct tr_self *self);
void tr__barrier_end(struct tr_self *self);

#endif
