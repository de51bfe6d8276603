/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/leave.h"

#include "actor/cell/slots.h"
#include "actor/system/move.h"
#include "base/assert.h"

/* The shortest time between two walks of a leaving worker over its actors. */
#define LEAVE_EVERY_NS TR_MILLISECOND
/*
 * After a walk, the worker pauses for this many times the duration of the walk, and at least for
 * LEAVE_EVERY_NS.
 */
enum { LEAVE_PAUSE = 20 };

/* Returns the worker to which an actor moves. All open workers get equal shares of the actors. */
static uint32_t target(const struct worker *worker, const struct cell *cell)
{
    return slots_number(worker->slots, cell) % system_open_workers(worker->system);
}

static bool give(struct worker *worker, struct cell *cell)
{
    if (!tr__move_may_leave(worker, cell))
        return false;
    if (tr__move_give(worker, cell, target(worker, cell), false))
        return true;
    /*
     * If a post of the actor is on its way, the actor stays for now. This post may lead to no run,
     * and the worker looks at its actors only after a run. So make the worker look again.
     */
    worker->leave.is_due |= !door_is_idle(&cell->door);
    return false;
}

static void give_ready(struct worker *worker, enum task_class class)
{
    struct runqueue *queue = &worker->loop.queue;
    struct task *previous = NULL;
    struct task *task = queue->classes[class].first;
    while (task) {
        struct task *next = task->next;
        struct cell *cell = cell_of_task(task);
        if (give(worker, cell))
            runqueue_take_out(queue, class, previous, next);
        else
            previous = task;
        task = next;
    }
}

static void give_waiting(struct worker *worker)
{
    uint32_t used = tr__slots_used(worker->slots);
    for (uint32_t slot = 1; slot < used; slot++) {
        struct cell *cell = slots_at(worker->slots, slot);
        if (cell && cell_owner(cell) == worker->index && cell->sched_state == SCHED_WAITING)
            (void)give(worker, cell);
    }
}

void tr__leave_round(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    const tr_platform *platform = worker->system->platform;
    uint32_t call = atom32_load(&worker->system->scale.leave_call, ATOM_SEQ_CST);
    if (call == worker->leave.call && worker->loop.now_ns < worker->leave.due_ns)
        return;
    worker->leave.call = call;
    worker->leave.runs = atom64_load(&worker->loop.runs, ATOM_RELAXED);
    worker->leave.is_due = false;
    give_ready(worker, TASK_NORMAL);
    give_ready(worker, TASK_HIGH);
    give_waiting(worker);
    tr_time took_ns = platform->mono_now(platform) - worker->loop.now_ns;
    tr_time pause_ns = LEAVE_PAUSE * took_ns;
    worker->leave.due_ns =
        worker->loop.now_ns + (pause_ns > LEAVE_EVERY_NS ? pause_ns : LEAVE_EVERY_NS);
}
