/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/outbox.h"

#include "actor/cell/channel.h"
#include "actor/cell/durable.h"
#include "actor/cell/follow.h"
#include "actor/cell/post.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/worker.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/mail/ready.h"
#include "actor/mail/refusal.h"
#include "base/assert.h"
#include "actor/mail/kind.h"
#include "actor/mail/address.h"

enum { OUTBOX_FIRST = 8 }; /* how many items the first allocation has */

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

static tr_status outbox_send(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct outbox *outbox = worker->outbox_turn->outbox;
    if (outbox->is_open || !kind_has(envelope->kind, MAIL_IS_HELD))
        return tr__mail_send_now(worker, cell, envelope);
    if (cell_is_group_address(cell))
        /*
         * A group address refuses every message. The sender then picks a member, and the outbox
         * holds the message to that member.
         */
        return TR_STOPPED;
    if (!outbox_grow(worker, outbox))
        return TR_NO_MEMORY;
    outbox->items[outbox->count++] = (struct outbox_item){.cell = cell, .envelope = envelope};
    return TR_OK;
}

tr_status tr__outbox_send(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (!worker->outbox_turn->followed || !kind_has(envelope->kind, MAIL_IS_HELD))
        return outbox_send(worker, cell, envelope);
    const struct tr_platform *platform = worker->system->platform;
    /*
     * Record the time and the receiver before the message is sent. Right after the sending, the
     * envelope may be gone, and another worker may have begun the turn of the message.
     */
    const struct follow_event sent = {.time_ns = platform->mono_now(platform),
                                      .causal = envelope->causal,
                                      .other = (uint64_t)envelope->generation << 32 |
                                               (uint32_t)ATOM_PEEK(&cell->identity),
                                      .type = envelope->type,
                                      .kind = envelope->kind};
    tr_status status = outbox_send(worker, cell, envelope);
    tr__follow_sent(worker, &sent, status);
    return status;
}

tr_status tr__outbox_hold(struct worker *worker, struct channel_effect *effect)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    TR_ASSERT(outbox_holds(worker));
    struct outbox *outbox = worker->outbox_turn->outbox;
    if (!outbox_grow(worker, outbox))
        return TR_NO_MEMORY;
    outbox->items[outbox->count++] = (struct outbox_item){.effect = effect};
    return TR_OK;
}

struct channel_effect *tr__outbox_last_effect(const struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    const struct outbox *outbox = worker->outbox_turn->outbox;
    if (!outbox->count || outbox->items[outbox->count - 1].cell)
        return NULL;
    return outbox->items[outbox->count - 1].effect;
}

static uint64_t ref_of(const struct outbox_item *item)
{
    uint32_t slot = (uint32_t)ATOM_PEEK(&item->cell->identity);
    return (uint64_t)item->envelope->generation << 32 | slot;
}

/*
 * Sends a message that the outbox held. Looks its receiver up again, because the receiver may have
 * ended by now, and its slot may have another tenant.
 */
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

/* Makes a dead letter of a message that will not be delivered. Takes the envelope. */
static void bury(struct worker *worker, const struct outbox_item *item, tr_status reason)
{
    struct envelope *envelope = item->envelope;
    uint64_t to = ref_of(item);
    if (envelope->kind == ENVELOPE_STOP) {
        envelope_give(&worker->pool, envelope); /* a PoisonPill is no message */
        return;
    }
    atom64_count(&worker->counters.refused, 1);
    tr__dead_letter(worker->system,
                    worker,
                    &(struct dead_letter){.type = envelope->type,
                                          .message = envelope_data(envelope),
                                          .size = mail_bytes(envelope),
                                          .from = envelope->sender,
                                          .to = to,
                                          .reason = reason});
    if (envelope->kind == ENVELOPE_ASK)
        tr__ask_refuse(worker, envelope, to, reason, REFUSAL_UNBEGUN, NULL);
    else
        envelope_give(&worker->pool, envelope);
}

void tr__outbox_release(struct worker *worker, struct outbox *outbox)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_self *held = worker_hold_sends(worker, NULL); /* do not hold these messages again */
    for (uint32_t i = 0; i < outbox->count; i++) {
        const struct outbox_item *item = &outbox->items[i];
        if (!item->cell) {
            worker->channels.hooks->on_release(worker, item->effect);
            continue;
        }
        tr_status status = send_on(worker, item);
        if (status != TR_OK)
            bury(worker, item, status);
    }
    (void)worker_hold_sends(worker, held);
    source_resize(&worker->source, outbox->items, 0);
    outbox->items = NULL;
    outbox->count = 0;
    outbox->capacity = 0;
}

void tr__outbox_drop(struct worker *worker, struct outbox *outbox, tr_status reason)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_self *held = worker_hold_sends(worker, NULL);
    for (uint32_t i = 0; i < outbox->count; i++) {
        const struct outbox_item *item = &outbox->items[i];
        struct envelope *envelope = item->envelope;
        if (!item->cell) {
            worker->channels.hooks->on_drop(worker, item->effect);
            continue;
        }
        if (!mail_is_answer(envelope)) {
            bury(worker, item, reason);
            continue;
        }
        /* The asker waits for this reply: turn the reply into a tr_ask_ended. */
        tr__ask_become_ended(envelope, reason, 0);
        mail_readdress(envelope, ENVELOPE_EXCEPTION, ref_of(item), envelope->sender);
        if (send_on(worker, item) != TR_OK)
            envelope_give(&worker->pool, envelope);
    }
    (void)worker_hold_sends(worker, held);
    source_resize(&worker->source, outbox->items, 0);
    outbox->items = NULL;
    outbox->count = 0;
    outbox->capacity = 0;
}

struct envelope *tr__stored_new(struct worker *worker, struct cell *cell, uint64_t token)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct tr_stored stored = {.token = token};
    struct address address = {
        .kind = ENVELOPE_STORED, .to = cell->identity, .sender = cell->identity};
    struct envelope *envelope;
    if (tr__mail_new(&worker->pool, address, &tr_type_tr_stored, &stored, &envelope) != TR_OK)
        return NULL;
    cell->extra->waits.blocked++;
    return envelope;
}

tr_status tr__durable_tell(struct worker *worker, struct cell *cell, const tr_type *type,
                           const void *message)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    /*
     * Send the message as a REPLY, because a REPLY passes barriers. It has no sender, because a
     * REPLY without a sender answers no ask.
     */
    struct address address = {.kind = ENVELOPE_REPLY, .to = cell->identity};
    struct envelope *envelope;
    tr_status status = tr__mail_new(&worker->pool, address, type, message, &envelope);
    if (status != TR_OK)
        return status;
    status = tr__mail_send_now(worker, cell, envelope);
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    return status;
}

void tr__wake_timers_fire(struct worker *worker, tr_time now_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct timer_node *node;
    while ((node = tr__wheel_expire(&worker->timers.wake_timers, now_ns))) {
        struct durable *durable = LIST_OWNER(node, struct durable, wake_timer);
        durable->hooks->on_wake_timer(worker, durable->cell);
    }
}

void tr__stored_send(struct tr_system *system, struct cell *cell, struct envelope *envelope)
{
    /*
     * The door cannot refuse the envelope: a door stays open while waits.blocked is not 0.
     * actor/turn/blocking.c relies on this too.
     */
    enum door_result result = door_push(&cell->door, &envelope->mail);
    TR_ASSERT(result != DOOR_REFUSED);
    if (result == DOOR_TAKEN_POST)
        tr__system_post(system, NULL, cell);
}

void tr__stored_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    cell_durable(cell)->hooks->on_stored(worker, cell, envelope);
}

void tr__stored_end(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    envelope_give(&worker->pool, envelope);
    extra->waits.blocked--;
    if (cell->life < LIFE_STOPPING)
        tr__restart_unblocked(worker, cell);
    else if (!extra->waits.blocked && !cell->child_count)
        cell_set_control(worker, cell, CONTROL_FINISH);
}
