/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/shutdown.h"

#include "actor/cell/channel.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "actor/life/children.h"
#include "actor/life/keepers.h"
#include "actor/mail/ready.h"
#include "actor/mail/shutdown_stats.h"
#include "actor/system/hooks.h"
#include "actor/system/thread_handoff.h"
#include "actor/turn/blocking.h"
#include "base/assert.h"

void tr__shutdown_init(struct tr_system *system, tr_time timeout_default_ns)
{
    lock_init(&system->ending.lock);
    system->ending.timeout_default_ns = timeout_default_ns;
    atom64_init(&system->shutdown->slow_ns, SHUTDOWN_SLOW_NS);
}

tr_status tr__shutdown_open(struct tr_system *system)
{
    tr_parker *parker;
    tr_status status = system->platform->parker_new(system->platform, &parker);
    if (status == TR_OK)
        atomptr_store(
            &system->ending.parker, parker, ATOM_RELEASE); /* pairs with tr__shutdown_wake */
    return status;
}

void tr__shutdown_deinit(struct tr_system *system)
{
    tr_parker *parker = atomptr_load(&system->ending.parker, ATOM_ACQUIRE);
    tr__hooks_join(system);
    tr__shutdown_stats_free(system);
    if (parker)
        system->platform->parker_free(system->platform, parker);
}

void tr__shutdown_wake(struct tr_system *system)
{
    tr_parker *parker = atomptr_load(&system->ending.parker, ATOM_ACQUIRE);
    if (parker)
        system->platform->wake(system->platform, parker);
}

/* ---- The beginning. ---- */

/* Notes that the shutdown was asked for. Only the first call returns true. */
static bool call(struct tr_system *system, tr_time timeout_ns)
{
    struct shutdown *shutdown = system->shutdown;
    tr_time now_ns = system->platform->mono_now(system->platform);
    lock_take(&system->ending.lock);
    bool is_first = !shutdown->is_asked_for;
    if (is_first) {
        shutdown->is_asked_for = true;
        shutdown->called_ns = now_ns;
        shutdown->timeout_ns = timeout_ns < 0 ? 0 : timeout_ns;
    }
    lock_give(&system->ending.lock);
    return is_first;
}

void tr_system_shutdown(tr_system *system, tr_time timeout_ns)
{
    if (!system || !call(system, timeout_ns))
        return;
    if (tr__hooks_have(&system->shutdown->hooks, TR_BEFORE_STOP))
        tr__hooks_lead(system);
    else
        tr__shutdown_begin(system);
}

void tr__shutdown_at_once(struct tr_system *system)
{
    struct shutdown *shutdown = system->shutdown;
    lock_take(&system->ending.lock);
    if (!shutdown->is_asked_for)
        shutdown->hooks.count = 0;
    lock_give(&system->ending.lock);
    tr_system_shutdown(system, 0);
}

void tr__shutdown_begin(struct tr_system *system)
{
    struct shutdown *shutdown = system->shutdown;
    tr_time now_ns = system->platform->mono_now(system->platform);
    tr_counters before;
    tr_system_counters(system, &before);
    lock_take(&system->ending.lock);
    shutdown->before = before;
    tr_time timeout_ns = shutdown->timeout_ns;
    lock_give(&system->ending.lock);
    tr_time deadline_ns = timeout_ns > TR_NEVER - now_ns ? TR_NEVER : now_ns + timeout_ns;
    tr__shutdown_stats_open(system);
    atom32_store(&system->ending.sweep, 1, ATOM_RELEASE); /* pairs with on_round */
    atom64_store(&system->ending.deadline_ns, (uint64_t)deadline_ns, ATOM_SEQ_CST);
    atom64_store(&system->ending.began_ns, (uint64_t)now_ns, ATOM_SEQ_CST);
    atom32_store(&system->ending.is_stopping, 1, ATOM_SEQ_CST);
    for (uint32_t i = 0; i < system->worker_count; i++)
        /* a worker with listeners then closes them */
        loop_nudge(&system->workers[i]->loop);
    if (admission_close(&system->ending.spawns))
        /* if spawns are under way, the end of the last one makes this call */
        tr__shutdown_tell(system);
    tr__shutdown_wake(system);
}

void tr__shutdown_empty(struct tr_system *system)
{
    if (!system->options.exit_when_empty)
        return;
    /*
     * With hooks of TR_BEFORE_STOP this is an ordinary shutdown: actors may be spawned until the
     * hooks have returned, so do not set is_stopping yet.
     */
    if (!tr__hooks_have(&system->shutdown->hooks, TR_BEFORE_STOP))
        atom32_store(&system->ending.is_stopping, 1, ATOM_SEQ_CST);
    tr_system_shutdown(system, system->ending.timeout_default_ns);
}

bool tr__shutdown_force(struct tr_system *system)
{
    if (atom32_exchange(&system->ending.is_forced, 1, ATOM_SEQ_CST)) /* pairs with sweep_cell */
        return false;
    tr__shutdown_ask(system);
    return true;
}

void tr__shutdown_alarm(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    TR_ASSERT(worker->index == 0);
    tr_time deadline_ns = (tr_time)atom64_load(&system->ending.deadline_ns, ATOM_RELAXED);
    tr__keepers_close(worker);
    if (deadline_ns > worker->loop.now_ns) {
        worker->loop.alarm_ns = deadline_ns;
        return;
    }
    worker->loop.alarm_ns = TR_NEVER;
    if (tr__shutdown_force(system))
        /* sweep here, because this round of the worker has already checked whether a sweep is due */
        tr__shutdown_sweep(worker);
}

void tr__system_escalate(struct tr_system *system, const tr_error *error)
{
    struct shutdown *shutdown = system->shutdown;
    lock_take(&system->ending.lock);
    if (!shutdown->is_escalated)
        shutdown->escalation = *error;
    shutdown->is_escalated = true;
    lock_give(&system->ending.lock);
    tr_system_shutdown(system, system->ending.timeout_default_ns);
}

tr_status tr_system_error(tr_system *system, tr_error *error)
{
    if (!system)
        return TR_INVALID_ARGUMENT;
    struct shutdown *shutdown = system->shutdown;
    lock_take(&system->ending.lock);
    bool is_escalated = shutdown->is_escalated;
    if (is_escalated && error)
        *error = shutdown->escalation;
    lock_give(&system->ending.lock);
    return is_escalated ? TR_ESCALATED : TR_OK;
}

/* ---- What workers do. ---- */

/*
 * Takes a child out of the list of its parent, so that the parent does not wait for the child: rule
 * 3 of actor/system/shutdown.h.
 */
static void disown(struct worker *worker, struct cell *parent, struct cell *child)
{
    tr__child_take_out(worker, parent, child);
    child->sibling_next = 0;
    child->sibling_last = 0;
    if (!parent->child_count)
        cell_set_control(worker, parent, CONTROL_FINISH);
}

/* Whether this cell is Stopping and has sent the kill to its children. */
static bool is_killing(const struct cell *cell)
{
    return cell->life == LIFE_STOPPING && cell->flags & CELL_KILLING;
}

/* Whether a child lives on a stuck worker, or is on its way to a stuck worker. */
static bool is_out_of_reach(struct worker *worker, const struct cell *child)
{
    uint32_t owner = cell_owner(child);
    if (owner == worker->index)
        return false;
    /*
     * A child without an owner is moving to another worker. If the child has not arrived by now, so
     * long after the deadline, the other worker must be stuck.
     */
    return owner == CELL_FOREIGN ||
           atom32_load(&worker->system->workers[owner]->shutdown.is_stuck, ATOM_RELAXED);
}

static void disown_children(struct worker *worker, struct cell *parent)
{
    uint32_t count = parent->child_count;
    struct cell *next = count ? slots_at(worker->slots, parent->child_last) : NULL;
    if (next)
        next = slots_at(worker->slots, next->sibling_next);
    for (uint32_t i = 0; i < count; i++) {
        struct cell *child = next;
        TR_ASSERT(child); /* the children are a ring of `count` cells */
        next = slots_at(worker->slots, child->sibling_next);
        if (is_out_of_reach(worker, child))
            disown(worker, parent, child);
    }
}

/*
 * Disowns an actor that cannot be stopped, but only if its parent is on this worker and has sent
 * the kill.
 */
static void disown_busy(struct worker *worker, struct cell *cell)
{
    struct cell *parent = slots_parent(worker->slots, cell);
    if (cell_owner(parent) != worker->index || !is_killing(parent))
        return;
    if (!child_is_disowned(cell))
        disown(worker, parent, cell);
}

static void disown_blocked(void *context, const struct blocking_job *job)
{
    if (job->cell) /* a shared job has no actor */
        disown_busy(context, job->cell);
}

static void disown_stuck(void *context, const struct handoff_thread *thread)
{
    disown_busy(context, thread->turn->cell);
}

static void sweep_cell(struct worker *worker, struct cell *cell)
{
    struct tr_system *system = worker->system;
    if (cell == system->user.guardian && admission_is_used(&system->ending.spawns))
        /*
         * Spawns are under way. The thread that ends the last one stops /user; pairs with
         * tr__shutdown_tell.
         */
        return;
    if (cell_is_keeper(cell) && admission_is_used(&system->ending.wakes))
        /*
         * Wakes are under way. The thread that ends the last one asks for another sweep; pairs with
         * tr__spawn_leave.
         */
        return;
    if (atom32_load(&system->ending.is_forced, ATOM_ACQUIRE)) {
        if (!(cell->flags & CELL_KILLING))
            cell_set_control(worker, cell, CONTROL_KILL);
    } else if (slots_parent(worker->slots, cell) == system->user.guardian &&
               !cell_is_keeper(cell)) {
        if (cell->life < LIFE_STOPPING && !(cell->flags & CELL_SEALED))
            cell_set_control(worker, cell, CONTROL_STOP);
    }
    if (is_killing(cell) && !system_may_reuse(system))
        disown_children(worker, cell);
}

void tr__shutdown_sweep(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    if (!worker->shutdown.swept && worker->channels.hooks)
        worker->channels.hooks->on_shutdown(worker);
    worker->shutdown.swept =
        atom32_load(&system->ending.sweep, ATOM_ACQUIRE); /* pairs with tr__shutdown_ask */
    tr__shutdown_stats_begin(worker);
    if (worker->shutdown.swept == 1)
        return; /* the number 1 asks for no sweep; it only says that the shutdown has begun */
    /*
     * Another thread may have forced the shutdown, but only worker 0 closes the keepers. Close them
     * before the sweep, because the sweep must not kill a keeper while an actor below the keeper
     * can be woken.
     */
    if (worker->index == 0 && atom32_load(&system->ending.is_forced, ATOM_ACQUIRE))
        tr__keepers_close(worker);
    if (worker->index == 0 && system->ending.is_closing &&
        !admission_is_used(&system->ending.wakes))
        tr__keepers_tell(worker);
    uint32_t used = tr__slots_used(worker->slots);
    for (uint32_t slot = 1; slot < used; slot++) {
        struct cell *cell = slots_at(worker->slots, slot);
        if (!cell || cell_owner(cell) != worker->index)
            continue;
        if (cell->life > LIFE_NEW && cell->life < LIFE_STOPPED)
            sweep_cell(worker, cell);
    }
    if (!system_may_reuse(system)) {
        tr__blocking_each(system->blocking, disown_blocked, worker);
        tr__handoff_each(system, disown_stuck, worker);
    }
}

void tr__shutdown_adopt(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (__builtin_expect(atom32_load(&worker->system->ending.sweep, ATOM_ACQUIRE) != 0, 0))
        sweep_cell(worker, cell);
}

static bool has_actors(struct worker *worker)
{
    uint32_t used = tr__slots_used(worker->slots);
    for (uint32_t slot = 1; slot < used; slot++) {
        const struct cell *cell = slots_at(worker->slots, slot);
        if (cell && cell_owner(cell) == worker->index && cell->life < LIFE_STOPPED)
            return true;
    }
    return false;
}

bool tr__shutdown_may_leave(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (system_may_reuse(worker->system) || !has_actors(worker))
        return true;
    /*
     * Sweep once more. The thread that waits for the shutdown may have given up, and then its last
     * sweep may have come too early for some actors.
     */
    tr__shutdown_sweep(worker);
    return false;
}
