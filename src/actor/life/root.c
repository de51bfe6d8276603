/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/root.h"

#include "actor/mail/mail.h"
#include "actor/life/supervise.h"
#include "base/assert.h"

/* Whether arguments wait in a ring: an incarnation that failed before it handled them has left them. */
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
    const struct tr_args *args = worker->system->user.root.args;
    if (!args || cell->origin->spec != &worker->system->user.root.spec)
        return true;
    TR_ASSERT(!(cell->flags & CELL_BARRIER)); /* no turn waits: all mail is in the two rings */
    if (has_args(cell->cycle) || has_args(cell->notices))
        return true;
    struct envelope *envelope = envelope_take(&worker->pool);
    tr_status status = TR_NO_MEMORY;
    if (envelope)
        status = envelope_fill(&worker->pool, envelope, &tr_type_tr_args, args, ENVELOPE_INLINE);
    if (status != TR_OK) {
        if (envelope)
            envelope_give_empty(&worker->pool, envelope);
        tr_error error = {.status = status, .text = "the arguments of the program"};
        tr__cell_fail(worker, cell, "tr_args", &error);
        return false;
    }
    envelope->kind = ENVELOPE_NOTICE;
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = cell_generation(cell);
    atom64_count(&worker->counters.accepted, 1);
    mail_count(cell, envelope);
    tr__capacity_take_back(cell, mail_lines(envelope));
    /* Before all that has arrived. */
    struct envelope *first = NULL;
    ring_push(&first, envelope);
    ring_join(&first, &cell->cycle);
    cell->cycle = first;
    return true;
}
