/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_state_changed. At the end of a turn, compares the state with the state that the application
 * has seen last.
 *
 * Only kinds with a handler for tr_state_changed pay for this. Their state is packed once more at
 * the end of each turn. What the handler changes and sends belongs to the last commit of the turn.
 * So it is stored together with the change of the state.
 */
#include "durable/changed.h"

#include <string.h>

#include "base/assert.h"
#include "durable/actor.h"
#include "durable/state.h"
#include "durable/turn.h"

/*
 * Packs the state into the worker's context. Returns 0 if packing fails. The error is reported later, because the
 * commit packs the state too and fails in the same way.
 */
static size_t shown_pack(struct worker *worker, struct durable_actor *actor)
{
    tr_status status;
    return tr__durable_state_pack(worker, actor, &status);
}

static bool shown_set(struct worker *worker, struct durable_actor *actor, size_t size)
{
    if (!tr__durable_state_keep(worker, actor, size, &actor->shown, &actor->shown_capacity))
        return false;
    actor->shown_size = size;
    return true;
}

bool tr__durable_show(struct worker *worker, struct durable_actor *actor)
{
    return !actor->kind->changed || shown_set(worker, actor, shown_pack(worker, actor));
}

static bool shown_differs(struct worker *worker, struct durable_actor *actor)
{
    size_t size = shown_pack(worker, actor);
    return size &&
           (size != actor->shown_size ||
            memcmp(host_context(actor->kind->host, worker)->bytes, actor->shown, size) != 0);
}

tr_next tr__durable_changed(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                            tr_next next)
{
    static const struct tr_state_changed changed;
    const tr_handler *handler = actor->kind->changed;
    if (!handler || next.code == TR_NEXT_FAILED || self->is_cancelled ||
        !shown_differs(self->worker, actor))
        return next;
    tr_next last = tr__durable_user(self, verb, handler, actor->durable.cell->state, &changed);
    if (last.code != TR_NEXT_SAME && last.code != TR_NEXT_UNHANDLED)
        next = last;
    if (next.code == TR_NEXT_FAILED || self->is_cancelled)
        return next;
    /* Note the state again, so that changes by the handler of tr_state_changed itself do not cause another call. */
    if (!tr__durable_show(self->worker, actor))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for the state");
    return next;
}

void tr__durable_show_drop(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    source_resize(&worker->source, actor->shown, 0);
    actor->shown = NULL;
    actor->shown_size = 0;
    actor->shown_capacity = 0;
}
