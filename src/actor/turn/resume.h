/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stretch: what a turn that has waited runs from one wait to the next.
 *
 * It is inline, since a processor guesses wrongly where a function returns to that a switch of stacks
 * is in: who awaits and who runs an actor have no call between them and the switch. The rest of what
 * is to be known about turns that wait is in actor/turn/park.h.
 */
#ifndef ACTOR_TURN_RESUME_H
#define ACTOR_TURN_RESUME_H

#include "actor/turn/park.h"
#include "actor/system/thread_handoff.h"
#include "actor/time/timers.h"
#include "base/assert.h"
#include "fiber/jump.h"

#define RESUME_INLINE __attribute__((__always_inline__)) static inline

/** Puts a turn that begins to wait at the end of the list; one that waits again and again is there. */
RESUME_INLINE void parked_push(struct cell_extra *extra, struct tr_self *self)
{
    if (__builtin_expect(extra->parked.turns.previous == &self->wait.link, 1))
        return;
    list_remove(&self->wait.link);
    list_push_last(&extra->parked.turns, &self->wait.link);
}

/** Prepares a turn that resumes, of an actor that is metered or behind a barrier. */
void tr__resume_prepare(struct tr_self *self);

/**
 * Runs a turn of the actor that runs, until it waits again or has ended; the latter is told by true.
 * `is_stuck`: on the thread that waits in it.
 */
RESUME_INLINE bool resume_until_wait(struct worker *worker, struct cell *cell, struct tr_self *self,
                                     bool is_stuck)
{
    TR_ASSERT_SLOW(worker_running(worker) == cell);
    self->state = TURN_RUNS;
    self->wait.caller = worker->stacks.host.current;
    loop_step(&worker->loop);
    worker_set_type(worker, self->envelope->type);
    worker_set_handler(worker, self->handler);
    worker->turns.message->turns++; /* a stretch is charged like a turn */
    if (__builtin_expect(cell->flags & (CELL_METERED | CELL_BARRIER), 0))
        tr__resume_prepare(self);
    if (is_stuck) {
        tr__handoff_leave(worker, self);
    } else {
        self->claim = atomptr_load(&worker->handoff.claim, ATOM_RELAXED);
        fiber_switch(&worker->stacks.host, self->wait.fiber);
    }
    loop_step(&worker->loop);
    if (__builtin_expect(self->state != TURN_ENDED, 1))
        return false;
    worker_set_type(worker, self->envelope->type);
    list_remove(&self->waits.born);
    list_remove(&self->wait.link);
    return true;
}

/** The same of a turn that waits. */
RESUME_INLINE bool resume_parked(struct worker *worker, struct cell *cell, struct tr_self *self)
{
    if (!--cell->extra->parked.count && __builtin_expect(cell->flags & CELL_IDLES, 0))
        tr__idle_resume(worker, cell);
    return resume_until_wait(worker, cell, self, false);
}

/** The same of one that is cancelled, whoever runs. */
RESUME_INLINE bool resume_cancelled(struct tr_self *self)
{
    struct worker *worker = self->worker;
    const struct cell *running = worker_running(worker);
    worker_set_running(worker, self->cell);
    bool has_ended = resume_parked(worker, self->cell, self);
    worker_set_running(worker, running);
    return has_ended;
}

/** The end of a turn that has waited. False when its actor has stopped running. */
bool tr__resumed_turn_finish(struct tr_self *self);

/** Goes on with the first turn that was woken. False when the actor has stopped running. */
RESUME_INLINE bool resume_first_woken(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    TR_ASSERT(extra);
    if (__builtin_expect(extra->parked.abandons, 0)) {
        tr__turns_abandon(worker, cell);
        return true;
    }
    struct tr_self *self = woken_pop(cell);
    worker->turns.message->envelope = NULL; /* of a turn that is over: who looks must not find it */
    if (!resume_parked(worker, cell, self))
        return self->state != TURN_STUCK;
    return tr__resumed_turn_finish(self);
}

/** Whether a turn that has waited may do so again by park_plainly. */
RESUME_INLINE bool park_is_plain(const struct tr_self *self)
{
    const struct worker *worker = self->worker;
    /* One test of what few have, instead of a branch for each. */
    uintptr_t is_odd = (uintptr_t)self->capacity.favoured | (uintptr_t)self->capacity.grant |
                       (uintptr_t)worker->outbox |
                       (self->cell->flags & (CELL_METERED | CELL_IDLES));
    TR_ASSERT_SLOW(!self->job); /* it waits for no function as well */
    return self->waits_plainly && !self->asks_barrier && !is_odd && !self->is_cancelled &&
           !worker->turns.depth && self->state == TURN_RUNS;
}

/** As tr__turn_park without a deadline, of a turn of which park_is_plain. */
RESUME_INLINE tr_status park_plainly(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct cell_extra *extra = self->cell->extra;
    TR_ASSERT_SLOW(turn_may_park(self) == TR_OK && !turn_wants_barrier(self));
    extra->parked.count++;
    parked_push(extra, self);
    self->state = TURN_PARKED;
    self->wait.since_ns = worker->loop.now_ns;
    fiber_switch(&worker->stacks.host, self->wait.caller);
    return self->wait.outcome;
}

#endif
