/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/refusal.h"

#include "actor/cell/slots.h"
#include "actor/mail/mail.h"
#include "mem/envelope.h"
#include "wire/copy.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

#include <stdio.h>

struct envelope *tr__request_stand_in(struct worker *worker, const struct envelope *request)
{
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return NULL;
    /* `sender` is the asker, because tr__ask_refuse sends the stand-in to its `sender`. */
    struct address address = {.kind = ENVELOPE_EXCEPTION,
                              .sender = request->sender,
                              .causal = request->causal,
                              .number = request->payload.ask.id,
                              .deadline_ms = request->payload.ask.deadline_ms};
    mail_fill_inside(&worker->pool, envelope, address, &tr_type_tr_ask_ended, NULL, 0);
    return envelope;
}

void tr__ask_become_ended(struct envelope *envelope, tr_status status, int code)
{
    struct tr_ask_ended ended = {.status = status, .code = code};
    /*
     * Drop only what the block contains. The block itself stays, because it belongs to the
     * envelope's home.
     */
    if (envelope->block_class != ENVELOPE_NO_BLOCK && !envelope->type->is_flat)
        tr__copy_drop(envelope->type, envelope->payload.block.data);
    memcpy(envelope_data(envelope), &ended, sizeof ended);
    envelope->type = &tr_type_tr_ask_ended;
}

void tr__ask_read_error(struct envelope *envelope, tr_error *error)
{
    if (tr_type_is_equal(envelope->type, &tr_type_tr_ask_failed)) {
        const struct tr_ask_failed *failed = envelope_data(envelope);
        error->status = (tr_status)failed->status;
        error->code = failed->code;
        snprintf(error->text, sizeof error->text, "%s", failed->text ? failed->text : "");
    } else {
        const struct tr_ask_ended *ended = envelope_data(envelope);
        error->status = (tr_status)ended->status;
        error->code = tr__refusal_is_unbegun(envelope) ? 0 : ended->code;
    }
}

bool tr__refusal_is_unbegun(struct envelope *answer)
{
    if (answer->kind != ENVELOPE_EXCEPTION ||
        !tr_type_is_equal(answer->type, &tr_type_tr_ask_ended))
        return false;
    const struct tr_ask_ended *ended = envelope_data(answer);
    return ended->code == REFUSAL_UNBEGUN && ended->status != TR_REFUSED;
}

/* Makes an EXCEPTION with a text. Returns NULL when there is no memory for it. */
static struct envelope *words_new(struct worker *worker, const struct envelope *request,
                                  tr_status status, int code, const char *text)
{
    struct tr_ask_failed failed = {.status = status, .code = code, .text = text};
    struct envelope *envelope = tr__request_stand_in(worker, request);
    if (!envelope)
        return NULL;
    if (envelope_fill(
            &worker->pool, envelope, &tr_type_tr_ask_failed, &failed, ENVELOPE_INLINE_ASK) == TR_OK)
        return envelope;
    envelope_give_empty(&worker->pool, envelope);
    return NULL;
}

void tr__ask_refuse(struct worker *worker, struct envelope *envelope, uint64_t from,
                    tr_status status, int code, const char *text)
{
    uint64_t to = envelope->sender;
    struct cell *cell = slots_find(worker->slots, to);
    struct envelope *words = NULL;
    if (cell && text)
        words = words_new(worker, envelope, status, code, text);
    if (!cell || words)
        envelope_give(&worker->pool, envelope);
    else
        tr__ask_become_ended(envelope, status, code);
    if (!cell)
        return;
    if (words)
        envelope = words;
    mail_readdress(envelope, ENVELOPE_EXCEPTION, to, from);
    if (tr__mail_send(worker, cell, envelope) != TR_OK)
        envelope_give(&worker->pool, envelope);
}
