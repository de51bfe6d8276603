/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/verbs/client.h"

#include <stdio.h>
#include <string.h>

#include "actor/ask/answer.h"
#include "actor/ask/letter.h"
#include "actor/cell/client.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/signal.h"
#include "actor/cell/slots.h"
#include "actor/life/watchers.h"
#include "actor/mail/capacity.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/mail.h"
#include "actor/mail/outcome.h"
#include "actor/mail/refusal.h"
#include "actor/verbs/client_ask.h"
#include "actor/verbs/client_call.h"
#include "base/assert.h"
#include "actor/mail/address.h"

struct tr_outcome;
struct tr_probe;

/* ---- A client and its inbox. ---- */

TR_BEHAVIOR(tr_inbox, void);

static struct tr_client *client_reuse(struct tr_system *system)
{
    struct tr_client *client = NULL;
    lock_take(&system->foreign.lock);
    for (client = system->foreign.clients; client && client->is_used; client = client->next)
        ;
    if (client)
        client->is_used = true;
    lock_give(&system->foreign.lock);
    return client;
}

static tr_status client_make(struct tr_system *system, struct tr_client **made)
{
    struct tr_client *client = source_resize(&system->source, NULL, sizeof *client);
    if (!client)
        return TR_NO_MEMORY;
    *client = (struct tr_client){.system = system, .is_used = true};
    ready_init(&client->ready);
    tr_status status = system->platform->parker_new(system->platform, &client->parker);
    if (status != TR_OK) {
        source_resize(&system->source, client, 0);
        return status;
    }
    grace_join(&system->names->grace, &client->reader);
    lock_take(&system->foreign.lock);
    client->next = system->foreign.clients;
    system->foreign.clients = client;
    lock_give(&system->foreign.lock);
    *made = client;
    return TR_OK;
}

tr_status tr_client_new(tr_system *system, tr_client **made)
{
    if (!system || !made)
        return TR_INVALID_ARGUMENT;
    if (atom32_load(&system->ending.is_over, ATOM_SEQ_CST))
        return TR_STOPPING;
    tr_status status = TR_OK;
    struct tr_client *client = client_reuse(system);
    if (!client)
        status = client_make(system, &client);
    if (status != TR_OK)
        return status;
    struct cell *cell;
    status = tr__slot_take(system->slots, NULL, &cell);
    if (status != TR_OK) {
        lock_take(&system->foreign.lock);
        client->is_used = false;
        lock_give(&system->foreign.lock);
        return status;
    }
    cell_clear(cell);
    cell->state = client;
    tr__capacity_open(cell, &tr_behavior_tr_inbox);
    client->cell = cell;
    client->causal_next = cell->identity ^ 1;
    door_open(&cell->door, cell->identity, CELL_FOREIGN, false);
    *made = client;
    return TR_OK;
}

/* Frees a signal that the client does not want any more. Changes the counters as if it had not been sent. */
static void drop(struct tr_client *client, struct envelope *envelope)
{
    struct tr_system *system = client->system;
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.accepted, UINT64_MAX);
    lock_give(&system->foreign.lock);
    tr__client_give(client, envelope);
}

/*
 * Frees a message. If the message is a request, sends it back to its asker as an exception with
 * this status, because a client never answers requests.
 */
static void put_away(struct tr_client *client, struct envelope *envelope, tr_status status)
{
    struct tr_system *system = client->system;
    uint64_t to = envelope->sender;
    struct cell *asker = envelope->kind == ENVELOPE_ASK ? slots_find(system->slots, to) : NULL;
    if (!asker) {
        tr__client_give(client, envelope);
        return;
    }
    tr__ask_become_ended(envelope, status, 0);
    mail_readdress(envelope, ENVELOPE_EXCEPTION, to, client->cell->identity);
    tr__mail_send_any(system, NULL, asker, envelope);
}

static void bury(struct tr_client *client, struct envelope *envelope, tr_status reason)
{
    struct tr_system *system = client->system;
    if (envelope->kind == ENVELOPE_SIGNAL) {
        drop(client, envelope);
        return;
    }
    struct dead_letter letter = {.type = envelope->type,
                                 .message = envelope_data(envelope),
                                 .size = mail_bytes(envelope),
                                 .from = envelope->sender,
                                 .to = (uint64_t)envelope->generation << 32 |
                                       (uint32_t)client->cell->identity,
                                 .reason = reason};
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.dead, 1);
    lock_give(&system->foreign.lock);
    tr__dead_letter(system, NULL, &letter);
    put_away(client, envelope, reason);
}

static void take_probe(struct tr_client *client, const struct tr_probe *probe)
{
    if (probe->ref == client->probed)
        client->probe = probe->status == TR_OK ? PROBE_IS_UP : PROBE_IS_GONE;
}

static void take_outcome(struct tr_client *client, const struct tr_outcome *outcome)
{
    if (!client->failures) {
        client->failures = source_resize(
            &client->system->source, NULL, TR_CLIENT_FAILURES_MAX * sizeof *client->failures);
        if (!client->failures)
            return;
    }
    struct client_failure *failure =
        &client->failures[client->failure_count++ % TR_CLIENT_FAILURES_MAX];
    failure->ref = outcome->ref;
    tr__error_set(&failure->error,
                  (tr_status)outcome->status,
                  outcome->ref,
                  "%s",
                  outcome->text ? outcome->text : "");
    snprintf(failure->error.where,
             sizeof failure->error.where,
             "%s",
             outcome->where ? outcome->where : "");
}

/*
 * Takes the answer to the wait for capacity. It must be an answer to the current wait, because no
 * answer is sent for a wait that has ended.
 */
static void take_grant(struct tr_client *client, struct envelope *envelope)
{
    const struct tr_capacity *capacity = envelope_data(envelope);
    TR_ASSERT(capacity->number == client->wait_last);
    TR_ASSERT(!client->grant);
    client->grant = envelope;
}

static void take_answer(struct tr_client *client, struct envelope *envelope)
{
    struct tr_system *system = client->system;
    bool is_mine = envelope->generation == cell_generation(client->cell);
    bool is_reply = envelope->kind == ENVELOPE_REPLY;
    bool is_wanted = is_mine && tr__client_answered(client, envelope);
    if (!is_wanted && is_reply && !answer_is_report(envelope)) {
        bury(client, envelope, TR_TIMEOUT);
        return;
    }
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.handled, 1);
    lock_give(&system->foreign.lock);
    if (!is_wanted)
        tr__client_give(client, envelope);
}

static void take_in(struct tr_client *client, struct door_mail *chain)
{
    struct door_mail *mail = door_reverse(chain);
    while (mail) {
        struct envelope *envelope = (struct envelope *)(void *)mail;
        mail = mail->next;
        if (envelope->kind == ENVELOPE_OUTCOME) {
            if (tr_type_is_equal(envelope->type, &tr_type_tr_probe))
                take_probe(client, envelope_data(envelope));
            else
                take_outcome(client, envelope_data(envelope));
            tr__client_give(client, envelope);
        } else if (mail_is_answer(envelope) && envelope->sender) {
            take_answer(client, envelope);
        } else if (envelope->kind == ENVELOPE_GRANT) {
            take_grant(client, envelope);
        } else if (envelope->kind == ENVELOPE_TRACED) {
            tr__client_told(client, envelope);
        } else if (envelope->kind == ENVELOPE_WATCH || envelope->kind == ENVELOPE_UNWATCH) {
            tr__client_watch_mail(client, envelope);
        } else if (!mail_counts(envelope)) {
            tr__client_give(client, envelope); /* a client ignores orders, such as stop */
        } else if (envelope->generation != cell_generation(client->cell)) {
            bury(client, envelope, TR_STOPPED);
        } else {
            mail_count(client->cell, envelope);
            ring_push(&client->received, envelope);
            client->received_count++;
            client->news_count++;
            client->fresh_count++;
        }
    }
}

void tr__client_look(struct tr_client *client)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    if (ready_take(&client->ready))
        take_in(client, door_take_posted(&client->cell->door));
}

void tr__client_look_last(struct tr_client *client)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    /*
     * Read is_over before the look. When is_over is set, no thread sends any more, so the look
     * finds all mail.
     */
    client->is_last = atom32_load(&client->system->ending.is_over, ATOM_SEQ_CST);
    tr__client_look(client);
}

bool tr__client_wait(struct tr_client *client, tr_time deadline_ns)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    const tr_platform *platform = client->system->platform;
    if (client->is_last || deadline_ns <= platform->mono_now(platform))
        return false;
    /*
     * When is_over is set, no thread sends any more, but the caller must look once more for mail
     * that has arrived before.
     */
    client->is_last = atom32_load(&client->system->ending.is_over, ATOM_SEQ_CST);
    if (client->is_last)
        return true;
    bool is_asleep = ready_doze(&client->ready);
    if (is_asleep) {
        platform->park(platform, client->parker, deadline_ns);
        ready_rise(&client->ready);
    }
    if (is_asleep || client->fd == FD_ANNOUNCED)
        client->fd = FD_DARK;
    return true;
}

void tr__client_announce(struct tr_client *client, bool is_sure)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    if (!client->has_fd)
        return;
    const tr_platform *platform = client->system->platform;
    tr_time next_ns;
    bool is_news = tr__client_calls_are_due(client, &next_ns) || client->news_count;
    platform->parker_alarm(platform, client->parker, next_ns);
    bool is_announced = client->fd == FD_ANNOUNCED && ready_is_asleep(&client->ready);
    if (client->fd == FD_ANNOUNCED && !is_announced)
        client->fd = FD_LIT;
    if (!is_news && is_announced && !is_sure)
        return;
    if (!is_news && (client->fd == FD_LIT || is_sure)) {
        platform->park(platform, client->parker, 0);
        client->fd = FD_DARK;
    }
    if (!is_news && ready_doze(&client->ready)) {
        client->fd = FD_ANNOUNCED;
        return;
    }
    if (client->fd != FD_LIT)
        platform->wake(platform, client->parker);
    client->fd = FD_LIT;
}

tr_time tr__client_deadline(struct tr_client *client, tr_time timeout_ns)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    const tr_platform *platform = client->system->platform;
    if (timeout_ns <= 0)
        return 0;
    tr_time now_ns = platform->mono_now(platform);
    return timeout_ns > TR_NEVER - now_ns ? TR_NEVER : now_ns + timeout_ns;
}

void tr_client_free(tr_client *client)
{
    if (!client)
        return;
    TR_ASSERT_SLOW(client_is_mine(client));
    struct tr_system *system = client->system;
    struct cell *cell = client->cell;
    bool is_posted;
    tr__client_calls_end(client);
    atom64_store(&cell->door.ref, 0, ATOM_RELAXED);
    struct door_mail *chain = door_close(&cell->door, &is_posted);
    /*
     * If a post of the cell is on its way, wait until the post has arrived. Only then may the slot
     * be given to another actor.
     */
    while (is_posted && !ready_take(&client->ready))
        system->platform->yield(system->platform);
    take_in(client, chain);
    while (client->received) {
        struct envelope *envelope = ring_pop(&client->received);
        mail_uncount(cell, envelope);
        bury(client, envelope, TR_STOPPED);
    }
    client->received_count = 0;
    client->news_count = 0;
    client->fresh_count = 0;
    if (client->lent)
        put_away(client, client->lent, TR_NO_REPLY);
    tr__client_asks_free(client);
    tr__client_watch_end(client);
    source_resize(&system->source, client->failures, 0);
    source_resize(&system->source, client->listed, 0);
    client->listed = NULL;
    client->lent = NULL;
    client->failures = NULL;
    client->failure_count = 0;
    client->has_fd = false;
    client->fd = FD_DARK;
    client->why_id = 0;
    client->cell = NULL;
    tr__slot_give(system->slots, NULL, cell);
    lock_take(&system->foreign.lock);
    client->is_used = false;
    lock_give(&system->foreign.lock);
}

void tr__clients_nudge(struct tr_system *system)
{
    lock_take(&system->foreign.lock);
    for (struct tr_client *client = system->foreign.clients; client; client = client->next) {
        if (ready_nudge(&client->ready))
            system->platform->wake(system->platform, client->parker);
    }
    lock_give(&system->foreign.lock);
}

void tr__clients_close(struct tr_system *system)
{
    for (struct tr_client *client = system->foreign.clients; client; client = client->next) {
        if (client->is_used)
            tr_client_free(client);
    }
}

void tr__clients_free(struct tr_system *system)
{
    struct tr_client *client = system->foreign.clients;
    while (client) {
        struct tr_client *next = client->next;
        TR_ASSERT(!client->is_used);
        system->platform->parker_free(system->platform, client->parker);
        source_resize(&system->source, client, 0);
        client = next;
    }
    system->foreign.clients = NULL;
}

tr_ref tr_client_ref(const tr_client *client)
{
    return client ? tr_ref_from_bits(client->cell->identity) : TR_NOBODY;
}

tr_system *tr_client_system(const tr_client *client)
{
    return client ? client->system : NULL;
}

static bool is_wanted(const struct envelope *envelope, const tr_type *type)
{
    return !type || envelope->type == type || tr_type_is_equal(envelope->type, type);
}

/*
 * Updates the counts, because a received message leaves the ring. `rank` is the place of the
 * message in the ring, counted from the newest message, which has rank 1.
 */
static void received_leave(struct tr_client *client, uint32_t rank)
{
    TR_ASSERT(client->received_count >= rank);
    client->received_count--;
    client->news_count -= rank <= client->news_count;
    client->fresh_count -= rank <= client->fresh_count;
}

/*
 * Removes the oldest message of a type from the ring and returns it. Returns NULL if there is no
 * such message. `type` NULL: any type.
 */
static struct envelope *pick(struct tr_client *client, const tr_type *type)
{
    const tr_type *signal = type ? tr__signal_mailed(type) : NULL;
    if (signal)
        type = signal;
    struct envelope *picked = NULL;
    struct envelope *others = NULL;
    uint32_t left = client->received_count;
    while (client->received) {
        struct envelope *envelope = ring_pop(&client->received);
        uint32_t rank = left--;
        if (envelope->kind == ENVELOPE_SIGNAL && !tr__client_watch_is_open(client, envelope)) {
            received_leave(client, rank);
            mail_uncount(client->cell, envelope);
            drop(client, envelope);
            continue;
        }
        /* A message of the program may have the same name as a signal, but it is not the signal. */
        bool is_forged = signal && envelope->kind != ENVELOPE_SIGNAL;
        if (!picked && !is_forged && is_wanted(envelope, type)) {
            picked = envelope;
            received_leave(client, rank);
        } else {
            ring_push(&others, envelope);
        }
        if (picked && !others)
            /*
             * the picked message was the first of the ring, so the order of the others has not
             * changed
             */
            break;
    }
    ring_join(&others, &client->received);
    client->received = others;
    return picked;
}

/*
 * Waits for a message of a type, and sets client->lent to it. If no such message comes in time,
 * sets client->lent to NULL. `type` NULL: any type.
 */
static void receive(struct tr_client *client, const tr_type *type, tr_time timeout_ns)
{
    if (client->lent)
        put_away(client, client->lent, TR_NO_REPLY);
    client->lent = NULL;
    tr_time deadline_ns = tr__client_deadline(client, timeout_ns);
    do {
        tr__client_look(client);
        client->lent = pick(client, type);
    } while (!client->lent && tr__client_wait(client, deadline_ns));
    tr__client_announce(client, !client->lent);
    if (!client->lent)
        return;
    mail_uncount(client->cell, client->lent);
    if (client->lent->kind == ENVELOPE_SIGNAL)
        tr__client_watch_over(client, client->lent);
    if (mail_takes_capacity(client->lent))
        tr__capacity_give(client->cell, mail_lines(client->lent));
    lock_take(&client->system->foreign.lock);
    atom64_count(&client->system->foreign.counters.handled, 1);
    lock_give(&client->system->foreign.lock);
}

const void *tr_client_receive(tr_client *client, const tr_type *type, tr_time timeout_ns)
{
    CLIENT_VERB(client);
    if (!client)
        return NULL;
    receive(client, type, timeout_ns);
    return client->lent ? envelope_data(client->lent) : NULL;
}

tr_message tr_receive_any(tr_client *client, tr_time timeout_ns)
{
    CLIENT_VERB(client);
    if (!client)
        return (tr_message){NULL, NULL};
    receive(client, NULL, timeout_ns);
    if (!client->lent)
        return (tr_message){NULL, NULL};
    return (tr_message){client->lent->type, envelope_data(client->lent)};
}
