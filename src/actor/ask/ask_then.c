/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/ask_then.h"

#include <string.h>
#include <troupe/ask.h>

#include "actor/ask/ask.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/signal.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/mail/mail.h"
#include "actor/mail/ready.h"
#include "base/assert.h"
#include "actor/mail/kind.h"
#include "actor/mail/address.h"

static_assert(sizeof(struct tr_answered) <= ENVELOPE_INLINE, "a carrier has no block");

static struct ask *ask_of_carrier(struct envelope *carrier)
{
    const struct tr_answered *answered = envelope_data(carrier);
    return (struct ask *)(uintptr_t)answered->ask;
}

void tr__then_due(struct worker *worker, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct envelope *carrier = ask->carrier;
    struct cell *cell = (struct cell *)(void *)carrier->mail.next;
    bool is_reply = ask->status == TR_OK;
    carrier->kind = is_reply ? ENVELOPE_REPLY : ENVELOPE_EXCEPTION;
    atom64_count(&worker->counters.accepted, 1);
    if (cell->flags & CELL_METERED)
        tr__budget_mail(worker, cell, carrier);
    mail_count(cell, carrier);
    cell->flags |= CELL_MIXED;
    if (ask->is_in_order)
        ring_push(&cell->notices, carrier);
    else
        ring_push(is_reply ? &cell->replies : &cell->exceptions, carrier);
    if (mail_is_idle(cell))
        mail_make_ready(worker, cell);
}

static bool is_state_of(const tr_then *then, const tr_behavior *behavior)
{
    return then->state_size == behavior->state_size &&
           strcmp(then->state_name, behavior->state_name) == 0;
}

const tr_handler *tr__then_begin(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct cell *cell = self->cell;
    const struct tr_answered *answered = envelope_data(self->envelope);
    const tr_then *then = (const tr_then *)(uintptr_t)answered->then;
    struct ask *ask = ask_of_carrier(self->envelope);
    TR_ASSERT(ask->carrier == self->envelope);
    ask->carrier = NULL;
    cell->extra->asks.then_count--;
    if (!is_state_of(then, cell->dispatch->behavior)) {
        tr__ask_end(self->worker, cell, ask);
        return NULL;
    }
    ask->turn = self;
    if (!turn_asks_add(self, ask))
        TR_NOT_REACHED("a turn without capacity for its first ask");
    return &then->handler;
}

void tr__thens_drop(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    struct ask_table *table = &extra->asks.table;
    uint32_t mask = table->mask;
    uint32_t place = 0;
    while (extra->asks.then_count) {
        struct ask *ask = table->newest ? table->newest : table->slots[place];
        if (!ask) {
            place++;
            continue;
        }
        TR_ASSERT(ask->carrier); /* all turns are over, so only asks of tr_ask_then are left */
        if (ask->is_done) {
            ask->carrier->kind = ENVELOPE_VOID;
            /* subtract the carrier from `accepted` again, as if it had never been accepted */
            atom64_count(&worker->counters.accepted, UINT64_MAX);
        } else {
            envelope_give(&worker->pool, ask->carrier);
        }
        extra->asks.then_count--;
        tr__ask_end(worker, cell, ask);
        /*
         * Look at this place of the table again, because another ask may have moved there. If the
         * table has shrunk, start from its beginning, because any ask may have moved.
         */
        if (table->mask != mask)
            place = 0;
        mask = table->mask;
    }
}

static tr_status ask_then(struct tr_self *self, const tr_then *then, void *context, tr_ref to,
                          const void *message, tr_time timeout_ns, bool is_in_order)
{
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (self->cell->life >= LIFE_STOPPING)
        return TR_STOPPING;
    if (cell_durable(self->cell))
        /* a durable actor would not store the changes of the function that handles the answer */
        return TR_NOT_SUPPORTED;
    struct worker *worker = self->worker;
    struct ask *ask = tr__ask_new(self, to.bits, then->handler.type);
    if (!ask)
        return TR_NO_MEMORY;
    const struct tr_answered answered = {.ask = (uint64_t)(uintptr_t)ask,
                                         .then = (uint64_t)(uintptr_t)then,
                                         .context = (uint64_t)(uintptr_t)context};
    /* tr__then_due sets the kind of the carrier when the outcome of the ask is known. */
    struct address address = {
        .kind = ENVELOPE_VOID, .to = self->cell->identity, .causal = self->causal};
    struct envelope *carrier;
    tr_status status = tr__mail_new(&worker->pool, address, &tr__then_type, &answered, &carrier);
    if (status != TR_OK) {
        tr__ask_end(worker, self->cell, ask);
        return status;
    }
    carrier->mail.next = (struct door_mail *)(void *)self->cell;
    ask->carrier = carrier;
    ask->is_in_order = is_in_order;
    ask->turn = NULL;
    self->cell->extra->asks.then_count++;
    tr__ask_send(self, ask, message, timeout_ns);
    return TR_OK;
}

tr_status tr_self_try_ask_then(tr_self *self, const tr_then *then, void *context, tr_ref to,
                               const void *message, tr_time timeout_ns)
{
    TURN_VERB(self);
    if (!self || !then || !message)
        return TR_INVALID_ARGUMENT;
    return ask_then(self, then, context, to, message, timeout_ns, false);
}

tr_status tr__ask_then_in_order(struct tr_self *self, const tr_then *then, void *context, tr_ref to,
                                const void *message, tr_time timeout_ns)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    return ask_then(self, then, context, to, message, timeout_ns, true);
}

void tr_self_ask_then(tr_self *self, const tr_then *then, void *context, tr_ref to,
                      const void *message, tr_time timeout_ns)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* tr_crash below ends a turn, so there must be a turn */
    tr_status status = tr_self_try_ask_then(self, then, context, to, message, timeout_ns);
    if (status != TR_OK)
        tr_crash(self, status, "tr_ask_then: %s", tr_status_text(status));
}

tr_answer tr_self_answer(tr_self *self)
{
    TURN_VERB(self);
    static const tr_error no_error = {.status = TR_OK};
    if (!self || !self->envelope || self->envelope->type != &tr__then_type)
        return (tr_answer){.status = TR_INVALID_ARGUMENT, .why = &no_error};
    const struct tr_answered *answered = envelope_data(self->envelope);
    const struct ask *ask = ask_of_carrier(self->envelope);
    tr_answer answer = {
        .status = ask->status, .why = &no_error, .context = (void *)(uintptr_t)answered->context};
    if (ask->status == TR_OK)
        answer.reply = envelope_data(ask->answer);
    else
        answer.why = tr_self_ask_error(self, ask_pending(ask));
    return answer;
}
