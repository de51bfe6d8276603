/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The orders that an actor can give to others in a turn: stop, kill, suspend and resume.
 */
#include "actor/cell/extra.h"
#include "actor/cell/slots.h"
#include "actor/cell/verb.h"
#include "actor/mail/group_address.h"
#include "actor/mail/group_pick.h"
#include "actor/mail/mail.h"
#include "actor/mail/outbox.h"
#include "actor/mail/kind.h"
#include "actor/mail/address.h"
#include "actor/mail/ready.h"

static tr_status order(struct tr_self *self, uint64_t ref, enum envelope_kind kind);

/*
 * Gives an order to a group. An order to stop or to be killed goes to the group supervisor. Any
 * other order goes to each member.
 */
static tr_status order_group(struct tr_self *self, uint64_t ref, enum envelope_kind kind)
{
    struct tr_system *system = self->worker->system;
    uint64_t supervisor = tr__group_behind(system->slots, ref);
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
    /*
     * A child that its own parent stops does not come back. CONTROL_DISMISS makes sure of that, and
     * must be set before the order arrives.
     */
    bool is_end = kind == ENVELOPE_STOP || kind == ENVELOPE_KILL;
    bool is_dismissed = is_end && cell_parent_slot(cell) == slots_number(worker->slots, self->cell);
    bool is_held = kind == ENVELOPE_STOP && outbox_holds(worker);
    if (cell_owner(cell) == worker->index && !is_held) {
        if (is_dismissed)
            atom32_fetch_or(&cell->control, CONTROL_DISMISS, ATOM_RELAXED);
        mail_look(worker, cell);
        if (kind == ENVELOPE_SUSPEND)
            tr__extra_note_suspend(worker, cell, self->cell->identity);
        tr__mail_order(cell, kind);
        mail_rouse(worker, cell);
        return TR_OK;
    }
    struct address address = {
        .kind = kind, .to = ref, .sender = self->cell->identity, .causal = self->causal};
    struct envelope *envelope;
    tr_status status = tr__mail_new(&worker->pool, address, &tr_type_tr_none, &none, &envelope);
    if (status != TR_OK)
        return status;
    if (is_dismissed)
        atom32_fetch_or(&cell->control, CONTROL_DISMISS, ATOM_RELAXED);
    status = tr__mail_send(worker, cell, envelope);
    if (status != TR_OK) {
        envelope_give(&worker->pool, envelope);
        return status;
    }
    /*
     * This bit makes the actor look at its mail at once. If the slot has another tenant by now,
     * that tenant looks and finds nothing, which does no harm.
     */
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
    /*
     * If `cell` is a child of this actor, its slot cannot get another tenant in this function,
     * because only this worker frees the slot.
     */
    uint32_t slot = (uint32_t)self->cell->identity & self->worker->slots->mask;
    if (!cell || cell_parent_slot(cell) != slot)
        return TR_NOT_FOUND;
    return order(self, ref.bits, ENVELOPE_STOP);
}
