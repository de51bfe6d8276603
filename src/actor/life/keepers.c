/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/keepers.h"

#include "actor/cell/cell.h"
#include "actor/cell/post.h"
#include "actor/cell/system.h"
#include "actor/life/children.h"
#include "base/assert.h"
#include "os/atomic.h"
#include "queue/door.h"

#include <troupe/platform.h>

void tr__shutdown_tell(struct tr_system *system)
{
    struct cell *guardian = system->user.guardian;
    /*
     * After the deadline of the shutdown, kill /user, because the sweep of the deadline has left it
     * out. Partner: sweep_cell.
     */
    bool is_forced = atom32_load(&system->ending.is_forced, ATOM_SEQ_CST);
    uint32_t bits = is_forced ? CONTROL_KILL : CONTROL_STOP;
    atom32_fetch_or(&guardian->control, bits, ATOM_SEQ_CST); /* pairs with on_post */
    if (door_nudge(&guardian->door) == DOOR_TAKEN_POST)
        tr__system_post(system, NULL, guardian);
}

void tr__shutdown_ask(struct tr_system *system)
{
    atom32_fetch_add(&system->ending.sweep, 1, ATOM_RELEASE); /* pairs with tr__shutdown_sweep */
    for (uint32_t i = 0; i < system->worker_count; i++)
        loop_nudge(&system->workers[i]->loop);
}

/*
 * Returns the latest time at which the keepers get their order to stop: rule 6 of
 * actor/system/shutdown.h.
 */
static tr_time keepers_ns(const struct tr_system *system)
{
    tr_time deadline_ns = (tr_time)atom64_load(&system->ending.deadline_ns, ATOM_RELAXED);
    tr_time began_ns = (tr_time)atom64_load(&system->ending.began_ns, ATOM_RELAXED);
    return deadline_ns == TR_NEVER ? TR_NEVER : deadline_ns - (deadline_ns - began_ns) / 4;
}

void tr__keepers_tell(struct worker *worker)
{
    struct tr_system *system = worker->system;
    if (system->ending.are_keepers_told)
        return;
    system->ending.are_keepers_told = true;
    if (system->durable.stop)
        system->durable.stop(worker);
    tr__keepers_stop(worker, system->user.guardian);
}

void tr__keepers_close(struct worker *worker)
{
    struct tr_system *system = worker->system;
    TR_ASSERT(worker->index == 0);
    if (system->ending.is_closing)
        return;
    system->ending.is_closing = true;
    if (!atom32_load(&system->ending.is_forced, ATOM_RELAXED))
        worker->loop.alarm_ns = (tr_time)atom64_load(&system->ending.deadline_ns, ATOM_RELAXED);
    if (admission_close(&system->ending.wakes))
        /*
         * if wakes are under way, the end of the last one asks for a sweep, and the sweep makes
         * this call
         */
        tr__keepers_tell(worker);
}

void tr__shutdown_look(struct worker *worker, struct cell *parent)
{
    struct tr_system *system = worker->system;
    if (parent != system->user.guardian || parent->life != LIFE_STOPPING ||
        !system->user.keepers_linked)
        return;
    bool is_alone = parent->child_count == system->user.keepers_linked;
    tr_time now_ns = system->platform->mono_now(system->platform);
    if (is_alone || parent->flags & CELL_KILLING || keepers_ns(system) <= now_ns)
        tr__keepers_close(worker);
}

void tr__shutdown_guardian(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_system *system = worker->system;
    tr_time deadline_ns = (tr_time)atom64_load(&system->ending.deadline_ns, ATOM_RELAXED);
    if (deadline_ns)
        worker->loop.alarm_ns = system->user.keepers_linked ? keepers_ns(system) : deadline_ns;
    atom32_store(&system->ending.has_begun, 1, ATOM_RELEASE); /* pairs with step_before */
}
