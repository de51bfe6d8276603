/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/gate.h"

#include "actor/ask/ask.h"
#include "actor/life/extra.h"
#include "actor/mail/front.h"
#include "actor/life/supervise.h"
#include "base/assert.h"

enum { GATE_FIRST = 8 }; /* messages for which there is room at first */

static bool gate_grow(struct worker *worker, struct gate *gate)
{
    if (gate->count < gate->room)
        return true;
    uint32_t room = gate->room ? 2 * gate->room : GATE_FIRST;
    struct gate_item *items =
        source_resize(&worker->source, gate->items, room * sizeof gate->items[0]);
    if (!items)
        return false;
    gate->items = items;
    gate->room = room;
    return true;
}

tr_status tr__gate_send(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct gate *gate = worker->gate;
    /* A PoisonPill comes behind what was sent before it. */
    bool is_held = envelope->kind <= ENVELOPE_NOTICE || envelope->kind == ENVELOPE_STOP;
    if (gate->is_open || !is_held) {
        worker_set_gate(worker, NULL);
        tr_status status = tr__mail_send(worker, cell, envelope);
        worker_set_gate(worker, gate);
        return status;
    }
    if (front_is(cell))
        return TR_STOPPED; /* as ever: who sends picks a member, and what that gets is held */
    if (!gate_grow(worker, gate))
        return TR_NO_MEMORY;
    gate->items[gate->count++] = (struct gate_item){cell, envelope};
    return TR_OK;
}

static uint64_t ref_of(const struct gate_item *item)
{
    uint32_t slot = (uint32_t)ATOM_PEEK(&item->cell->identity);
    return (uint64_t)item->envelope->generation << 32 | slot;
}

/* Sends what was held. Who was found when that began may have ended since, and another lives there. */
static tr_status send_on(struct worker *worker, const struct gate_item *item)
{
    struct cell *cell = slots_find(worker->slots, ref_of(item));
    if (!cell)
        return TR_STOPPED;
    if (item->envelope->kind != ENVELOPE_STOP || cell_owner(cell) != worker->index)
        return tr__mail_send(worker, cell, item->envelope);
    envelope_give(&worker->pool, item->envelope);
    mail_look(worker, cell);
    tr__mail_order(cell, ENVELOPE_STOP);
    mail_rouse(worker, cell);
    return TR_OK;
}

/* Takes a message that nobody will get. */
static void bury(struct worker *worker, const struct gate_item *item, tr_status reason)
{
    struct envelope *envelope = item->envelope;
    uint64_t to = ref_of(item);
    if (envelope->kind == ENVELOPE_STOP) {
        envelope_give(&worker->pool, envelope); /* it is no message */
        return;
    }
    atom64_count(&worker->counters.refused, 1);
    tr__dead_letter(
        worker->system,
        worker,
        &(struct dead_letter){
            .type = envelope->type, .from = envelope->sender, .to = to, .reason = reason});
    if (envelope->kind == ENVELOPE_ASK)
        tr__ask_refuse(worker, envelope, to, reason, 0, NULL);
    else
        envelope_give(&worker->pool, envelope);
}

void tr__gate_release(struct worker *worker, struct gate *gate)
{
    struct gate *outer = worker->gate;
    worker_set_gate(worker, NULL); /* what is sent now has waited */
    for (uint32_t i = 0; i < gate->count; i++) {
        const struct gate_item *item = &gate->items[i];
        tr_status status = send_on(worker, item);
        if (status != TR_OK)
            bury(worker, item, status);
    }
    worker_set_gate(worker, outer);
    source_resize(&worker->source, gate->items, 0);
    gate->items = NULL;
    gate->count = 0;
    gate->room = 0;
}

void tr__gate_drop(struct worker *worker, struct gate *gate, tr_status reason)
{
    struct gate *outer = worker->gate;
    worker_set_gate(worker, NULL);
    for (uint32_t i = 0; i < gate->count; i++) {
        const struct gate_item *item = &gate->items[i];
        struct envelope *envelope = item->envelope;
        if (envelope->kind > ENVELOPE_EXCEPTION) {
            bury(worker, item, reason);
            continue;
        }
        /* Who asked waits for an answer, and this is one. */
        tr__ask_become_ended(envelope, reason, 0);
        envelope->kind = ENVELOPE_EXCEPTION;
        if (send_on(worker, item) != TR_OK)
            envelope_give(&worker->pool, envelope);
    }
    worker_set_gate(worker, outer);
    source_resize(&worker->source, gate->items, 0);
    gate->items = NULL;
    gate->count = 0;
    gate->room = 0;
}

struct envelope *tr__stored_new(struct worker *worker, struct cell *cell, uint64_t token)
{
    const struct tr_stored stored = {.token = token};
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return NULL;
    (void)envelope_fill(&worker->pool, envelope, &tr_type_tr_stored, &stored, ENVELOPE_INLINE);
    envelope->sender = cell->identity;
    envelope->causal = 0;
    envelope->generation = cell_generation(cell);
    envelope->kind = ENVELOPE_STORED;
    cell->extra->blocked++;
    return envelope;
}

tr_status tr__durable_tell(struct worker *worker, struct cell *cell, const tr_type *type,
                           const void *message)
{
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return TR_NO_MEMORY;
    tr_status status = envelope_fill(&worker->pool, envelope, type, message, ENVELOPE_INLINE_ASK);
    if (status != TR_OK) {
        envelope_give_empty(&worker->pool, envelope);
        return status;
    }
    struct gate *gate = worker->gate;
    envelope->kind = ENVELOPE_REPLY; /* they pass barriers; without a sender no ask waits for it */
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = cell_generation(cell);
    worker_set_gate(worker, NULL);
    status = tr__mail_send(worker, cell, envelope);
    worker_set_gate(worker, gate);
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    return status;
}

void tr__naps_fire(struct worker *worker, tr_time now_ns)
{
    struct timer_node *node;
    while ((node = tr__wheel_expire(&worker->naps, now_ns))) {
        struct durable *durable = LIST_OWNER(node, struct durable, nap);
        durable->hooks->on_nap(worker, durable->cell);
    }
}

void tr__stored_send(struct tr_system *system, struct cell *cell, struct envelope *envelope)
{
    /* As in actor/turn/blocking.c: the door is open as long as the actor is blocked. */
    enum door_result result = door_push(&cell->door, &envelope->mail);
    TR_ASSERT(result != DOOR_REFUSED);
    if (result == DOOR_TAKEN_POST)
        tr__system_post(system, NULL, cell);
}

void tr__stored_end(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct cell_extra *extra = cell->extra;
    envelope_give(&worker->pool, envelope);
    extra->blocked--;
    if (cell->life < LIFE_STOPPING)
        tr__restart_unblocked(worker, cell);
    else if (!extra->blocked && !cell->child_count)
        mail_call(worker, cell, CONTROL_FINISH);
}
