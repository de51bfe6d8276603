/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/whole.h"

#include <string.h>

#include "base/assert.h"
#include "durable/actor.h"
#include "durable/commit.h"
#include "durable/sql.h"
#include "durable/state.h"
#include "durable/turn.h"

static struct store_batch_mark mark_of(const struct durable_actor *actor)
{
    return actor->batch ? tr__store_batch_mark(actor->batch)
                        : (struct store_batch_mark){.last = NULL};
}

/* Keeps a copy of the state, because the open commit has changed it already. */
static tr_status state_copy(struct worker *worker, struct durable_actor *actor, struct whole *whole)
{
    tr_status status = TR_OK;
    if (actor->events) /* its state is not stored, only its events */
        return TR_OK;
    whole->size = tr__durable_state_pack(worker, actor, &status);
    if (!whole->size)
        return status;
    if (!tr__durable_state_keep(worker, actor, whole->size, &whole->state, &whole->capacity))
        return TR_NO_MEMORY;
    whole->has_state = true;
    return TR_OK;
}

tr_status tr__whole_begin(struct tr_self *self, const char *name, bool is_fresh)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct durable_actor *actor = durable_of(self);
    struct whole *whole = &self->frame->whole;
    tr_status status = TR_OK;
    whole->has_state = false;
    /* pages that this handler changes could not be distinguished from those of an earlier one */
    if (!is_fresh && tr__durable_sql_has_changed(actor))
        status = tr__stretch_end(self, actor, false);
    else if (!is_fresh)
        status = state_copy(self->worker, actor, whole);
    if (status != TR_OK)
        return status;
    whole->before = mark_of(actor);
    whole->name = name;
    return TR_OK;
}

void tr__whole_end(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    self->frame->whole.name = NULL;
}

void tr__whole_continue(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct whole *whole = &self->frame->whole;
    if (!whole->name)
        return;
    whole->before = mark_of(durable_of(self));
    whole->has_state = false;
}

/* Whether the state differs from what it was when this part of the handler began. A state that
 * cannot be packed counts as changed: its commit would fail, too. */
static bool state_has_changed(struct worker *worker, struct durable_actor *actor,
                              const struct whole *whole)
{
    const unsigned char *before = whole->has_state  ? whole->state
                                  : actor->is_dirty ? actor->finished.state
                                                    : actor->stored;
    size_t size = whole->has_state  ? whole->size
                  : actor->is_dirty ? actor->finished.size
                                    : actor->stored_size;
    tr_status status;
    if (actor->events)
        return false;
    size_t now = tr__durable_state_pack(worker, actor, &status);
    return !now || now != size ||
           memcmp(host_context(actor->kind->host, worker)->bytes, before, size) != 0;
}

tr_status tr__whole_may_wait(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct durable_actor *actor = durable_of(self);
    const struct whole *whole = &self->frame->whole;
    if (!whole->name || self->is_cancelled)
        return TR_OK;
    bool has_changed = mark_of(actor).last != whole->before.last || actor->is_destroy_wanted ||
                       tr__durable_sql_is_kept(actor) ||
                       state_has_changed(self->worker, actor, whole);
    if (!has_changed)
        return TR_OK;
    tr_log_warn(
        self,
        "%s cannot wait after it has changed what is stored: it runs again if the process ends "
        "meanwhile, and the change would be stored twice; let it wait first",
        whole->name);
    return TR_INVALID_TRANSITION;
}

void tr__whole_free(struct worker *worker, struct durable_frame *frame)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    source_resize(&worker->source, frame->whole.state, 0);
    frame->whole = (struct whole){.name = NULL};
}
