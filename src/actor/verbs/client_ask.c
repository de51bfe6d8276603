/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of clients. The thread of the client either blocks until the answer has arrived, or looks
 * for the answer from time to time.
 */
#include "actor/verbs/client_ask.h"

#include <stdio.h>
#include <string.h>

#include "actor/ask/ask.h"
#include "actor/ask/ask_trace.h"
#include "actor/cell/client.h"
#include "actor/cell/log.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/mail/group_address.h"
#include "actor/mail/refusal.h"
#include "actor/verbs/client.h"
#include "actor/verbs/client_call.h"
#include "actor/verbs/client_send.h"
#include "base/assert.h"

#define PENDING_IS_STATUS (UINT64_C(1) << 63)

enum { FEW = sizeof((struct client_asks){0}.few) / sizeof(struct client_ask *) };

/* ---- The table. ---- */

static struct client_ask **place_of(const struct client_asks *asks, uint64_t id)
{
    if (asks->places)
        return &asks->places[id & asks->mask];
    return (struct client_ask **)&asks->few[id % FEW];
}

struct client_ask *tr__client_ask_find(const struct tr_client *client, uint64_t id)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_ask *ask = *place_of(&client->asks, id);
    while (ask && ask->id != id)
        ask = ask->next;
    return ask;
}

/*
 * Gives the table another number of places. Without memory, the table keeps its size. That does no
 * harm: only the lists in the table become longer.
 */
static void table_resize(struct tr_client *client, uint32_t size)
{
    struct client_asks *asks = &client->asks;
    struct client_asks old = *asks;
    struct client_ask **places = NULL;
    if (size > FEW) {
        places = source_resize(&client->system->source, NULL, size * sizeof *places);
        if (!places)
            return;
        memset(places, 0, size * sizeof *places);
    }
    asks->places = places;
    asks->mask = size - 1;
    memset(asks->few, 0, sizeof asks->few);
    uint32_t count = old.places ? old.mask + 1 : FEW;
    for (uint32_t i = 0; i < count; i++) {
        struct client_ask *ask = old.places ? old.places[i] : old.few[i];
        while (ask) {
            struct client_ask *next = ask->next;
            struct client_ask **place = place_of(asks, ask->id);
            ask->next = *place;
            *place = ask;
            ask = next;
        }
    }
    source_resize(&client->system->source, old.places, 0);
}

static void table_add(struct tr_client *client, struct client_ask *ask)
{
    struct client_asks *asks = &client->asks;
    uint32_t size = asks->places ? asks->mask + 1 : FEW;
    if (asks->count >= size)
        table_resize(client, 2 * size);
    do {
        ask->id = ++asks->last;
    } while (!ask->id || tr__client_ask_find(client, ask->id));
    struct client_ask **place = place_of(asks, ask->id);
    ask->next = *place;
    *place = ask;
    asks->count++;
}

bool tr__client_ask_leave(struct tr_client *client, struct client_ask *ask)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_asks *asks = &client->asks;
    struct client_ask **link = place_of(asks, ask->id);
    while (*link && *link != ask)
        link = &(*link)->next;
    if (!*link)
        return false;
    *link = ask->next;
    ask->next = NULL;
    asks->count--;
    if (asks->places && 8 * asks->count <= asks->mask)
        table_resize(client, (asks->mask + 1) / 4);
    return true;
}

/* ---- One ask. ---- */

tr_status tr__client_ask_new(struct tr_client *client, tr_ref to, const tr_type *type,
                             struct client_ask **made)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    if (client->asks.count + client->asks.due >= TR_CLIENT_ASKS_MAX)
        return TR_LIMIT; /* the client has too many asks that it has neither awaited nor polled */
    struct client_ask *ask = source_resize(&client->system->source, NULL, sizeof *ask);
    if (!ask)
        return TR_NO_MEMORY;
    *ask = (struct client_ask){.type = type, .to = to.bits};
    table_add(client, ask);
    *made = ask;
    return TR_OK;
}

void tr__client_ask_send(struct tr_client *client, struct cell *cell, enum envelope_kind kind,
                         struct client_ask *ask, const void *message, tr_time timeout_ns)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    ask->is_look = kind != ENVELOPE_ASK;
    ask->deadline_ns = tr__client_deadline(client, timeout_ns ? timeout_ns : TR_ASK_NS);
    if (timeout_ns < 0) {
        ask->status = TR_TIMEOUT;
        return;
    }
    tr_status status = TR_STOPPED;
    if (cell && cell_is_client(cell) && !ask->is_look)
        status = TR_NO_REPLY; /* a client does not answer requests */
    /*
     * The answer may arrive before ask->status is set. That does no harm, because only this thread
     * takes the answer in, and does so later.
     */
    else if (cell && cell_is_group_address(cell))
        status = tr__client_send_group(client, &cell, &ask->to, ask->type, message, ask);
    else if (cell)
        status = tr__client_send(client, cell, ask->to, kind, ask->type, message, ask);
    ask->status = status;
}

void tr__client_ask_free(struct tr_client *client, struct client_ask *ask)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    if (ask->answer)
        tr__client_give(client, ask->answer);
    source_resize(&client->system->source, ask, 0);
}

void tr__client_ask_error(const struct client_ask *ask, tr_error *error)
{
    *error = (tr_error){.status = ask->status, .actor = tr_ref_from_bits(ask->to)};
    if (ask->answer && ask->answer->kind == ENVELOPE_EXCEPTION) {
        tr__ask_read_error(ask->answer, error);
        if (error->status == TR_OK)
            error->status = TR_FAILED;
    }
    if (error->status != TR_OK && !error->text[0])
        snprintf(error->text,
                 sizeof error->text,
                 "%s: %s",
                 ask->type->name,
                 tr_status_text(error->status));
}

/*
 * Whether an answer was sent after the deadline of its ask, with a precision of a millisecond. When
 * the client looks at the answer makes no difference: an answer that was sent before the deadline
 * is not late.
 */
static bool is_late(const struct tr_client *client, const struct client_ask *ask,
                    const struct envelope *answer)
{
    uint32_t due_ms = (uint32_t)((uint64_t)ask->deadline_ns / TR_MILLISECOND);
    if ((int32_t)(answer->payload.ask.deadline_ms - due_ms) <= 0)
        return false;
    /*
     * The low 32 bits of two times cannot be compared if the deadline is weeks away. Then compare
     * the full times.
     */
    const tr_platform *platform = client->system->platform;
    return ask->deadline_ns <= platform->mono_now(platform);
}

bool tr__client_answered(struct tr_client *client, struct envelope *envelope)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_ask *ask = tr__client_ask_find(client, envelope->payload.ask.id);
    if (!ask || ask->answer || ask->status != TR_OK)
        return false;
    bool is_answer = !is_late(client, ask, envelope);
    if (is_answer)
        ask->answer = envelope;
    else
        ask->status = TR_TIMEOUT;
    if (ask->callback)
        tr__client_call_due(client, ask);
    return is_answer;
}

void tr__client_asks_free(struct tr_client *client)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_asks *asks = &client->asks;
    if (client->told)
        tr__client_give(client, client->told);
    client->told = NULL;
    uint32_t count = asks->places ? asks->mask + 1 : FEW;
    for (uint32_t i = 0; i < count; i++) {
        struct client_ask **place = place_of(asks, i);
        while (*place) {
            struct client_ask *ask = *place;
            *place = ask->next;
            tr__client_ask_free(client, ask);
        }
    }
    source_resize(&client->system->source, asks->places, 0);
    *asks = (struct client_asks){.last = asks->last, .due = asks->due};
}

/* ---- The ask trace: where the request is, after a timeout. ---- */

void tr__client_told(struct tr_client *client, struct envelope *envelope)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    const struct tr_ask_trace *told = envelope_data(envelope);
    struct client_ask_trace *trace = client->trace;
    if (trace && trace->id == told->origin_id) {
        snprintf(trace->words, sizeof trace->words, "%s", told->text ? told->text : "");
        trace->is_told = true;
    }
    tr__client_give(client, envelope);
}

/* Copies as much of a text as fits. */
static void text_copy(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

/*
 * Finds out where the request of a timed-out ask is, and writes this to client->why and to the log.
 * Waits until the receiver's worker has answered, but at most ASK_TRACE_NS.
 */
static void trace_to_error(struct tr_client *client, const struct client_ask *ask)
{
    struct tr_system *system = client->system;
    const tr_platform *platform = system->platform;
    tr_time end_ns = timer_deadline(platform->mono_now(platform), ASK_TRACE_NS);
    struct client_ask_trace trace = {.id = ask->id};
    struct cell *cell = slots_find(system->slots, ask->to);
    struct tr_ask_trace question = {.asker = client->cell->identity,
                                    .id = ask->id,
                                    .origin = client->cell->identity,
                                    .origin_id = ask->id,
                                    .text = ""};
    client->trace = &trace;
    bool is_asked =
        cell &&
        tr__client_send(
            client, cell, ask->to, ENVELOPE_TRACE, &tr_type_tr_ask_trace, &question, NULL) == TR_OK;
    while (is_asked && !trace.is_told && tr__client_wait(client, end_ns))
        tr__client_look(client);
    client->trace = NULL;
    if (!is_asked)
        snprintf(trace.words, sizeof trace.words, "the receiver has stopped");
    else if (!trace.is_told)
        tr__ask_trace_guess(system, ask->to, trace.words);
    /* this text is cut to the size of the field; the log has the whole text */
    char *text = client->why.text;
    int length = snprintf(text, sizeof client->why.text, "%s: ", ask->type->name);
    size_t used = length < 0 ? 0 : (size_t)length;
    if (used < sizeof client->why.text)
        text_copy(text + used, sizeof client->why.text - used, trace.words);
    tr__log(system,
            TR_LEVEL_WARN,
            NULL,
            "%s of a client was not answered in time: %s",
            ask->type->name,
            trace.words);
}

/* ---- What a client calls. ---- */

static tr_pending pending_status(tr_status status)
{
    return (tr_pending){PENDING_IS_STATUS | (uint32_t)-status};
}

tr_pending tr__client_ask(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          tr_time timeout_ns)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_ask *ask;
    tr_status status = tr__client_ask_new(client, tr_ref_from_bits(to), type, &ask);
    if (status != TR_OK)
        return pending_status(status);
    tr__client_ask_send(client, cell, kind, ask, message, timeout_ns);
    return (tr_pending){ask->id};
}

tr_pending tr_client_ask(tr_client *client, tr_ref to, const tr_type *type, const void *message,
                         tr_time timeout_ns)
{
    CLIENT_VERB(client);
    if (!client || !type || !message)
        return pending_status(TR_INVALID_ARGUMENT);
    struct cell *cell = slots_find(client->system->slots, to.bits);
    return tr__client_ask(client, cell, to.bits, ENVELOPE_ASK, type, message, timeout_ns);
}

bool tr_client_is_answered(tr_client *client, tr_pending pending)
{
    CLIENT_VERB(client);
    if (!client || pending.id & PENDING_IS_STATUS)
        return true;
    struct client_ask *ask = tr__client_ask_find(client, pending.id);
    if (!ask || ask->callback || ask->status != TR_OK)
        return true;
    tr__client_look_last(client);
    tr__client_announce(client, false);
    const tr_platform *platform = client->system->platform;
    return ask->answer || client->is_last || ask->deadline_ns <= platform->mono_now(platform);
}

/*
 * Waits until an ask has ended: the ask has an answer, or a status that says why there is no
 * answer.
 */
static void client_ask_wait(struct tr_client *client, struct client_ask *ask)
{
    while (ask->status == TR_OK && !ask->answer) {
        tr__client_look(client);
        if (!ask->answer && !tr__client_wait(client, ask->deadline_ns))
            ask->status = client->is_last ? TR_STOPPED : TR_TIMEOUT;
    }
}

bool tr__client_ask_has_stopped(struct tr_client *client, tr_pending pending, bool *is_unbegun)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_ask *ask = NULL;
    tr_error error;
    *is_unbegun = false;
    if (!(pending.id & PENDING_IS_STATUS))
        ask = tr__client_ask_find(client, pending.id);
    if (!ask || ask->callback)
        return false;
    client_ask_wait(client, ask);
    tr__client_ask_error(ask, &error);
    *is_unbegun = ask->answer ? tr__refusal_is_unbegun(ask->answer) : !client->is_last;
    return error.status == TR_STOPPED;
}

void tr__client_ask_forget(struct tr_client *client, tr_pending pending)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct client_ask *ask = NULL;
    if (!(pending.id & PENDING_IS_STATUS))
        ask = tr__client_ask_find(client, pending.id);
    if (ask && tr__client_ask_leave(client, ask))
        tr__client_ask_free(client, ask);
}

tr_status tr_client_try_await(tr_client *client, tr_pending pending, const void **reply)
{
    CLIENT_VERB(client);
    if (reply)
        *reply = NULL;
    if (!client)
        return TR_INVALID_ARGUMENT;
    if (pending.id & PENDING_IS_STATUS)
        return (tr_status) - (int32_t)(uint32_t)pending.id;
    struct client_ask *ask = tr__client_ask_find(client, pending.id);
    if (!ask || ask->callback)
        return TR_INVALID_ARGUMENT;
    client_ask_wait(client, ask);
    (void)tr__client_ask_leave(client, ask);
    tr__client_ask_error(ask, &client->why);
    if (ask->status == TR_TIMEOUT && !ask->is_look)
        trace_to_error(client, ask);
    client->why_id = pending.id;
    if (client->told)
        tr__client_give(client, client->told);
    client->told = NULL;
    if (client->why.status == TR_OK && ask->answer) {
        client->told = ask->answer;
        ask->answer = NULL;
        if (reply)
            *reply = envelope_data(client->told);
    }
    tr__client_ask_free(client, ask);
    tr__client_announce(client, false);
    return client->why.status;
}

tr_status tr_client_ask_cancel(tr_client *client, tr_pending pending)
{
    CLIENT_VERB(client);
    if (!client)
        return TR_INVALID_ARGUMENT;
    if (pending.id & PENDING_IS_STATUS)
        return TR_NOT_FOUND;
    struct client_ask *ask = tr__client_ask_find(client, pending.id);
    if (!ask || ask->callback)
        return TR_INVALID_ARGUMENT;
    tr__client_look(client);
    if (ask->answer || ask->status != TR_OK)
        return TR_NOT_FOUND;
    (void)tr__client_ask_leave(client, ask);
    tr__client_ask_free(client, ask);
    tr__client_announce(client, false);
    return TR_OK;
}

const tr_error *tr_client_ask_error(tr_client *client, tr_pending pending)
{
    CLIENT_VERB(client);
    static const tr_error no_client = {.status = TR_INVALID_ARGUMENT,
                                       .text = "invalid argument: client is NULL"};
    if (!client)
        return &no_client;
    if (client->why_id && client->why_id == pending.id)
        return &client->why;
    tr_status status = TR_INVALID_ARGUMENT;
    const struct client_ask *ask = NULL;
    if (pending.id & PENDING_IS_STATUS)
        status = (tr_status) - (int32_t)(uint32_t)pending.id;
    else
        ask = tr__client_ask_find(client, pending.id);
    client->why = (tr_error){.status = ask ? TR_OK : status};
    client->why_id = 0;
    if (ask)
        snprintf(client->why.text,
                 sizeof client->why.text,
                 "%s has not been awaited yet",
                 ask->type->name);
    else
        snprintf(client->why.text, sizeof client->why.text, "%s", tr_status_text(status));
    return &client->why;
}
