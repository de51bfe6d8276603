/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/slots.h"
#include "actor/mail/address.h"

#include "actor/cell/system.h"
#include "actor/mail/mail.h"
#include "actor/cell/overflow.h"
#include "base/assert.h"
#include "wire/type.h"
#include "actor/mail/group_pick.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/group_address.h"
#include "actor/mail/kind.h"
#include "pool/local_transport.h"

/*
 * A parcel is an envelope. A sender fills the envelope, and a receiver empties it. No code in
 * between looks inside.
 */
static struct envelope *envelope_of(const tr_parcel *parcel)
{
    return (struct envelope *)(uintptr_t)parcel;
}

/*
 * Drops a parcel, because the overflow policy of its receiver drops the newest message. The parcel
 * counts as taken.
 */
static void drop_newest(struct tr_system *system, tr_ref to, tr_parcel *parcel)
{
    struct dead_letter letter = {
        .type = tr_parcel_type(parcel),
        .from = tr_parcel_from(parcel).bits,
        .to = to.bits,
        .reason = TR_MAILBOX_FULL,
    };
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.accepted, 1);
    atom64_count(&system->foreign.counters.dead, 1);
    lock_give(&system->foreign.lock);
    tr__dead_letter(system, NULL, &letter);
    tr_parcel_free(system, parcel);
}

static tr_status transport_send(tr_transport *table, tr_place place, tr_ref to, tr_parcel *parcel)
{
    struct tr_system *system = ((struct local_transport *)(void *)table)->system;
    struct envelope *envelope = envelope_of(parcel);
    if (!parcel)
        return TR_INVALID_ARGUMENT;
    /*
     * Accept closed workers too. Actors that cannot move stay on a closed worker, and still get
     * messages.
     */
    if (place >= system->worker_count)
        return TR_NOT_FOUND;
    struct cell *cell = slots_find(system->slots, to.bits);
    if (!cell)
        return TR_STOPPED;
    /* `place` may be outdated. So the message goes to the owner that is in the door of the cell. */
    mail_redirect(envelope, to.bits);
    tr_status status = cell_is_group_address(cell)
                           ? tr__group_send_outside(system, envelope, &cell, &to.bits)
                           : tr__mail_send_outside(system, cell, envelope);
    if (status == TR_MAILBOX_FULL && mailbox_overflow_has(cell, OVERFLOW_SWALLOWS)) {
        drop_newest(system, to, parcel);
        return TR_OK;
    }
    return status;
}

void tr__local_transport_init(struct local_transport *transport, struct tr_system *system)
{
    transport->table = (tr_transport){.size = sizeof transport->table, .send = transport_send};
    transport->system = system;
}

tr_status tr_parcel_new(tr_system *system, tr_ref from, const tr_type *type, const void *message,
                        tr_parcel **parcel)
{
    const char *why;
    if (!system || !message || !parcel || !type || !tr__type_is_valid(type, &why))
        return TR_INVALID_ARGUMENT;
    struct address address = {.kind = ENVELOPE_NOTICE, .sender = from.bits};
    struct envelope *envelope;
    lock_take(&system->foreign.lock);
    tr_status status = tr__mail_new(&system->foreign.pool, address, type, message, &envelope);
    lock_give(&system->foreign.lock);
    if (status != TR_OK)
        return status;
    envelope->causal = hash_mix((uintptr_t)envelope ^ from.bits);
    *parcel = (tr_parcel *)(void *)envelope;
    return TR_OK;
}

void tr_parcel_free(tr_system *system, tr_parcel *parcel)
{
    if (!parcel)
        return;
    TR_ASSERT(system); /* this needs the memory source of the system */
    lock_take(&system->foreign.lock);
    envelope_give(&system->foreign.pool, envelope_of(parcel));
    lock_give(&system->foreign.lock);
}

const tr_type *tr_parcel_type(const tr_parcel *parcel)
{
    return parcel ? envelope_of(parcel)->type : NULL;
}

const void *tr_parcel_message(const tr_parcel *parcel)
{
    return parcel ? envelope_data(envelope_of(parcel)) : NULL;
}

tr_ref tr_parcel_from(const tr_parcel *parcel)
{
    return parcel ? tr_ref_from_bits(envelope_of(parcel)->sender) : TR_NOBODY;
}
