/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What an actor can order others to do in a turn: stop, be killed, be suspended, go on.
 */
#include "actor/mail/outbox.h"
#include "actor/mail/mail.h"
#include "actor/system/thread_handoff.h"
#include "actor/turn/turn.h"
#include "actor/verbs/why.h"

static tr_status order(struct tr_self *self, uint64_t ref, enum envelope_kind kind);

/* To a group: its end is the group supervisor's, the rest goes to each member. */
static tr_status order_group(struct tr_self *self, uint64_t ref, enum envelope_kind kind)
{
    struct tr_system *system = self->worker->system;
    uint64_t supervisor = tr__group_behind(&system->slots, ref);
    tr_status status = TR_STOPPED;
    if (kind == ENVELOPE_STOP || kind == ENVELOPE_KILL) {
        if (supervisor != ref)
            status = order(self, supervisor, kind);
        if (status == TR_OK)
            tr__group_close(system, ref);
        return status;
    }
    uint64_t member;
    for (struct group_walk walk = tr__group_all(system, ref); tr__group_each(&walk, &member);) {
        tr_status one = order(self, member, kind);
        if (one != TR_STOPPED)
            status = one;
        if (one == TR_NO_MEMORY || one == TR_CANCELLED)
            break;
    }
    return status;
}

static tr_status order(struct tr_self *self, uint64_t ref, enum envelope_kind kind)
{
    static const struct tr_none none;
    if (!self)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    struct worker *worker = self->worker;
    struct cell *cell = slots_find(worker->slots, ref);
    if (!cell || cell == worker->system->user.guardian)
        return TR_STOPPED;
    if (cell_is_group_address(cell))
        return order_group(self, ref, kind);
    /* A child that its parent stops does not come back. It hears of that with the order, not later. */
    bool is_end = kind == ENVELOPE_STOP || kind == ENVELOPE_KILL;
    bool is_dismissed = is_end && cell_parent_slot(cell) == slots_number(worker->slots, self->cell);
    bool is_held = kind == ENVELOPE_STOP && outbox_holds(worker);
    if (cell_owner(cell) == worker->index && !is_held) {
        if (is_dismissed)
            atom32_fetch_or(&cell->control, CONTROL_DISMISS, ATOM_RELAXED);
        mail_look(worker, cell);
        if (kind == ENVELOPE_SUSPEND)
            tr__why_suspends(worker, cell, self->cell->identity);
        tr__mail_order(cell, kind);
        mail_rouse(worker, cell);
        return TR_OK;
    }
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return TR_NO_MEMORY;
    (void)envelope_fill(&worker->pool, envelope, &tr_type_tr_none, &none, ENVELOPE_INLINE);
    envelope->kind = (uint8_t)kind;
    envelope->sender = self->cell->identity;
    envelope->causal = self->causal;
    envelope->generation = (uint32_t)(ref >> 32);
    if (is_dismissed)
        atom32_fetch_or(&cell->control, CONTROL_DISMISS, ATOM_RELAXED);
    tr_status status = tr__mail_send(worker, cell, envelope);
    if (status != TR_OK) {
        envelope_give(&worker->pool, envelope);
        return status;
    }
    /* Only a hint to look at once: whoever lives there by now may look in vain. */
    if (kind != ENVELOPE_STOP)
        atom32_fetch_or(&cell->control, CONTROL_LOOK, ATOM_RELAXED);
    return TR_OK;
}

tr_status tr_self_suspend(tr_self *self, tr_ref ref)
{
    TURN_VERB(self);
    return order(self, ref.bits, ENVELOPE_SUSPEND);
}

tr_status tr_self_resume(tr_self *self, tr_ref ref)
{
    TURN_VERB(self);
    return order(self, ref.bits, ENVELOPE_RESUME);
}

tr_status tr_self_stop(tr_self *self, tr_ref ref)
{
    TURN_VERB(self);
    return order(self, ref.bits, ENVELOPE_STOP);
}

tr_status tr_self_kill(tr_self *self, tr_ref ref)
{
    TURN_VERB(self);
    return order(self, ref.bits, ENVELOPE_KILL);
}

tr_status tr_self_stop_child(tr_self *self, tr_ref ref)
{
    TURN_VERB(self);
    if (!self)
        return TR_INVALID_ARGUMENT;
    struct cell *cell =
        slots_find(self->worker->slots, tr__group_behind(self->worker->slots, ref.bits));
    /* A child of mine cannot become another's while I look: I free its slot. */
    uint32_t slot = (uint32_t)self->cell->identity & self->worker->slots->mask;
    if (!cell || cell_parent_slot(cell) != slot)
        return TR_NOT_FOUND;
    return order(self, ref.bits, ENVELOPE_STOP);
}
