/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stretches: resuming a turn that has waited, until it waits again or ends.
 *
 * These functions are inline, because the processor mispredicts the return from a function that
 * contains a switch of stacks. With inline functions there is no call between the switch and the
 * code that waits, and no call between the switch and the code that runs an actor.
 * actor/turn/park.h explains turns that wait.
 */
#ifndef ACTOR_TURN_RESUME_H
#define ACTOR_TURN_RESUME_H

#include "actor/cell/turn_state.h"
#include "actor/cell/upcalls.h"
#include "actor/time/receive_timeout.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "fiber/jump.h"

#define RESUME_INLINE __attribute__((__always_inline__)) static inline

/**
 * Moves a turn that begins to wait to the end of the list of turns that have waited. The turn may be
 * there already, if no other turn has waited since its previous wait. Then does nothing.
 */
RESUME_INLINE void parked_push(struct cell_extra *extra, struct tr_self *self)
{
    if (__builtin_expect(extra->parked.turns.previous == &self->wait.link, 1))
        return;
    list_remove(&self->wait.link);
    list_push_last(&extra->parked.turns, &self->wait.link);
}

/**
 * Runs a turn of the running actor until the turn waits again, is stuck or has ended. Returns true
 * if the turn has ended. `is_stuck` says that the turn was stuck, and that its thread has come back
 * and calls this function.
 */
RESUME_INLINE bool resume_until_wait(struct worker *worker, struct cell *cell, struct tr_self *self,
                                     bool is_stuck)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT_SLOW(worker_running(worker) == cell);
    turn_change(self, TURN_RUNS);
    self->wait.caller = worker->stacks.host.current;
    loop_step(&worker->loop);
    worker_set_type(worker, self->envelope->type);
    worker_set_handler(worker, self->handler);
    worker->turns.message->turns++; /* a stretch counts as a turn of the run */
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

/**
 * As resume_until_wait, but for a turn that waits: first takes the turn out of the count of parked
 * turns.
 */
RESUME_INLINE bool resume_parked(struct worker *worker, struct cell *cell, struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_waits(self));
    TR_ASSERT_SLOW(cell->extra->parked.count > 0);
    if (!--cell->extra->parked.count && __builtin_expect(cell->flags & CELL_IDLES, 0))
        tr__idle_resume(worker, cell);
    return resume_until_wait(worker, cell, self, false);
}

/** As resume_parked, but for a turn that is cancelled. Its actor need not be the running actor. */
RESUME_INLINE bool resume_cancelled(struct tr_self *self)
{
    struct worker *worker = self->worker;
    const struct cell *running = worker_running(worker);
    worker_set_running(worker, self->cell);
    bool has_ended = resume_parked(worker, self->cell, self);
    worker_set_running(worker, running);
    return has_ended;
}

/**
 * Resumes the first woken turn. After a trapped fault, abandons all waiting turns instead. Returns
 * false if the actor does not run any more.
 */
RESUME_INLINE bool resume_first_woken(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    TR_ASSERT(extra);
    if (__builtin_expect(extra->parked.abandons, 0)) {
        tr__turns_abandon(worker, cell);
        return true;
    }
    struct tr_self *self = woken_pop(cell);
    /* the envelope was freed, so tr__ask_is_here must not find it here */
    worker->turns.message->envelope = NULL;
    if (!resume_parked(worker, cell, self))
        return self->state != TURN_STUCK;
    return tr__resumed_turn_finish(self);
}

/** Whether this turn can use park_plainly when it waits again. */
RESUME_INLINE bool park_is_plain(const struct tr_self *self)
{
    const struct worker *worker = self->worker;
    /* This is one test for several rare conditions. A branch for each condition would be slower. */
    uintptr_t is_odd = (uintptr_t)self->capacity.favoured | (uintptr_t)self->capacity.grant |
                       (uintptr_t)self->outbox | (self->cell->flags & (CELL_METERED | CELL_IDLES));
    TR_ASSERT_SLOW(!self->job); /* a turn with a job waits by tr__turn_park */
    return self->waits_plainly && !self->asks_barrier && !is_odd && !self->is_cancelled &&
           !worker->turns.depth && self->state == TURN_RUNS;
}

/** As tr__turn_park without a deadline, but inline and with fewer tests. Requires park_is_plain. */
RESUME_INLINE tr_status park_plainly(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct cell_extra *extra = self->cell->extra;
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT_SLOW(turn_may_park(self) == TR_OK);
    TR_ASSERT_SLOW(!turn_wants_barrier(self));
    TR_ASSERT_SLOW(!timer_is_armed(&self->waits.deadline));
    extra->parked.count++;
    parked_push(extra, self);
    turn_change(self, TURN_PARKED);
    self->wait.since_ns = worker->loop.now_ns;
    fiber_switch(&worker->stacks.host, self->wait.caller);
    TR_ASSERT_SLOW(self->state == TURN_RUNS);
    return self->wait.outcome;
}

#endif
