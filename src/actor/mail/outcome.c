/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/outcome.h"

#include "actor/cell/slots.h"
#include "actor/mail/mail.h"
#include "mem/envelope.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

/* Sends a tr_outcome to a client. If the client is gone, or there is no memory, does nothing. */
static void notify(struct worker *worker, uint64_t client, const struct tr_outcome *message)
{
    struct address address = {.kind = ENVELOPE_OUTCOME, .to = client};
    struct cell *cell = slots_find(worker->slots, client);
    struct envelope *envelope;
    if (cell &&
        tr__mail_new(&worker->pool, address, &tr_type_tr_outcome, message, &envelope) == TR_OK)
        tr__mail_send_any(worker->system, worker, cell, envelope);
}

void tr__probe_answer(struct worker *worker, struct envelope *envelope, bool is_up)
{
    struct tr_probe *probe = envelope_data(envelope);
    uint64_t client = envelope->sender;
    struct cell *cell = slots_find(worker->slots, client);
    if (!cell) {
        envelope_give(&worker->pool, envelope);
        return;
    }
    probe->status = is_up ? TR_OK : TR_STOPPED;
    mail_readdress(envelope, ENVELOPE_OUTCOME, client, 0);
    tr__mail_send_any(worker->system, worker, cell, envelope);
}

void tr__outcome_send(struct worker *worker, uint64_t client, uint64_t ref, const tr_error *error)
{
    notify(worker,
           client,
           &(struct tr_outcome){
               .ref = ref, .status = error->status, .text = error->text, .where = error->where});
}
