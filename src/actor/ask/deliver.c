/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/deliver.h"

#include "actor/ask/ask.h"
#include "actor/ask/waiters.h"
#include "actor/mail/group_address.h"
#include "actor/mail/group_pick.h"
#include "actor/cell/overflow.h"

tr_status tr__deliver_refused(struct tr_self *self, struct cell **cell, uint64_t *to,
                              struct envelope *envelope, struct ask *ask, tr_status status)
{
    struct worker *worker = self->worker;
    if (cell_is_group_address(*cell)) {
        status = tr__group_send(worker, envelope, cell, to);
        if (status == TR_OK && ask)
            deliver_note_barrier(self, *cell, ask);
    }
    if (status != TR_MAILBOX_FULL || (ask && ask->carrier))
        return status;
    if (!mailbox_overflow_has(*cell, OVERFLOW_WAITS) && !turn_is_behind(self, *to))
        return status;
    tr_time deadline_ns = TR_NEVER;
    if (ask) {
        tr__asks_settle(worker); /* if the ask is untimed, this sets its deadline */
        deadline_ns = ask->timeout.deadline_ns;
    }
    return tr__turn_wait_for_capacity(self, *cell, envelope, deadline_ns);
}
