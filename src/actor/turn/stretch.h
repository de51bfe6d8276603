/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stretch: what a turn that has waited runs from one wait to the next.
 *
 * It is inline, since a processor guesses wrongly where a function returns to that a switch of stacks
 * is in: who awaits and who runs an actor have no call between them and the switch. The rest of what
 * is to be known about turns that wait is in actor/turn/park.h.
 */
#ifndef ACTOR_TURN_STRETCH_H
#define ACTOR_TURN_STRETCH_H

#include "actor/turn/park.h"
#include "actor/system/relief.h"
#include "actor/time/timers.h"
#include "base/assert.h"
#include "fiber/jump.h"

#define STRETCH_INLINE __attribute__((__always_inline__)) static inline

/** Puts a turn that begins to wait at the end of the list; one that waits again and again is there. */
STRETCH_INLINE void parked_push(struct cell_extra *extra, struct tr_self *self)
{
    if (__builtin_expect(extra->parked.previous == &self->link, 1))
        return;
    list_remove(&self->link);
    list_push_last(&extra->parked, &self->link);
}

/** Prepares a turn that resumes, of an actor that is metered or behind a barrier. */
void tr__stretch_look(struct tr_self *self);

/**
 * Runs a turn of the actor that runs, until it waits again or has ended; the latter is told by true.
 * `is_stuck`: on the thread that waits in it.
 */
STRETCH_INLINE bool stretch_go(struct worker *worker, struct cell *cell, struct tr_self *self,
                               bool is_stuck)
{
    TR_ASSERT_SLOW(worker_running(worker) == cell);
    self->state = TURN_RUNS;
    self->caller = worker->host.current;
    loop_step(&worker->loop);
    worker_set_type(worker, self->envelope->type);
    worker_set_row(worker, self->row);
    worker->message->turns++; /* a stretch is charged like a turn */
    if (__builtin_expect(cell->flags & (CELL_METERED | CELL_BARRIER), 0))
        tr__stretch_look(self);
    if (is_stuck) {
        tr__relief_leave(worker, self);
    } else {
        self->seat = atomptr_load(&worker->seat, ATOM_RELAXED);
        fiber_switch(&worker->host, self->fiber);
    }
    loop_step(&worker->loop);
    if (__builtin_expect(self->state != TURN_ENDED, 1))
        return false;
    worker_set_type(worker, self->envelope->type);
    list_remove(&self->born);
    list_remove(&self->link);
    return true;
}

/** The same of a turn that waits. */
STRETCH_INLINE bool stretch_run(struct worker *worker, struct cell *cell, struct tr_self *self)
{
    if (!--cell->extra->parked_count && __builtin_expect(cell->flags & CELL_IDLES, 0))
        tr__idle_resume(worker, cell);
    return stretch_go(worker, cell, self, false);
}

/** The same of one that is cancelled, whoever runs. */
STRETCH_INLINE bool stretch_cancel(struct tr_self *self)
{
    struct worker *worker = self->worker;
    const struct cell *running = worker_running(worker);
    worker_set_running(worker, self->cell);
    bool has_ended = stretch_run(worker, self->cell, self);
    worker_set_running(worker, running);
    return has_ended;
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
    struct tr_self *self = woken_pop(cell);
    worker->message->envelope = NULL; /* of a turn that is over: who looks must not find it */
    if (!stretch_run(worker, cell, self))
        return self->state != TURN_STUCK;
    return tr__stretch_end(self);
}

/** Whether a turn that has waited may do so again by stretch_leave. */
STRETCH_INLINE bool stretch_is_plain(const struct tr_self *self)
{
    const struct worker *worker = self->worker;
    /* One test of what few have, instead of a branch for each. */
    uintptr_t is_odd = (uintptr_t)self->favoured | (uintptr_t)self->grant |
                       (uintptr_t)worker->gate | (self->cell->flags & (CELL_METERED | CELL_IDLES));
    TR_ASSERT_SLOW(!self->job); /* it waits for no function as well */
    return self->waits_plainly && !self->asks_barrier && !is_odd && !self->is_cancelled &&
           !worker->depth && self->state == TURN_RUNS;
}

/** As tr__turn_park without a deadline, of a turn of which stretch_is_plain. */
STRETCH_INLINE tr_status stretch_leave(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct cell_extra *extra = self->cell->extra;
    TR_ASSERT_SLOW(turn_may_park(self) == TR_OK && !turn_wants_barrier(self));
    extra->parked_count++;
    parked_push(extra, self);
    self->state = TURN_PARKED;
    self->parked_ns = worker->loop.now_ns;
    fiber_switch(&worker->host, self->caller);
    return self->outcome;
}

#endif
