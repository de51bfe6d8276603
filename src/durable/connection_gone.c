/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/connection_gone.h"

#include "actor/cell/slots.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "base/assert.h"
#include "durable/connections.h"
#include "durable/host.h"

static void send_gone(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                      struct tr_durable_disconnect gone)
{
    enum { TRIES = 3 };
    if (atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED))
        /* The row of the connection stays in the store. The next process finds the row and ends the
         * connection. */
        return;
    for (int i = 0; i < TRIES; i++) {
        uint64_t bits;
        struct envelope *envelope;
        if (tr__host_wake(worker, kind, key, &bits) != TR_OK)
            return;
        struct address address = {.kind = ENVELOPE_NOTICE, .to = bits};
        struct cell *cell = slots_find(worker->slots, bits);
        if (!cell ||
            tr__mail_new(
                &worker->pool, address, &tr_type_tr_durable_disconnect, &gone, &envelope) != TR_OK)
            continue;
        if (tr__mail_send_now(worker, cell, envelope) == TR_OK)
            return;
        envelope_give(&worker->pool, envelope);
    }
}

void tr__connection_gone(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                         uint64_t number, int code)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    send_gone(worker, kind, key, (struct tr_durable_disconnect){.number = number, .code = code});
}

void tr__connection_unwanted(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                             uint64_t session, uint64_t channel)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    send_gone(worker,
              kind,
              key,
              (struct tr_durable_disconnect){
                  .code = CONNECTION_LOST, .session = session, .channel = channel});
}
