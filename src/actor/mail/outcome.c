/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/outcome.h"

#include "actor/mail/mail.h"
#include "mem/envelope.h"

/* Sends one of the runtime's own messages from a worker. */
static void notify(struct worker *worker, uint64_t client, const struct tr_outcome *message)
{
    struct cell *cell = slots_find(worker->slots, client);
    struct envelope *envelope = cell ? envelope_take(&worker->pool) : NULL;
    if (!envelope)
        return;
    if (envelope_fill(&worker->pool, envelope, &tr_type_tr_outcome, message, ENVELOPE_INLINE) !=
        TR_OK) {
        envelope_give_empty(&worker->pool, envelope);
        return;
    }
    envelope->kind = ENVELOPE_OUTCOME;
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = (uint32_t)(client >> 32);
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
    envelope->kind = ENVELOPE_OUTCOME;
    envelope->sender = 0;
    envelope->generation = (uint32_t)(client >> 32);
    tr__mail_send_any(worker->system, worker, cell, envelope);
}

void tr__outcome_send(struct worker *worker, uint64_t client, uint64_t ref, const tr_error *error)
{
    notify(worker,
           client,
           &(struct tr_outcome){
               .ref = ref, .status = error->status, .text = error->text, .where = error->where});
}
