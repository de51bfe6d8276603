/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of clients: the thread blocks until its answer has arrived.
 */
#include "actor/ask.h"
#include "actor/client.h"

#define PENDING_IS_STATUS (UINT64_C(1) << 63)

static struct client_ask *find(const struct tr_client *client, uint64_t id)
{
    struct client_ask *ask = client->asks;
    while (ask && ask->id != id)
        ask = ask->next;
    return ask;
}

bool tr__client_answered(struct tr_client *client, struct envelope *envelope)
{
    struct client_ask *ask = find(client, envelope->payload.ask.id);
    if (!ask || ask->answer || ask->status != TR_OK)
        return false;
    ask->answer = envelope;
    return true;
}

static void forget(struct tr_client *client, struct client_ask *ask)
{
    struct client_ask **link = &client->asks;
    while (*link != ask)
        link = &(*link)->next;
    *link = ask->next;
    if (ask->answer)
        tr__client_give(client, ask->answer);
    source_resize(&client->system->source, ask, 0);
}

void tr__client_asks_free(struct tr_client *client)
{
    if (client->told)
        tr__client_give(client, client->told);
    client->told = NULL;
    while (client->asks)
        forget(client, client->asks);
}

tr_pending tr__client_ask(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          tr_time timeout_ns)
{
    tr_pending no_memory = {PENDING_IS_STATUS | (uint32_t)-TR_NO_MEMORY};
    struct client_ask *ask = source_resize(&client->system->source, NULL, sizeof *ask);
    if (!ask)
        return no_memory;
    *ask = (struct client_ask){.next = client->asks};
    do {
        ask->id = ++client->ask_last;
    } while (!ask->id || find(client, ask->id));
    client->asks = ask;
    ask->deadline_ns = tr__client_deadline(client, timeout_ns ? timeout_ns : TR_ASK_NS);
    ask->status = TR_STOPPED;
    if (timeout_ns < 0) {
        ask->status = TR_TIMEOUT;
    } else if (cell) {
        /* An answer may come as soon as it is sent, but is taken in by this thread only. */
        ask->status = TR_OK;
        tr_status status = tr__client_send(client, cell, to, kind, type, message, ask);
        ask->status = status;
    }
    return (tr_pending){ask->id};
}

tr_pending tr_client_ask(tr_client *client, tr_ref to, const tr_type *type, const void *message,
                         tr_time timeout_ns)
{
    tr_pending none = {PENDING_IS_STATUS | (uint32_t)-TR_INVALID_ARGUMENT};
    if (!client || !type || !message)
        return none;
    struct cell *cell = slots_find(&client->system->slots, to.bits);
    return tr__client_ask(client, cell, to.bits, ENVELOPE_ASK, type, message, timeout_ns);
}

bool tr_client_is_answered(tr_client *client, tr_pending pending)
{
    if (!client || pending.id & PENDING_IS_STATUS)
        return true;
    struct client_ask *ask = find(client, pending.id);
    if (!ask || ask->status != TR_OK)
        return true;
    tr__client_look(client);
    const tr_platform *platform = client->system->platform;
    return ask->answer || client->is_last || ask->deadline_ns <= platform->mono_now(platform);
}

tr_status tr_client_try_await(tr_client *client, tr_pending pending, const void **reply)
{
    if (reply)
        *reply = NULL;
    if (!client)
        return TR_INVALID_ARGUMENT;
    if (pending.id & PENDING_IS_STATUS)
        return (tr_status) - (int32_t)(uint32_t)pending.id;
    struct client_ask *ask = find(client, pending.id);
    if (!ask)
        return TR_INVALID_ARGUMENT;
    tr_status status = ask->status;
    while (status == TR_OK && !ask->answer) {
        tr__client_look(client);
        if (!ask->answer && !tr__client_wait(client, ask->deadline_ns))
            status = client->is_last ? TR_STOPPED : TR_TIMEOUT;
    }
    struct envelope *answer = ask->answer;
    ask->answer = NULL;
    forget(client, ask);
    if (client->told)
        tr__client_give(client, client->told);
    client->told = NULL;
    if (!answer)
        return status;
    if (answer->kind == ENVELOPE_REPLY) {
        client->told = answer;
        if (reply)
            *reply = envelope_data(answer);
        return TR_OK;
    }
    tr_error error = {.status = TR_FAILED};
    tr__ask_read_error(answer, &error);
    tr__client_give(client, answer);
    return error.status == TR_OK ? TR_FAILED : error.status;
}
