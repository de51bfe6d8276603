/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Workers that leave: they must give their actors away, because tr_system_set_workers has reduced
 * the number of workers.
 *
 * No actor starts on such a worker. In its rounds the worker gives away the actors that may move.
 * An actor with a parked turn moves when that turn is over: the turn ends in a run, and after a run
 * the worker looks at its actors again. Pinned actors stay. The thread of the worker stays too. It
 * sleeps, and is used again when the worker is opened again.
 */
#ifndef ACTOR_SYSTEM_LEAVE_H
#define ACTOR_SYSTEM_LEAVE_H

#include <troupe/status.h>
#include <troupe/platform.h>

#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "os/atomic.h"
#include "base/assert.h"

struct worker;

/** Gives actors away. Called at the beginning of a round of a worker that leaves. Worker only. */
void tr__leave_round(struct worker *worker);

/** Whether this worker leaves, and so must give its actors away. Any thread. */
static inline bool worker_leaves(const struct worker *worker)
{
    return worker->index >= system_open_workers(worker->system);
}

/**
 * Returns the time at which the worker must call tr__leave_round again. TR_NEVER: it need not.
 * Worker only.
 */
static inline tr_time leave_next(const struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (!worker_leaves(worker))
        return TR_NEVER;
    if (atom32_load(&worker->system->scale.leave_call, ATOM_SEQ_CST) != worker->leave.call)
        return 0;
    bool has_run = atom64_load(&worker->loop.runs, ATOM_RELAXED) != worker->leave.runs;
    return has_run || worker->leave.is_due ? worker->leave.due_ns : TR_NEVER;
}

#endif
