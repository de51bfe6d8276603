/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Whether an actor has something to do, and how it gets into a run queue.
 */
#ifndef ACTOR_MAIL_READY_H
#define ACTOR_MAIL_READY_H

#include "actor/cell/sched_state.h"
#include "actor/mail/mail.h"
#include "base/assert.h"

/** Whether an actor that has nothing to do should stop now, because it is sealed. */
static inline bool mail_is_over(const struct cell *cell)
{
    if (!(cell->flags & CELL_SEALED) || mail_is_parked(cell) ||
        (cell->extra && cell->extra->waits.holds_stop))
        return false;
    const struct durable *durable = cell_durable(cell);
    return !durable || durable->may_stop;
}

/** Whether an actor is in the state Running, and in no run queue. */
static inline bool mail_is_idle(const struct cell *cell)
{
    return cell->sched_state == SCHED_WAITING && cell->life == LIFE_RUNNING;
}

/** Puts a waiting cell into a run queue. Owner only. */
static inline void mail_make_ready(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    cell_sched_change(cell, SCHED_READY);
    enum task_class class = TASK_NORMAL;
    if (__builtin_expect(cell->flags & CELL_MIXED, 0))
        class = tr__mail_priority(cell);
    loop_enqueue(&worker->loop, &cell->task, class);
}

/**
 * Makes an actor of this worker look at its control bits: puts a cell that waits into a run queue.
 * Does nothing for a cell that is in a run queue or runs, because the run of that cell looks at the
 * bits anyway. Therefore the scheduling state of a cell must never be SCHED_WAITING while the cell
 * may be in a run queue. Owner only.
 */
static inline void mail_rouse(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (cell->sched_state == SCHED_WAITING && cell->life < LIFE_STOPPED)
        mail_make_ready(worker, cell);
}

/** Sets control bits of an actor of this worker and makes the actor look at them. Owner only. */
static inline void cell_set_control(struct worker *worker, struct cell *cell, uint32_t bits)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    /* relaxed is enough, because the cell belongs to this worker */
    atom32_fetch_or(&cell->control, bits, ATOM_RELAXED);
    mail_rouse(worker, cell);
}

#endif
