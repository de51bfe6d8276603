/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Orders: what an actor does between two turns because of its control bits.
 */
#include "actor/turn/turn.h"

#include "actor/turn/budget.h"
#include "actor/life/children.h"
#include "actor/cell/lifecycle.h"
#include "actor/turn/park.h"
#include "actor/life/stop.h"
#include "actor/life/supervise.h"
#include "actor/time/timers.h"
#include "actor/ask/waiters.h"
#include "base/assert.h"

/* Orders to an actor that has not begun to stop. */
static bool handle_control_alive(struct worker *worker, struct cell *cell, uint32_t bits)
{
    if (bits & (CONTROL_LOOK | CONTROL_STOP)) {
        mail_look(worker, cell);
        bits |= atom32_exchange(&cell->control, 0, ATOM_SEQ_CST);
    }
    if (bits & CONTROL_STOP) {
        cell->flags |= CELL_SEALED;
        tr__shutdown_stats_begin(worker); /* the system may be shutting down */
    }
    if (bits & CONTROL_DISMISS && cell->origin)
        cell->origin->is_dismissed = true;
    if (cell->life == LIFE_STARTING) {
        tr__restart_handle_control(worker, cell, bits);
        return false;
    }
    /* A PoisonPill waits for the mail before it, but not for the end of a suspension. */
    bool stops_now = cell->life == LIFE_SUSPENDED && cell->flags & CELL_SEALED;
    if (bits & CONTROL_KILL || stops_now) {
        if (cell->flags & CELL_FAILED)
            tr__failure_overrule(cell);
        tr__cell_stop(worker, cell, bits & CONTROL_KILL);
        return false;
    }
    if (bits & CONTROL_CHILD && !tr__supervise(worker, cell))
        return false;
    if (cell->sched_state == SCHED_READY) {
        /* It has failed by that, and is in the queue: the rest is for its next run. */
        atom32_fetch_or(&cell->control, bits & (CONTROL_DECIDED | CONTROL_BUDGET), ATOM_RELAXED);
        return false;
    }
    if (bits & CONTROL_DECIDED && !tr__failure_handle_control(worker, cell))
        return false;
    /* After these, for which there is no second call. */
    if (bits & CONTROL_BUDGET && !tr__budget_handle_control(worker, cell))
        return false;
    bool is_suspended = cell->flags & CELL_SUSPENDED;
    if (is_suspended && cell->life == LIFE_RUNNING) {
        cell_become(worker->system, cell, LIFE_SUSPENDED, __func__);
        tr__idle_pause(worker, cell);
        if (mail_is_parked(cell))
            tr__grants_return(cell);
        /* Sealed before it was suspended: it stops at once as well. */
        if (cell->flags & CELL_SEALED) {
            tr__cell_stop(worker, cell, false);
            return false;
        }
    }
    if (!is_suspended && cell->life == LIFE_SUSPENDED) {
        cell_become(worker->system, cell, LIFE_RUNNING, __func__);
        tr__idle_resume(worker, cell);
    }
    if (cell->life == LIFE_SUSPENDED) {
        if (cell->flags & CELL_HAS_WAITING_SENDERS)
            tr__waiters_serve(worker, cell); /* of what was freed before */
        /* A decider may have called for it, and so may what was taken in meanwhile. */
        cell->sched_state = SCHED_WAITING;
        if (atom32_load(&cell->control, ATOM_SEQ_CST))
            mail_make_ready(worker, cell);
        return false;
    }
    return !mail_is_parked(cell) || tr__turns_resume(worker, cell);
}

bool tr__cell_handle_control(struct worker *worker, struct cell *cell)
{
    uint32_t bits = atom32_exchange(&cell->control, 0, ATOM_SEQ_CST); /* partner: door_nudge */
    if (__builtin_expect(bits & CONTROL_BACK, 0) && cell->extra && cell->extra->waits.stuck)
        return tr__turn_unstick(worker, cell, bits);
    if (cell->life < LIFE_STOPPING)
        return handle_control_alive(worker, cell, bits);
    if (bits & CONTROL_DISMISS && cell->origin)
        cell->origin->is_dismissed = true;
    /* It waits for its children. */
    if (bits & CONTROL_KILL && !(cell->flags & CELL_KILLING)) {
        cell->flags |= CELL_KILLING;
        tr__children_stop(worker, cell, true);
        tr__shutdown_look(worker, cell);
    }
    if (bits & CONTROL_CHILD)
        tr__supervise_end(worker, cell);
    cell->sched_state = SCHED_WAITING;
    if (bits & CONTROL_FINISH && !cell->child_count)
        tr__cell_finish(worker, cell);
    return false;
}
