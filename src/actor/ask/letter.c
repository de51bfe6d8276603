/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/letter.h"

#include "actor/cell/slots.h"
#include "actor/cell/worker.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"

struct envelope *tr__letter_new(struct worker *worker, uint64_t number, int32_t messages,
                                int32_t lines)
{
    struct tr_capacity capacity = {.number = number, .messages = messages, .lines = lines};
    struct address address = {.kind = ENVELOPE_WANTED}; /* tr__letter_send sets the rest */
    struct envelope *envelope = NULL;
    tr_status status = mail_new(&worker->pool, address, &tr_type_tr_capacity, &capacity, &envelope);
    return status == TR_OK ? envelope : NULL;
}

bool tr__letter_send(struct worker *worker, struct envelope *envelope, enum envelope_kind kind,
                     uint64_t to, uint64_t from)
{
    struct cell *cell = slots_find(worker->slots, to);
    mail_readdress(envelope, kind, to, from);
    if (cell && tr__mail_send(worker, cell, envelope) == TR_OK)
        return true;
    envelope_give(&worker->pool, envelope);
    return false;
}
