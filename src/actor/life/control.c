/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Orders: how an actor handles its control bits between two turns.
 */

#include "actor/ask/waiters.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/upcalls.h"
#include "actor/life/children.h"
#include "actor/life/failure.h"
#include "actor/life/keepers.h"
#include "actor/life/restart.h"
#include "actor/life/stop.h"
#include "actor/life/supervise.h"
#include "actor/mail/shutdown_stats.h"
#include "actor/time/receive_timeout.h"
#include "actor/turn/budget.h"
#include "actor/turn/park.h"

/*
 * Suspends or resumes the actor if it has such an order. Returns false if the actor is Suspended or
 * stops now. An actor that stops may be gone when this returns.
 */
static bool suspension_apply(struct worker *worker, struct cell *cell)
{
    bool is_suspended = cell->flags & CELL_SUSPENDED;
    if (is_suspended && cell->life == LIFE_RUNNING) {
        cell_become(worker->system, cell, LIFE_SUSPENDED, __func__);
        tr__idle_pause(worker, cell);
        if (mail_is_parked(cell))
            tr__grants_return(cell);
        /*
         * This actor got a PoisonPill before it was suspended. A Suspended actor with a PoisonPill
         * stops at once.
         */
        if (cell->flags & CELL_SEALED) {
            tr__cell_stop(worker, cell, false);
            return false;
        }
    }
    if (!is_suspended && cell->life == LIFE_SUSPENDED) {
        cell_become(worker->system, cell, LIFE_RUNNING, __func__);
        tr__idle_resume(worker, cell);
    }
    if (cell->life != LIFE_SUSPENDED)
        return true;
    if (cell->flags & CELL_HAS_WAITING_SENDERS)
        /* grants the capacity that became free before the suspension */
        tr__waiters_serve(worker, cell);
    /*
     * Make the actor run again if it has a control bit meanwhile, from a decider or from mail that
     * was taken in.
     */
    cell_sched_change(cell, SCHED_WAITING);
    if (atom32_load(&cell->control, ATOM_SEQ_CST))
        mail_make_ready(worker, cell);
    return false;
}

/*
 * Carries out orders to an actor that does not stop yet. Returns false if this run of the actor is
 * over; then the actor may be gone.
 */
static bool handle_control_alive(struct worker *worker, struct cell *cell, uint32_t bits)
{
    if (bits & (CONTROL_LOOK | CONTROL_STOP)) {
        mail_look(worker, cell);
        bits |= atom32_exchange(&cell->control, 0, ATOM_SEQ_CST);
    }
    if (bits & CONTROL_STOP) {
        cell->flags |= CELL_SEALED;
        tr__shutdown_stats_begin(worker); /* does nothing unless the system shuts down */
    }
    if (bits & CONTROL_DISMISS && cell->origin)
        cell->origin->is_dismissed = true;
    if (cell->life == LIFE_STARTING) {
        tr__restart_handle_control(worker, cell, bits);
        return false;
    }
    /*
     * A PoisonPill waits until the actor has handled the mail before the pill. It does not wait for
     * the end of a suspension.
     */
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
        /*
         * This actor has failed because of a child, and is in the run queue now. Its next run
         * handles the orders that are left.
         */
        atom32_fetch_or(&cell->control, bits & (CONTROL_DECIDED | CONTROL_BUDGET), ATOM_RELAXED);
        return false;
    }
    if (bits & CONTROL_DECIDED && !tr__failure_handle_control(worker, cell))
        return false;
    /*
     * Handle the budget after CONTROL_CHILD and CONTROL_DECIDED. In the other order the actor could
     * fail because of the budget, and these two bits would be lost.
     */
    if (bits & CONTROL_BUDGET && !tr__budget_handle_control(worker, cell))
        return false;
    if (!suspension_apply(worker, cell))
        return false;
    return !mail_is_parked(cell) || tr__turns_resume(worker, cell);
}

bool tr__cell_handle_control(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    uint32_t bits = atom32_exchange(&cell->control, 0, ATOM_SEQ_CST); /* pairs with door_nudge */
    if (__builtin_expect(bits & CONTROL_BACK, 0) && cell->extra && cell->extra->waits.stuck)
        return tr__turn_unstick(worker, cell, bits);
    if (cell->life < LIFE_STOPPING)
        return handle_control_alive(worker, cell, bits);
    if (bits & CONTROL_DISMISS && cell->origin)
        cell->origin->is_dismissed = true;
    /* The actor is Stopping and waits for its children. A kill reaches these children too. */
    if (bits & CONTROL_KILL && !(cell->flags & CELL_KILLING)) {
        cell->flags |= CELL_KILLING;
        tr__children_stop(worker, cell, true);
        tr__shutdown_look(worker, cell);
    }
    if (bits & CONTROL_CHILD)
        tr__supervise_end(worker, cell);
    cell_sched_change(cell, SCHED_WAITING);
    if (bits & CONTROL_FINISH && !cell->child_count)
        tr__cell_finish(worker, cell);
    return false;
}
