/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/move.h"

#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/durable.h"
#include "actor/cell/log.h"
#include "actor/cell/sched_state.h"
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

/*
 * Whether the extra of an actor allows a move. An actor stays if it has something that is bound to
 * its worker: parked turns, asks, a function of tr_blocking, waiting senders, or a failure or
 * restart that is being handled.
 */
static bool extra_may_move(const struct cell_extra *extra)
{
    if (extra->parked.count || extra->asks.then_count || extra->asks.table.count ||
        extra->asks.table.newest || extra->waits.blocked)
        return false;
    if (extra->senders.ring || extra->senders.is_serving)
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
                      CELL_FAILED | CELL_SUSPEND_WANTED | CELL_HAS_WAITING_SENDERS;
    if (cell->life != LIFE_RUNNING || cell->flags & bound ||
        cell->dispatch->behavior->options.is_pinned)
        return false;
    /*
     * A group supervisor stays, because its worker knows the watchers of the group by two refs: the
     * ref of the group supervisor and the ref of the group address.
     */
    if (cell->origin && tr__group_address_of_supervisor(cell))
        return false;
    if (cell == worker->system->user.guardian || cell_calls(cell) ||
        atom32_load(&cell->control, ATOM_RELAXED))
        return false;
    if (cell->extra && !extra_may_move(cell->extra))
        return false;
    return !(cell->flags & CELL_CHANNELS) || worker->system->channels.hooks->may_move(cell);
}

bool tr__move_is_possible(const struct worker *worker, const struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    return tr__move_may_leave(worker, cell) &&
           (!cell_is_pooled(cell) || cell->dispatch->behavior->options.balances);
}

bool tr__move_give(struct worker *worker, struct cell *cell, uint32_t to, bool has_post)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_system *system = worker->system;
    TR_ASSERT(cell->sched_state == SCHED_WAITING ||
              (cell->sched_state == SCHED_READY && !has_post));
    TR_ASSERT(cell_owner(cell) == worker->index);
    TR_ASSERT(to < system->worker_count);
    /*
     * `to` may be this worker: it was chosen before, and the number of open workers may have
     * changed since then. No actor moves during a shutdown.
     */
    if (to == worker->index || atom32_load(&system->ending.is_stopping, ATOM_RELAXED))
        return false;
    struct timer_parcel *parcel;
    if (!tr__timers_reserve(worker, cell, &parcel))
        return false;
    bool has_channels = cell->flags & CELL_CHANNELS;
    if (has_channels && !worker->system->channels.hooks->on_leave(worker, cell)) {
        tr__timers_unreserve(worker, parcel);
        return false;
    }
    bool is_packed = tr__watches_pack(worker, cell);
    if (!is_packed || (!has_post && door_nudge(&cell->door) != DOOR_TAKEN_POST)) {
        tr__watches_unpack(worker, cell);
        tr__timers_unreserve(worker, parcel);
        if (has_channels)
            worker->system->channels.hooks->on_arrive(worker, cell);
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

/*
 * Makes an actor fail because its move has lost some of its timers. The actor must not continue as
 * if it had them.
 */
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
        /*
         * There is no memory for a dispatch. Give the actor back to its previous worker, which has
         * a dispatch for this behavior. Giving back needs no memory, because this worker still has
         * the post of the actor's door.
         */
        (void)loop_post(&system->workers[cell->dispatch->worker]->loop, &cell->door.ready);
        return;
    }
    ATOM_POKE(&cell->dispatch, dispatch);
    atom32_store(&cell->door.owner, worker->index, ATOM_RELAXED); /* see cell_owner */
    tr__watches_unpack(worker, cell);
    bool has_timers = tr__timers_unpack(worker, cell);
    tr__balance_arrived(worker, cell);
    /*
     * The actor gets SCHED_WAITING, because mail that is taken in next may ask what the actor waits
     * for. But an actor that fails below gets SCHED_RUNNING, because such an actor must be in no
     * queue.
     */
    cell_sched_change_from(cell, SCHED_MOUNTING, has_timers ? SCHED_WAITING : SCHED_RUNNING);
    tr__mail_take_in(worker, cell, door_take_posted(&cell->door));
    tr__shutdown_adopt(worker, cell);
    if (cell->flags & CELL_CHANNELS)
        worker->system->channels.hooks->on_arrive(worker, cell);
    if (!has_timers)
        fail(worker, cell);
    else if (cell->sched_state == SCHED_WAITING)
        tr__cell_park_or_requeue(worker, cell);
}
