/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Delivery: how an envelope gets from a turn to its receiver. Tell, ask, reply and forward all call
 * the one function deliver. For the most frequent cases, a verb first tries a quick way:
 * send_quickly of verbs/self.c, ask_quickly of ask.c or ask_reply_quickly of ask_open.h. Without
 * these quick ways a tell and an ask take a quarter more instructions (docs/design/hot-path.md).
 *
 * `kind` and `flags` are constants in each call, and the function is inline. So each verb gets its
 * own copy, which has only the code for its kind: see actor/mail/kind.h. The function tries, in
 * this order:
 *   1. the quick way, into the mailbox of an actor of this worker with nothing unusual;
 *   2. tr__mail_send: into the outbox of a durable turn, to an actor of this worker, to another
 *      worker, to a client;
 *   3. tr__deliver_refused, for a message that takes capacity and was refused. If the receiver is a
 *      group, it sends the message to a member. If the turn may wait, it waits for capacity.
 */
#ifndef ACTOR_ASK_DELIVER_H
#define ACTOR_ASK_DELIVER_H

#include "actor/cell/ask_table.h"
#include "actor/ask/line.h"
#include "actor/mail/mail.h"
#include "actor/mail/kind.h"
#include "actor/mail/send.h"
#include "base/assert.h"

enum deliver_flag {
    DELIVER_QUICKLY = 1 << 0 /* try the quick way first, because the verb itself has not tried it */
};

/**
 * Does the rest of `deliver` for a message that takes capacity. Either the mailbox has refused the
 * message with `status`, or the message must wait for other turns of the line (actor/ask/line.h).
 * Returns what deliver returns. May wait, except for an ask of tr_ask_then.
 */
tr_status tr__deliver_refused(struct tr_self *self, struct cell **cell, uint64_t *to,
                              struct envelope *envelope, struct ask *ask, tr_status status);

/**
 * Notes in a turn that it has sent a request to an actor behind a barrier. The search for cycles
 * needs this.
 */
ATOM_INLINE void deliver_note_barrier(struct tr_self *self, const struct cell *cell,
                                      const struct ask *ask)
{
    bool is_held = cell_owner(cell) == self->worker->index && cell->flags & CELL_BARRIER;
    if (is_held && !ask->carrier && self->envelope->kind == ENVELOPE_ASK)
        self->asks_barrier = true;
}

/**
 * Sends an envelope that is addressed to `*to`, whose cell is `*cell`. If the receiver is a group,
 * sets *cell and *to to the member that takes the envelope. If the envelope is a request, `ask` is
 * the ask of this turn to which the request belongs. For other envelopes, `ask` is NULL. On TR_OK
 * the receiver has accepted the envelope. On any other status the envelope was refused, and still
 * belongs to the caller. Worker only.
 */
ATOM_INLINE tr_status deliver(struct tr_self *self, struct cell **cell, uint64_t *to,
                              struct envelope *envelope, struct ask *ask, enum envelope_kind kind,
                              uint32_t flags)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    TR_ASSERT_SLOW(envelope->kind == kind);
    if (!kind_has(kind, MAIL_TAKES_CAPACITY))
        return tr__mail_send(worker, *cell, envelope);
    if (flags & DELIVER_QUICKLY && envelope->block_class == ENVELOPE_NO_BLOCK &&
        mail_fits_fast(worker, *cell, kind) && !self->is_behind) {
        mail_send_quickly(worker, *cell, envelope);
        return TR_OK;
    }
    tr_status status = TR_MAILBOX_FULL;
    if (!turn_is_behind(self, *to))
        status = tr__mail_send(worker, *cell, envelope);
    if (__builtin_expect(status != TR_OK, 0))
        return tr__deliver_refused(self, cell, to, envelope, ask, status);
    if (ask)
        deliver_note_barrier(self, *cell, ask);
    return TR_OK;
}

#endif
