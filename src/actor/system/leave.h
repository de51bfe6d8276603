/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A worker that is to have no actors any more, because there are to be fewer workers.
 *
 * Nothing begins there, and in its rounds it gives away who may go. Those with a turn that waits go when
 * that is over: whatever ends it is work, and after work comes another look. Pinned actors stay. The
 * thread stays too, asleep; it is there when the worker is wanted again.
 */
#ifndef ACTOR_SYSTEM_LEAVE_H
#define ACTOR_SYSTEM_LEAVE_H

#include "actor/mail/mail.h"

/** A round of a worker begins that is to have no actors. Worker only. */
void tr__leave_round(struct worker *worker);

/** Whether this worker is to have no actors. Any thread. */
static inline bool worker_leaves(const struct worker *worker)
{
    return worker->index >= system_open_workers(worker->system);
}

/** When it wants to look again, TR_NEVER for not at all. Worker only. */
static inline tr_time leave_next(const struct worker *worker)
{
    if (!worker_leaves(worker))
        return TR_NEVER;
    if (atom32_load(&worker->system->scale.leave_call, ATOM_SEQ_CST) != worker->leave.call)
        return 0;
    bool has_run = atom64_load(&worker->loop.runs, ATOM_RELAXED) != worker->leave.runs;
    return has_run || worker->leave.is_due ? worker->leave.due_ns : TR_NEVER;
}

#endif
