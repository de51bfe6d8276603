/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/root.h"

#include "actor/cell/upcalls.h"
#include "actor/mail/capacity.h"
#include "actor/mail/cycle.h"
#include "actor/mail/mail.h"
#include "base/assert.h"
#include "actor/mail/kind.h"
#include "actor/mail/address.h"

/*
 * Whether a ring of mail has a tr_args already. An earlier incarnation may have got one that it did
 * not handle.
 */
static bool has_args(const struct envelope *last)
{
    const struct envelope *envelope = last;
    while (envelope) {
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
        if (envelope->kind == ENVELOPE_NOTICE && tr_type_is_equal(envelope->type, &tr_type_tr_args))
            return true;
        if (envelope == last)
            return false;
    }
    return false;
}

bool tr__root_args(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct tr_args *args = worker->system->user.root.args;
    if (!args || origin_rare(cell->origin)->spec != &worker->system->user.root.spec)
        return true;
    TR_ASSERT(!(cell->flags & CELL_BARRIER)); /* no turn is parked */
    if (has_args(cell->cycle) || (cell->extra && has_args(cell->extra->mail.held)) ||
        has_args(cell->notices))
        return true;
    struct address address = {.kind = ENVELOPE_NOTICE, .to = cell->identity};
    struct envelope *envelope;
    tr_status status = tr__mail_new(&worker->pool, address, &tr_type_tr_args, args, &envelope);
    if (status != TR_OK) {
        tr_error error = {.status = status, .text = "the arguments of the program"};
        tr__cell_fail(worker, cell, "tr_args", &error);
        return false;
    }
    atom64_count(&worker->counters.accepted, 1);
    mail_count(cell, envelope);
    tr__capacity_take_back(cell, mail_lines(envelope));
    /* Puts the tr_args before all mail that has arrived. */
    struct envelope *first = NULL;
    ring_push(&first, envelope);
    tr__mail_put_first(cell, first);
    return true;
}
