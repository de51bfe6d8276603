/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Gives an actor its behavior and its state: at its start, at a restart, and by tr_become.
 */
#include "actor/life/become.h"

#include <string.h>

#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/extra.h"
#include "actor/cell/log.h"
#include "actor/cell/state.h"
#include "actor/cell/upcalls.h"
#include "actor/life/origin.h"
#include "actor/mail/capacity.h"
#include "actor/turn/park.h"
#include "actor/turn/turn.h"

static bool setup_wants_message(const tr_behavior *behavior)
{
    return behavior->setup.call && behavior->setup.type &&
           !tr_type_is_equal(behavior->setup.type, &tr_type_tr_none);
}

tr_status tr__setup_check(const tr_behavior *behavior, const tr_type *type, uint64_t actor,
                          tr_error *error)
{
    bool wants = setup_wants_message(behavior);
    if (!type && !wants)
        return TR_OK;
    if (!type) {
        tr__error_set(error,
                      TR_WRONG_TYPE,
                      actor,
                      "the set-up of %s needs a message: %s",
                      behavior->name,
                      behavior->setup.type->name);
        return TR_WRONG_TYPE;
    }
    if (wants && tr_type_is_equal(behavior->setup.type, type))
        return TR_OK;
    tr__error_set(error,
                  TR_WRONG_TYPE,
                  actor,
                  "the set-up of %s got %s; expected %s",
                  behavior->name,
                  type->name,
                  wants ? behavior->setup.type->name : "nothing");
    return TR_WRONG_TYPE;
}

static bool has_same_state(const tr_behavior *a, const tr_behavior *b)
{
    return a->state_size == b->state_size && strcmp(a->state_name, b->state_name) == 0;
}

/*
 * Replaces the state by a new one of `size` bytes, all zero. If turns wait, keeps the old state for
 * them, because they use it. Returns false when out of memory; then the state has not changed.
 */
static bool state_make(struct worker *worker, struct cell *cell, size_t size)
{
    bool is_used = cell->dispatch && mail_is_parked(cell);
    void *state = size ? tr__state_new(worker, cell, size, is_used) : NULL;
    if (size && !state)
        return false;
    if (is_used && !tr__state_keep(worker, cell)) {
        source_resize(&worker->source, state, 0);
        return false;
    }
    tr__state_free(worker, cell);
    if (state) {
        poison_clear(state, size); /* the new state may be where an old one was */
        memset(state, 0, size);
    }
    cell->state = state;
    return true;
}

static tr_status no_memory(struct cell *cell, tr_error *error, const char *what)
{
    tr__error_set(error, TR_NO_MEMORY, cell->identity, "out of memory for %s", what);
    return TR_NO_MEMORY;
}

/*
 * Makes an origin, if the actor has none, because the actor is about to change its behavior. A
 * restart needs the origin, to return to the behavior of the spawn. Returns false when out of
 * memory.
 */
static bool origin_keep(struct worker *worker, struct cell *cell)
{
    if (cell->origin)
        return true;
    const tr_spawn_args args = {.size = sizeof args, .behavior = cell->dispatch->behavior};
    return tr__origin_new(worker->slots, cell, &args, 0, false) == TR_OK;
}

/*
 * Starts the children that the behavior declares by TR_CHILD. Runs on a fiber of its own, because
 * each of these children may start further children in the same way.
 */
static tr_next start_children(tr_self *self, void *state, const void *message)
{
    const tr_behavior *behavior = message;
    (void)state;
    for (size_t i = 0; i < behavior->child_count; i++) {
        const tr_child_spec *spec = &behavior->children[i];
        tr_error error = {.status = TR_OK};
        const tr_spawn_args args = {.size = sizeof args,
                                    .behavior = spec->behavior,
                                    .name = spec->name,
                                    .worker = -1,
                                    .setup_type = spec->setup.type,
                                    .setup = spec->setup.data,
                                    .error = &error,
                                    .spec = spec};
        uint64_t bits;
        if (spec->name && !tr_is_nobody(tr_self_child(self, spec->name)))
            continue; /* this child was started for an earlier behavior */
        tr_status status = tr_self_try_spawn(self, &args, &bits);
        if (status != TR_OK)
            return tr_fail(self,
                           status,
                           "child %s did not start: %s",
                           spec->name ? spec->name : spec->behavior->name,
                           error.text[0] ? error.text : tr_status_text(status));
    }
    return TR_SAME;
}

static tr_status children_start(struct worker *worker, struct cell *cell,
                                const tr_behavior *behavior, uint64_t causal, tr_error *error)
{
    if (!behavior->child_count)
        return TR_OK;
    struct tr_self *self =
        tr__call_hook(worker, cell, TURN_SETUP, start_children, behavior, causal);
    if (!self)
        return no_memory(cell, error, "a stack");
    bool has_failed = self->call.next.code == TR_NEXT_FAILED;
    if (has_failed)
        *error = self->error;
    tr__call_hook_end(self);
    return has_failed ? TR_INIT_FAILED : TR_OK;
}

static tr_status adopt(struct worker *worker, struct cell *cell, const tr_behavior *behavior,
                       const tr_type *type, const void *message, uint64_t causal, int depth,
                       tr_error *error);

/*
 * Runs the set-up of the actor's current behavior. Then does what the set-up has returned: stop,
 * become or fail.
 */
static tr_status set_up(struct worker *worker, struct cell *cell, const tr_behavior *behavior,
                        const tr_type *type, const void *message, uint64_t causal, int depth,
                        tr_error *error)
{
    static const struct tr_none none;
    tr_status status = TR_OK;
    struct tr_self *self = tr__call_hook(
        worker, cell, TURN_SETUP, behavior->setup.call, type ? message : &none, causal);
    if (!self)
        return no_memory(cell, error, "a stack");
    switch (self->call.next.code) {
    case TR_NEXT_SAME:
    case TR_NEXT_UNHANDLED:
    case TR_NEXT_STASHED:
        status = children_start(worker, cell, behavior, causal, error);
        break;
    case TR_NEXT_STOP:
        status = TR_STOPPED;
        break;
    case TR_NEXT_BECOME:
        status = adopt(worker,
                       cell,
                       self->become.behavior,
                       self->become.type,
                       self->become.message,
                       causal,
                       depth + 1,
                       error);
        break;
    case TR_NEXT_FAILED:
        status = TR_INIT_FAILED;
        *error = self->error;
        break;
    }
    tr__call_hook_end(self);
    return status;
}

/*
 * Changes to a behavior, and sets it up. `depth` counts the set-ups that have called tr_become
 * before this one, each inside the previous one.
 */
static tr_status adopt(struct worker *worker, struct cell *cell, const tr_behavior *behavior,
                       const tr_type *type, const void *message, uint64_t causal, int depth,
                       tr_error *error)
{
    const char *why;
    if (depth == TR_BEHAVIORS_NESTED_MAX) {
        tr__error_set(
            error, TR_TOO_DEEP, cell->identity, "too many tr_become in set-ups: %d", depth);
        return TR_TOO_DEEP;
    }
    struct dispatch *dispatch = dispatch_known(&worker->dispatches, behavior);
    if (!dispatch && !tr__behavior_is_valid(behavior, &why)) {
        tr__error_set(error, TR_INVALID_ARGUMENT, cell->identity, "%s", why);
        return TR_INVALID_ARGUMENT;
    }
    bool has_state = cell->dispatch && (cell->state || !cell->dispatch->behavior->state_size);
    bool keeps_state = has_state && has_same_state(cell->dispatch->behavior, behavior);
    /*
     * Skip the set-up if the actor returns to a behavior that it has had before. This is taken to
     * be so if the set-up expects a message, the actor passes none, and the state stays.
     */
    bool is_set_up = !type && keeps_state && setup_wants_message(behavior);
    tr_status status = TR_OK;
    if (!is_set_up)
        status = tr__setup_check(behavior, type, cell->identity, error);
    if (status != TR_OK)
        return status;
    if (!dispatch)
        dispatch = tr__dispatch_of(&worker->dispatches, behavior);
    if (!dispatch)
        return no_memory(cell, error, "a behavior's table");
    bool is_by_kind = behavior->options.ordering == TR_BY_KIND;
    if (is_by_kind && !tr__extra_of(worker, cell))
        return no_memory(cell, error, "a mailbox");
    if (cell->dispatch && cell->dispatch->behavior != behavior && !origin_keep(worker, cell))
        return no_memory(cell, error, "the initial state of a restart");
    if (!keeps_state && !state_make(worker, cell, behavior->state_size))
        return no_memory(cell, error, "a state");
    if (cell->dispatch)
        tr__capacity_change(worker, cell, cell->dispatch->behavior, behavior);
    ATOM_POKE(&cell->dispatch, dispatch);
    if (cell->flags & CELL_CHANNELS)
        worker->system->channels.hooks->on_change(worker, cell);
    cell->flags &= (uint16_t)~CELL_BY_KIND;
    if (is_by_kind)
        cell->flags |= CELL_BY_KIND;
    if (cell->flags & CELL_EXACT_BOUND)
        tr__mail_drop_oldest(worker, cell);
    if (!behavior->setup.call || is_set_up)
        return children_start(worker, cell, behavior, causal, error);
    return set_up(worker, cell, behavior, type, message, causal, depth, error);
}

tr_status tr__cell_adopt(struct worker *worker, struct cell *cell, const tr_behavior *behavior,
                         const tr_type *setup_type, const void *setup, uint64_t causal,
                         tr_error *error)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    return adopt(worker, cell, behavior, setup_type, setup, causal, 0, error);
}
