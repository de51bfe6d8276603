/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/record_plain.h"

#include <string.h>

#include "actor/cell/behavior_list.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/log.h"
#include "actor/cell/slots.h"
#include "actor/turn/follow_turn.h"
#include "base/assert.h"
#include "durable/actor.h"

/* Whether a replay can find this behavior by its name. The program must have listed the behavior, and no other behavior
 * with that name. */
static bool is_known(const struct behavior_list *known, const tr_behavior *behavior)
{
    size_t count = 0;
    bool is_there = false;
    for (const tr_behavior *const *at = known->first; at < known->end; at++) {
        count += *at && strcmp((*at)->name, behavior->name) == 0;
        is_there |= *at == behavior;
    }
    return is_there && count == 1;
}

const char *tr__record_plain_refusal(const struct behavior_list *known, const tr_behavior *behavior)
{
    if (!behavior)
        return "the actor has not started";
    if (behavior->state_size && !behavior->options.shows)
        return "the state of this actor has no descriptor: name one with .shows in the "
               "TR_OPTIONS of its behavior";
    if (!is_known(known, behavior))
        return "a replay could not find the behavior of this actor: the program has none with "
               "this name, or several";
    return NULL;
}

/* ---- Which turns. ---- */

tr_status tr__record_plain_order(struct recorder *recorder, uint64_t actor, uint32_t count,
                                 bool only_failing)
{
    tr_status status = tr__follow_open(recorder->system);
    if (status != TR_OK)
        return status;
    lock_take(&recorder->lock);
    bool had_order = atom64_load(&recorder->base.actor, ATOM_RELAXED);
    recorder->plain_left = count;
    recorder->only_failing = only_failing;
    atom64_store(&recorder->base.actor, actor, ATOM_RELAXED);
    lock_give(&recorder->lock);
    if (had_order)
        tr__follow_close(recorder->system);
    return TR_OK;
}

/*
 * Counts a turn of this actor for the order. If it was the last one, or if the actor is gone, ends
 * the order. Returns false if the order is not for this actor any more.
 */
static bool order_count(struct recorder *recorder, uint64_t actor, bool is_gone)
{
    lock_take(&recorder->lock);
    bool is_ours = atom64_load(&recorder->base.actor, ATOM_RELAXED) == actor;
    bool is_over = is_ours && (is_gone || --recorder->plain_left == 0);
    if (is_over)
        atom64_store(&recorder->base.actor, 0, ATOM_RELAXED);
    lock_give(&recorder->lock);
    if (is_over)
        tr__follow_close(recorder->system);
    return is_ours;
}

static bool is_only_failing(struct recorder *recorder)
{
    lock_take(&recorder->lock);
    bool is_only = recorder->only_failing;
    lock_give(&recorder->lock);
    return is_only;
}

/* ---- Turns. ---- */

/* If the actor of the order has ended, ends the order. Turns of other actors call it. */
static void actor_check(struct recorder *recorder, uint64_t actor)
{
    if (!actor || recorder->replay || slots_find(recorder->system->slots, actor))
        return;
    if (order_count(recorder, actor, true))
        tr__log(recorder->system,
                TR_LEVEL_WARN,
                NULL,
                "an actor has ended before all of its turns that were ordered were recorded");
}

void tr__record_plain_begin(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct recorder *recorder = recorder_of(self);
    uint64_t actor = atom64_load(&recorder->base.actor, ATOM_RELAXED);
    const void *message;
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (actor != self->cell->identity) {
        actor_check(recorder, actor);
        return;
    }
    if (self->handler->is_batch || durable_of(self) || !tr__record_handled(self, &message))
        return;
    struct record_reads *reads = source_resize(&worker->source, NULL, sizeof *reads);
    if (!reads)
        return;
    *reads = (struct record_reads){.has_before = true, .behavior = self->cell->dispatch->behavior};
    const tr_type *type = tr__record_state_type(self);
    tr_bytes before = {NULL, 0};
    if (type)
        before = tr__record_pack(worker, type, self->cell->state, true);
    reads->before = (unsigned char *)(uintptr_t)before.data;
    reads->before_size = before.size;
    reads->is_cut = type && !before.size;
    self->reads = reads;
}

/* Whether another turn has changed the behavior while this turn waited. If so, the states before and after this turn
 * have different types. */
static bool has_changed(const struct tr_self *self)
{
    return self->cell->dispatch->behavior != self->reads->behavior;
}

/* Writes the record of this turn, if the order is still for its actor. */
static void turn_keep(struct tr_self *self, bool has_failed)
{
    struct recorder *recorder = recorder_of(self);
    if ((!has_failed && is_only_failing(recorder)) ||
        !order_count(recorder, self->cell->identity, false))
        return;
    if (has_changed(self))
        tr__log_turn(recorder->system,
                     TR_LEVEL_WARN,
                     tr_path(self),
                     self->causal,
                     "a turn is not recorded: its actor has changed its behavior meanwhile");
    else if (has_failed)
        tr__record_failed(self, true);
    else
        tr__record_ended(self);
}

void tr__record_plain_end(struct tr_self *self, tr_next next)
{
    struct worker *worker = self->worker;
    const struct recorder *recorder = recorder_of(self);
    struct record_reads *reads = self->reads;
    bool has_failed = next.code == TR_NEXT_FAILED;
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(reads);
    if (recorder->replay && has_failed)
        tr__record_failed(self, true);
    else if (recorder->replay)
        tr__record_ended(self);
    else if (!self->is_cancelled)
        turn_keep(self, has_failed);
    self->reads = NULL;
    tr__record_free(worker, reads);
    source_resize(&worker->source, reads, 0);
}

bool tr__record_plain_loaded(const struct turn_recorder *base, const void *memory)
{
    const struct recorder *recorder = (const struct recorder *)(const void *)base;
    return recorder->replayed_state &&
           (uintptr_t)memory - (uintptr_t)recorder->replayed_state < recorder->replayed_size;
}
