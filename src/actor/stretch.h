/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stretch: what a turn that has waited runs from one wait to the next.
 *
 * It is inline, since a processor guesses wrongly where a function returns to that a switch of stacks
 * is in: who awaits and who runs an actor have no call between them and the switch. The rest of what
 * is to be known about turns that wait is in actor/park.h.
 */
#ifndef ACTOR_STRETCH_H
#define ACTOR_STRETCH_H

#include "actor/budget.h"
#include "actor/park.h"
#include "actor/relief.h"
#include "actor/timers.h"
#include "base/assert.h"
#include "fiber/jump.h"

#define STRETCH_INLINE __attribute__((__always_inline__)) static inline

/**
 * Runs a turn until it waits again or has ended; the latter is told by true. `is_stuck`: on the thread
 * that waits in it.
 */
STRETCH_INLINE bool stretch_go(struct tr_self *self, bool is_stuck)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    self->state = TURN_RUNS;
    self->caller = worker->host.current;
    const struct cell *running = worker_running(worker);
    loop_step(&worker->loop);
    worker_set_running(worker, cell);
    worker_set_type(worker, self->envelope->type);
    worker_set_row(worker, self->row);
    worker->message->turns++; /* a stretch is charged like a turn */
    if (__builtin_expect(cell->flags & CELL_METERED, 0))
        tr__budget_turn_resume(self);
    if (is_stuck) {
        tr__relief_leave(worker, self);
    } else {
        self->seat = atomptr_load(&worker->seat, ATOM_RELAXED);
        fiber_switch(&worker->host, self->fiber);
    }
    loop_step(&worker->loop);
    worker_set_running(worker, running);
    worker_set_type(worker, self->envelope->type);
    if (__builtin_expect(self->state != TURN_ENDED, 1))
        return false;
    list_remove(&self->born);
    return true;
}

/** The same of a turn that waits. */
STRETCH_INLINE bool stretch_run(struct tr_self *self)
{
    struct cell *cell = self->cell;
    list_remove(&self->link);
    list_remove(&self->woken);
    if (!--cell->extra->parked_count && __builtin_expect(cell->flags & CELL_IDLES, 0))
        tr__idle_resume(self->worker, cell);
    return stretch_go(self, false);
}

/** The end of a turn that has waited. False when its actor has stopped running. */
bool tr__stretch_end(struct tr_self *self);

/** Goes on with the first turn that was woken. False when the actor has stopped running. */
STRETCH_INLINE bool stretch_resume(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    TR_ASSERT(extra);
    if (__builtin_expect(extra->abandons, 0)) {
        tr__turns_abandon(worker, cell);
        return true;
    }
    struct tr_self *self = LIST_OWNER(extra->woken.next, struct tr_self, woken);
    if (extra->woken.next == extra->woken.previous)
        cell->flags &= (uint16_t)~CELL_WOKEN; /* it is the only one */
    worker->message->envelope = NULL; /* of a turn that is over: who looks must not find it */
    if (!stretch_run(self))
        return self->state != TURN_STUCK;
    return tr__stretch_end(self);
}

/** As tr__turn_park without a deadline, of a turn that has waited and may wait again. */
STRETCH_INLINE tr_status stretch_leave(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    struct cell_extra *extra = cell->extra;
    /* One test of what few have, instead of a branch for each. */
    uintptr_t is_odd = (uintptr_t)self->job | (uintptr_t)self->favoured | (uintptr_t)self->grant |
                       (uintptr_t)worker->gate | (cell->flags & (CELL_METERED | CELL_IDLES));
    bool is_plain = self->is_detached && !is_odd && self->envelope->kind != ENVELOPE_EVENT;
    if (__builtin_expect(!is_plain, 0) || turn_may_park(self) != TR_OK)
        return tr__turn_park(self, TR_NEVER);
    extra->parked_count++;
    list_push_last(&extra->parked, &self->link);
    self->state = TURN_PARKED;
    self->parked_ns = worker->loop.now_ns;
    self->outcome = TR_OK;
    fiber_switch(&worker->host, self->caller);
    return self->outcome;
}

#endif
