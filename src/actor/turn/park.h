/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that wait.
 *
 * A handler runs on the fiber of its worker's loop. When it waits for the first time, that fiber
 * becomes the turn's own (the turn is detached). The loop starts again on a fresh fiber. The
 * handler never returns to the frames of the old loop that called it. From then on, resuming the
 * turn is like a function call: a run of its actor switches to the turn's fiber, and gets control
 * back when the turn waits again or has ended.
 *
 * A turn that may resume is *woken*: the next run of its actor resumes it, between two turns, in
 * the order of waking. A Suspended actor resumes no turn. When an actor ends, its parked turns are
 * cancelled: each is resumed once, every verb returns TR_CANCELLED, and the result of the handler
 * is ignored.
 *
 * Everything here is for the owner only.
 */
#ifndef ACTOR_TURN_PARK_H
#define ACTOR_TURN_PARK_H

#include "actor/cell/signal.h"
#include "actor/cell/turn_state.h"
#include "actor/mail/ready.h"
#include "base/assert.h"

/**
 * Frees the spare turns, which a worker keeps for the next turns that wait. Must not be called
 * during a run.
 */
void tr__turns_trim(struct worker *worker);

/** Initializes a turn of a worker before its first use. */
void tr__turn_init(struct tr_self *self, struct worker *worker);
/** Frees the spare turns and the turn for messages. Called when the worker ends. */
void tr__turns_free(struct worker *worker);

/** Returns whether a turn may wait now: TR_OK, TR_CANCELLED or TR_NOT_IN_A_TURN. */
static inline tr_status turn_may_park(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (__builtin_expect(self->is_cancelled, 0))
        return TR_CANCELLED;
    /*
     * While the defers of a turn run, the state of the turn is not TURN_RUNS. The turn must not wait
     * then, because its handler has returned.
     */
    bool is_message =
        self->kind == TURN_MESSAGE && !self->worker->turns.depth && self->state == TURN_RUNS;
    return __builtin_expect(is_message, 1) ? TR_OK : TR_NOT_IN_A_TURN;
}

/**
 * Waits until tr__turn_wake is called, and returns the outcome that was passed to it. Returns
 * TR_TIMEOUT if `deadline_ns` is reached first, and TR_CANCELLED if the actor ends. If the turn
 * cannot wait, returns at once: a status of turn_may_park, or TR_NO_MEMORY.
 */
tr_status tr__turn_park(struct tr_self *self, tr_time deadline_ns);

/**
 * Lets the other actors that are ready run first, and ends the run of this actor. Returns what
 * tr__turn_park returns.
 */
tr_status tr__turn_give_way(struct tr_self *self);

/**
 * As tr__turn_park, but for any wait except tr_await. `where` is the place of this wait in the
 * program ("bank.c:33"), or NULL if it is not known. A tr_await notes its own place by tr_self_at
 * before it evaluates its ask, and the ask itself may wait at another place. So after the wait, this
 * function restores the place that was noted before.
 */
static inline tr_status turn_park_at(struct tr_self *self, tr_time deadline_ns, const char *where)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const char *awaits_at = self->wait.where;
    self->wait.where = where;
    tr_status status = tr__turn_park(self, deadline_ns);
    self->wait.where = awaits_at;
    return status;
}

/** Wakes a turn that waits. Does nothing if it was woken already. */
void tr__turn_wake(struct tr_self *self, tr_status outcome);

/** Whether a turn waits now. The turn must be one that has waited before or waits now. */
static inline bool turn_waits(const struct tr_self *self)
{
    return self->state == TURN_PARKED || self->state == TURN_WOKEN;
}

/**
 * Searches the list of an actor's turns that have waited, beginning with `link`. Returns the first
 * turn that waits now; NULL for none.
 */
static inline struct tr_self *parked_from(const struct cell_extra *extra, const struct list *link)
{
    for (; link != &extra->parked.turns; link = link->next) {
        struct tr_self *self = LIST_OWNER((uintptr_t)link, struct tr_self, wait.link);
        if (__builtin_expect(turn_waits(self), 1))
            return self;
    }
    return NULL;
}

/** Loops over the turns of an actor that wait, in the order in which their waits began. */
#define PARKED_EACH(turn, extra)                                                                   \
    for (struct tr_self *turn = parked_from(extra, (extra)->parked.turns.next); turn;              \
         turn = parked_from(extra, turn->wait.link.next))

/** Adds a parked turn to the end of the list of woken turns. */
static inline void woken_push(struct cell *cell, struct cell_extra *extra, struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT_SLOW(self->state == TURN_PARKED);
    turn_change(self, TURN_WOKEN);
    self->wait.woken_next = NULL;
    if (__builtin_expect(cell->flags & CELL_WOKEN, 0))
        extra->parked.woken_last->wait.woken_next = self;
    else
        extra->parked.woken_first = self;
    extra->parked.woken_last = self;
    cell->flags |= CELL_WOKEN;
}

/** Removes and returns the first turn of the list of woken turns. */
static inline struct tr_self *woken_pop(struct cell *cell)
{
    struct tr_self *self = cell->extra->parked.woken_first;
    TR_ASSERT(self);
    TR_ASSERT_SLOW(self->state == TURN_WOKEN);
    struct tr_self *next = self->wait.woken_next;
    cell->extra->parked.woken_first = next;
    if (__builtin_expect(!next, 1))
        cell->flags &= (uint16_t)~CELL_WOKEN;
    return self;
}

/** Empties the list of woken turns, because all turns that wait are about to end. */
static inline void woken_clear(struct cell *cell)
{
    cell->extra->parked.woken_first = NULL;
    cell->flags &= (uint16_t)~CELL_WOKEN;
}

/**
 * As tr__turn_wake, but for a turn that is not parked, because it was woken already or is only
 * beginning to wait.
 */
void tr__turn_wake_early(struct tr_self *self, tr_status outcome);

/** As tr__turn_wake, but inline. */
static inline void turn_wake(struct tr_self *self, tr_status outcome)
{
    struct cell *cell = self->cell;
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (__builtin_expect(self->state != TURN_PARKED, 0)) {
        tr__turn_wake_early(self, outcome);
        return;
    }
    self->wait.outcome = outcome;
    if (__builtin_expect(timer_is_armed(&self->waits.deadline), 0))
        tr__wheel_cancel(&self->worker->turns.deadlines, &self->waits.deadline);
    woken_push(cell, cell->extra, self);
    if (mail_is_idle(cell))
        mail_make_ready(self->worker, cell);
}

/**
 * Resumes the woken turns of an actor. Stops when an order arrives, and when the turns or the time
 * of the run are used up. Returns false if the actor does not run any more.
 */
bool tr__turns_resume(struct worker *worker, struct cell *cell);

/** Cancels all turns of an actor that wait. After a trapped fault, abandons them instead. */
void tr__turns_cancel(struct worker *worker, struct cell *cell);

/**
 * Drops the parked turns of an actor, because a fault of the actor was trapped. The stacks of these
 * turns are not unwound. Of the functions that were registered by tr_defer, only those of the
 * library itself run. If a function of tr_blocking runs for a turn, the turn is dropped when that
 * function has returned.
 */
void tr__turns_abandon(struct worker *worker, struct cell *cell);

/** Wakes with TR_TIMEOUT the turns of the worker whose deadline is reached. Worker only. */
void tr__waits_fire(struct worker *worker, tr_time now_ns);

/**
 * Takes the state away from an actor, because it gets another one. The turns that wait keep this
 * old state until the last of them has ended. Returns false when out of memory.
 */
bool tr__state_keep(struct worker *worker, struct cell *cell);

/**
 * Marks a turn as stuck, because its handler does not return and another thread has taken the
 * worker. The worker continues with worker->stacks.fiber, without the turn. No code of the turn's
 * actor runs until tr__turn_unstick. Returns false when out of memory; then nothing has changed.
 * Called on the thread that has taken the worker.
 */
TR_MUST_CHECK bool tr__turn_stick(struct tr_self *self);
/**
 * Allocates the records that tr__turn_stick needs. To be called before tr__turn_stick, which then
 * allocates at most a fiber. Returns false when out of memory.
 */
TR_MUST_CHECK bool tr__turn_prepare(struct tr_self *self);

/**
 * Resumes the stuck turn of an actor, on the thread of that turn, which has come back to the
 * runtime. `bits` were taken out of the actor's control word. Puts all bits but CONTROL_BACK into
 * the control word again, so that they are handled later. Returns false if the actor does not run
 * any more.
 */
bool tr__turn_unstick(struct worker *worker, struct cell *cell, uint32_t bits);

/**
 * Ends the fiber of a detached turn whose handler has returned: switches to the fiber that has
 * resumed the turn.
 */
TR_NO_RETURN void tr__turn_switch_back(struct tr_self *self, tr_next next);

/**
 * Whether this turn is a barrier while it waits. If the turn has a batch, this function tests only
 * the first message, because a message for which barrier_if is true is never in a batch with others.
 */
static inline bool turn_wants_barrier(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const tr_handler *handler = self->handler;
    if (__builtin_expect(!handler->barrier_if, 1))
        return handler->is_barrier;
    return handler->is_barrier || handler->barrier_if(envelope_data(self->envelope));
}

/**
 * Makes a turn a barrier: until tr__barrier_end, no ask or notice of its actor starts a turn.
 * Several turns of an actor may be barriers at the same time.
 */
void tr__barrier_begin(struct tr_self *self);
/**
 * Ends the barrier of a turn. If no other turn of the actor is a barrier, releases the mail that
 * waited.
 */
void tr__barrier_end(struct tr_self *self);

/** Prepares the next stretch of a turn whose actor is metered or behind a barrier. */
void tr__resume_prepare(struct tr_self *self);
/** Ends a turn that has waited. Returns false if its actor does not run any more. */
bool tr__resumed_turn_finish(struct tr_self *self);

#endif
