/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/outbox.h"

#include "actor/ask/ask.h"
#include "actor/life/extra.h"
#include "actor/mail/group_address.h"
#include "actor/life/supervise.h"
#include "base/assert.h"

enum { OUTBOX_FIRST = 8 }; /* messages for which there is capacity at first */

static bool outbox_grow(struct worker *worker, struct outbox *outbox)
{
    if (outbox->count < outbox->capacity)
        return true;
    uint32_t capacity = outbox->capacity ? 2 * outbox->capacity : OUTBOX_FIRST;
    struct outbox_item *items =
        source_resize(&worker->source, outbox->items, capacity * sizeof outbox->items[0]);
    if (!items)
        return false;
    outbox->items = items;
    outbox->capacity = capacity;
    return true;
}

tr_status tr__outbox_send(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct outbox *outbox = worker->outbox;
    /* A PoisonPill comes behind what was sent before it. */
    bool is_held = envelope->kind <= ENVELOPE_NOTICE || envelope->kind == ENVELOPE_STOP;
    if (outbox->is_open || !is_held) {
        worker_set_outbox(worker, NULL);
        tr_status status = tr__mail_send(worker, cell, envelope);
        worker_set_outbox(worker, outbox);
        return status;
    }
    if (cell_is_group_address(cell))
        return TR_STOPPED; /* as ever: who sends picks a member, and what that gets is held */
    if (!outbox_grow(worker, outbox))
        return TR_NO_MEMORY;
    outbox->items[outbox->count++] = (struct outbox_item){cell, envelope};
    return TR_OK;
}

static uint64_t ref_of(const struct outbox_item *item)
{
    uint32_t slot = (uint32_t)ATOM_PEEK(&item->cell->identity);
    return (uint64_t)item->envelope->generation << 32 | slot;
}

/* Sends what was held. Who was found when that began may have ended since, and another lives there. */
static tr_status send_on(struct worker *worker, const struct outbox_item *item)
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
static void bury(struct worker *worker, const struct outbox_item *item, tr_status reason)
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

void tr__outbox_release(struct worker *worker, struct outbox *outbox)
{
    struct outbox *outer = worker->outbox;
    worker_set_outbox(worker, NULL); /* what is sent now has waited */
    for (uint32_t i = 0; i < outbox->count; i++) {
        const struct outbox_item *item = &outbox->items[i];
        tr_status status = send_on(worker, item);
        if (status != TR_OK)
            bury(worker, item, status);
    }
    worker_set_outbox(worker, outer);
    source_resize(&worker->source, outbox->items, 0);
    outbox->items = NULL;
    outbox->count = 0;
    outbox->capacity = 0;
}

void tr__outbox_drop(struct worker *worker, struct outbox *outbox, tr_status reason)
{
    struct outbox *outer = worker->outbox;
    worker_set_outbox(worker, NULL);
    for (uint32_t i = 0; i < outbox->count; i++) {
        const struct outbox_item *item = &outbox->items[i];
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
    worker_set_outbox(worker, outer);
    source_resize(&worker->source, outbox->items, 0);
    outbox->items = NULL;
    outbox->count = 0;
    outbox->capacity = 0;
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
    cell->extra->waits.blocked++;
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
    struct outbox *outbox = worker->outbox;
    envelope->kind = ENVELOPE_REPLY; /* they pass barriers; without a sender no ask waits for it */
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = cell_generation(cell);
    worker_set_outbox(worker, NULL);
    status = tr__mail_send(worker, cell, envelope);
    worker_set_outbox(worker, outbox);
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    return status;
}

void tr__wake_timers_fire(struct worker *worker, tr_time now_ns)
{
    struct timer_node *node;
    while ((node = tr__wheel_expire(&worker->timers.wake_timers, now_ns))) {
        struct durable *durable = LIST_OWNER(node, struct durable, wake_timer);
        durable->hooks->on_wake_timer(worker, durable->cell);
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
    extra->waits.blocked--;
    if (cell->life < LIFE_STOPPING)
        tr__restart_unblocked(worker, cell);
    else if (!extra->waits.blocked && !cell->child_count)
        cell_set_control(worker, cell, CONTROL_FINISH);
}
