/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/extra.h"

#include "actor/cell/cell.h"
#include "actor/cell/worker.h"
#include "base/assert.h"

/* Makes the extra. A function of its own, so that access to an existing extra needs no call. */
__attribute__((__noinline__, __cold__)) static struct cell_extra *extra_new(struct worker *worker,
                                                                            struct cell *cell)
{
    struct cell_extra *extra = source_resize(&worker->source, NULL, sizeof *extra);
    if (!extra)
        return NULL;
    *extra = (struct cell_extra){.cell = cell};
    list_init(&extra->parked.turns);
    list_init(&extra->waits.born);
    list_init(&extra->waits.line);
    list_init(&extra->asks.laters);
    list_init(&extra->supervision.returns);
    list_init(&extra->supervision.pasts);
    cell->extra = extra;
    return extra;
}

struct cell_extra *tr__extra_of(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT(cell->life != LIFE_NEW || cell_owner(cell) == worker->index);
    return cell->extra ? cell->extra : extra_new(worker, cell);
}

void tr__extra_note_suspend(struct worker *worker, struct cell *cell, uint64_t who)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    bool is_up = cell->life == LIFE_RUNNING || cell->life == LIFE_SUSPENDED;
    if (!is_up || cell->flags & CELL_SUSPEND_WANTED)
        return;
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return; /* without memory, tr_actor_why will not know which actor suspended this one */
    extra->suspended.by = who;
    extra->suspended.since_ns = worker->loop.now_ns;
}
