/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_state_changed: at the end of a turn, whether the state is another than the application was told last.
 *
 * Only kinds with a handler for it pay: their state is packed once more at the end of each turn. What the
 * handler does belongs to the turn's last commit, so that what it sends leaves with what it speaks of.
 */
#include <string.h>
#include <troupe/wire.h>

#include "durable/actor.h"

/*
 * The state, packed at the worker's context, 0: it cannot be. Who stores it finds that out again, and says so.
 */
static size_t pack(struct worker *worker, struct durable_actor *actor)
{
    tr_status status;
    return tr__durable_state_pack(worker, actor, &status);
}

static bool shown_set(struct worker *worker, struct durable_actor *actor, size_t size)
{
    if (size > actor->shown_room) {
        void *shown = source_resize(&worker->source, actor->shown, size);
        if (!shown)
            return false;
        actor->shown = shown;
        actor->shown_room = size;
    }
    if (size)
        memcpy(actor->shown, host_context(actor->kind->host, worker)->bytes, size);
    actor->shown_size = size;
    return true;
}

bool tr__durable_show(struct worker *worker, struct durable_actor *actor)
{
    return !actor->kind->changed || shown_set(worker, actor, pack(worker, actor));
}

static bool has_changed(struct worker *worker, struct durable_actor *actor)
{
    size_t size = pack(worker, actor);
    return size &&
           (size != actor->shown_size ||
            memcmp(host_context(actor->kind->host, worker)->bytes, actor->shown, size) != 0);
}

tr_next tr__durable_changed(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                            tr_next next)
{
    static const struct tr_state_changed changed;
    const tr_handler *row = actor->kind->changed;
    if (!row || next.code == TR_NEXT_FAILED || self->is_cancelled ||
        !has_changed(self->worker, actor))
        return next;
    tr_next last = tr__durable_user(self, verb, row, actor->durable.cell->state, &changed);
    if (last.code != TR_NEXT_SAME && last.code != TR_NEXT_UNHANDLED)
        next = last;
    if (next.code == TR_NEXT_FAILED || self->is_cancelled)
        return next;
    /* What the handler itself has changed is not told of. */
    if (!tr__durable_show(self->worker, actor))
        return tr_fail(self, TR_NO_MEMORY, "out of memory for the state");
    return next;
}

void tr__durable_show_drop(struct worker *worker, struct durable_actor *actor)
{
    source_resize(&worker->source, actor->shown, 0);
    actor->shown = NULL;
    actor->shown_size = 0;
    actor->shown_room = 0;
}
