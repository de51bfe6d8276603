/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/move.h"

#include "actor/cell/log.h"
#include "actor/cell/upcalls.h"
#include "actor/life/supervise.h"
#include "actor/life/watchers.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/system/balance.h"
#include "actor/system/shutdown.h"
#include "actor/time/move_timers.h"
#include "actor/turn/run.h"
#include "base/assert.h"

/* What few actors have and what is bound to the worker: those stay until it is over. */
static bool extra_may_move(const struct cell_extra *extra)
{
    if (extra->parked.count || extra->asks.then_count || extra->asks.table.count ||
        extra->asks.table.newest || extra->waits.blocked)
        return false;
    if (extra->senders.ring || extra->mail.held || extra->senders.is_serving)
        return false;
    if (extra->supervision.failed || extra->supervision.group ||
        list_first(&extra->supervision.returns))
        return false;
    return !extra->supervision.failure || extra->supervision.failure->phase == FAILURE_PAST;
}

bool tr__move_may_leave(const struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const int bound = CELL_SEALED | CELL_WOKEN | CELL_KILLING | CELL_BARRIER | CELL_METERED |
                      CELL_FAILED | CELL_SUSPEND_WANTED | CELL_CALLS | CELL_HAS_WAITING_SENDERS;
    if (cell->life != LIFE_RUNNING || cell->flags & bound ||
        cell->dispatch->behavior->options.is_pinned)
        return false;
    /* Who watches a group is known by two refs to the worker of its group supervisor. */
    if (cell->origin && tr__group_address_of_supervisor(cell))
        return false;
    if (cell == worker->system->user.guardian || atom32_load(&cell->control, ATOM_RELAXED))
        return false;
    return !cell->extra || extra_may_move(cell->extra);
}

bool tr__move_is_possible(const struct worker *worker, const struct cell *cell)
{
    return tr__move_may_leave(worker, cell) &&
           (!cell_is_pooled(cell) || cell->dispatch->behavior->options.balances);
}

bool tr__move_give(struct worker *worker, struct cell *cell, uint32_t to, bool has_post)
{
    struct tr_system *system = worker->system;
    TR_ASSERT(cell->sched_state == SCHED_WAITING ||
              (cell->sched_state == SCHED_READY && !has_post));
    TR_ASSERT(cell_owner(cell) == worker->index);
    TR_ASSERT(to < system->worker_count);
    /* There may be fewer workers, or more, since that was chosen. In a shutdown nobody moves. */
    if (to == worker->index || atom32_load(&system->ending.is_stopping, ATOM_RELAXED))
        return false;
    struct timer_parcel *parcel;
    if (!tr__timers_reserve(worker, cell, &parcel))
        return false;
    bool is_packed = tr__watches_pack(worker, cell);
    if (!is_packed || (!has_post && door_nudge(&cell->door) != DOOR_TAKEN_POST)) {
        tr__watches_unpack(worker, cell);
        tr__timers_unreserve(worker, parcel);
        return false;
    }
    tr__timers_pack(worker, cell, parcel);
    cell_sched_change(cell, SCHED_MOUNTING);
    atom32_store(&cell->door.owner, CELL_FOREIGN, ATOM_RELAXED);
    atom64_count(&worker->counters.moves, 1);
    if (loop_post(&system->workers[to]->loop, &cell->door.ready))
        atom64_count(&worker->counters.wakes, 1);
    return true;
}

/* Some of its timers are lost: it must not go on as if they were there. */
static void fail(struct worker *worker, struct cell *cell)
{
    tr_error error;
    tr__error_set(&error,
                  TR_NO_MEMORY,
                  cell->identity,
                  "out of memory for the timers after a move to another worker");
    (void)tr__cell_fail(worker, cell, NULL, &error);
}

void tr__move_take(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    TR_ASSERT(cell->sched_state == SCHED_MOUNTING && cell_owner(cell) == CELL_FOREIGN);
    struct dispatch *dispatch = tr__dispatch_of(&worker->dispatches, cell->dispatch->behavior);
    if (!dispatch) {
        /* Out of memory. Where it comes from there is one, and the post is in hand. */
        (void)loop_post(&system->workers[cell->dispatch->worker]->loop, &cell->door.ready);
        return;
    }
    ATOM_POKE(&cell->dispatch, dispatch);
    atom32_store(&cell->door.owner, worker->index, ATOM_RELEASE); /* partner: who looks at all */
    tr__watches_unpack(worker, cell);
    bool has_timers = tr__timers_unpack(worker, cell);
    tr__balance_arrived(worker, cell);
    /* As one who waits it is asked, should somebody ask why; one who fails is in no queue. */
    cell_sched_change_from(cell, SCHED_MOUNTING, has_timers ? SCHED_WAITING : SCHED_RUNNING);
    tr__mail_take_in(worker, cell, door_take_posted(&cell->door));
    tr__shutdown_adopt(worker, cell);
    if (!has_timers)
        fail(worker, cell);
    else if (cell->sched_state == SCHED_WAITING)
        tr__cell_park_or_requeue(worker, cell);
}
