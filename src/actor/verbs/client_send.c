/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends of clients: messages, orders and spawns. Also waits for capacity, and for the outcome of a
 * spawn.
 */
#include "actor/verbs/client_send.h"

#include "actor/ask/ask.h"
#include "actor/ask/letter.h"
#include "actor/cell/client.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/life/pooled.h"
#include "actor/life/spawn.h"
#include "actor/mail/capacity.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/group_address.h"
#include "actor/mail/group_pick.h"
#include "actor/mail/mail.h"
#include "actor/mail/outcome.h"
#include "actor/cell/overflow.h"
#include "actor/mail/send.h"
#include "actor/verbs/client.h"
#include "mem/envelope.h"
#include "actor/mail/address.h"
#include "base/assert.h"

static void make_dead_letter(struct tr_client *client, uint64_t to, const tr_type *type,
                             const void *message, tr_status reason)
{
    tr__dead_letter(client->system,
                    NULL,
                    &(struct dead_letter){.type = type,
                                          .message = message,
                                          .from = client->cell->identity,
                                          .to = to,
                                          .reason = reason});
}

static tr_status message_refuse(struct tr_client *client, uint64_t to, const tr_type *type,
                                const void *message, tr_status reason)
{
    struct tr_system *system = client->system;
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.refused, 1);
    lock_give(&system->foreign.lock);
    make_dead_letter(client, to, type, message, reason);
    return reason;
}

/*
 * Waits for capacity, behind the senders that came before. Returns TR_OK when the client has the
 * capacity. Returns TR_MAILBOX_FULL if TR_PARK_NS passes first, and TR_TIMEOUT if the deadline of
 * the ask passes first. Returns TR_STOPPED if the receiver stops or the system is over. May also
 * return TR_NO_MEMORY.
 */
static tr_status wait_for_capacity(struct tr_client *client, struct cell *cell, uint64_t to,
                                   int32_t lines, const struct client_ask *ask)
{
    tr_time deadline_ns = tr__client_deadline(client, TR_PARK_NS);
    bool is_ask_first = ask && ask->deadline_ns < deadline_ns;
    if (is_ask_first)
        deadline_ns = ask->deadline_ns;
    struct tr_capacity wanted = {
        .number = ++client->wait_last, .messages = 1, .lines = lines, .is_client = true};
    atom64_store(&client->waits, wanted.number, ATOM_RELAXED);
    tr_status status =
        tr__client_send(client, cell, to, ENVELOPE_WANTED, &tr_type_tr_capacity, &wanted, NULL);
    if (status != TR_OK)
        (void)client_claim(client, wanted.number);
    while (status == TR_OK && !client->grant) {
        tr__client_look(client);
        if (client->grant || tr__client_wait(client, deadline_ns))
            continue;
        if (client_claim(client, wanted.number))
            status = client->is_last ? TR_STOPPED : is_ask_first ? TR_TIMEOUT : TR_MAILBOX_FULL;
        else
            /* another thread has claimed the wait, and its answer is on its way */
            deadline_ns = TR_NEVER;
    }
    tr__client_announce(client, false);
    struct envelope *grant = client->grant;
    if (!grant)
        return status;
    client->grant = NULL;
    status = (tr_status)((const struct tr_capacity *)envelope_data(grant))->status;
    tr__client_give(client, grant);
    return status;
}

/*
 * Counts a message as accepted and drops it at once, because the policy of the receiver demands
 * that.
 */
static tr_status drop_newest(struct tr_client *client, uint64_t to, const tr_type *type,
                             const void *message)
{
    struct tr_system *system = client->system;
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.accepted, 1);
    atom64_count(&system->foreign.counters.dead, 1);
    lock_give(&system->foreign.lock);
    make_dead_letter(client, to, type, message, TR_MAILBOX_FULL);
    return TR_OK;
}

/*
 * Whether to refuse a message because the deadline of a shutdown has passed. The message is refused
 * even before the order to stop has reached its receiver. Otherwise a flood of messages could
 * continue. Messages between clients are not refused.
 */
static bool is_too_late(struct tr_system *system, const struct cell *cell, enum envelope_kind kind)
{
    return atom32_load(&system->ending.is_forced, ATOM_RELAXED) &&
           kind_has(kind, MAIL_TAKES_CAPACITY) && cell_owner(cell) != CELL_FOREIGN;
}

/*
 * Makes an envelope and delivers it, like deliver of actor/ask/deliver.h, but from a thread that is
 * no worker. Waits for capacity if `waits` is true and the policy of the receiver's mailbox is
 * TR_PARK. Inline, so that tr_client_tell has a copy for its kind of envelope.
 */
ATOM_INLINE tr_status deliver_from(struct tr_client *client, struct cell *cell, uint64_t to,
                                   enum envelope_kind kind, const tr_type *type,
                                   const void *message, const struct client_ask *ask, bool waits)
{
    struct tr_system *system = client->system;
    struct envelope_pool *pool = &system->foreign.pool;
    if (__builtin_expect(is_too_late(system, cell, kind), 0))
        return TR_STOPPED;
    uint64_t causal = hash_mix(client->causal_next++);
    struct address address = {.kind = kind,
                              .to = to,
                              .sender = client->cell->identity,
                              .causal = kind == ENVELOPE_WANTED ? (uintptr_t)client : causal};
    if (ask) {
        address.number = ask->id;
        address.deadline_ms =
            tr__ask_deadline_ms(system->platform->mono_now(system->platform), ask->deadline_ns);
    }
    struct envelope *envelope = NULL;
    lock_take(&system->foreign.lock);
    tr_status status = mail_new(pool, address, type, message, &envelope);
    lock_give(&system->foreign.lock);
    if (status != TR_OK)
        return status;

    if (mail_takes_capacity(envelope))
        status = tr__capacity_take_far(cell, envelope);
    bool may_wait = waits && (!ask || !ask->callback);
    if (status == TR_MAILBOX_FULL && may_wait && !client->never_waits &&
        mailbox_overflow_has(cell, OVERFLOW_WAITS))
        status = wait_for_capacity(client, cell, to, (int32_t)mail_lines(envelope), ask);
    if (status == TR_OK)
        status = mail_push_outside(system, cell, envelope);
    if (__builtin_expect(status == TR_OK, 1))
        return TR_OK;
    lock_take(&system->foreign.lock);
    envelope_give(pool, envelope);
    lock_give(&system->foreign.lock);
    return status;
}

/* As deliver_from, but not inline, and for an envelope of any kind. */
__attribute__((__noinline__)) static tr_status send_kind(struct tr_client *client,
                                                         struct cell *cell, uint64_t to,
                                                         enum envelope_kind kind,
                                                         const tr_type *type, const void *message,
                                                         const struct client_ask *ask, bool waits)
{
    return deliver_from(client, cell, to, kind, type, message, ask, waits);
}

tr_status tr__client_send(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          const struct client_ask *ask)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    return send_kind(client, cell, to, kind, type, message, ask, true);
}

tr_status tr__client_send_group(struct tr_client *client, struct cell **cell, uint64_t *to,
                                const tr_type *type, const void *message, struct client_ask *ask)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct group_walk walk;
    struct group_letter letter = {type, message, ask != NULL};
    enum envelope_kind kind = ask ? ENVELOPE_ASK : ENVELOPE_NOTICE;
    tr_status status = tr__group_begin(client->system, NULL, *to, &letter, &walk);
    if (status != TR_OK)
        return status;
    status = TR_STOPPED;
    struct cell *member;
    while ((member = tr__group_next(&walk))) {
        tr_status one = send_kind(client, member, walk.member, kind, type, message, ask, false);
        if (one == TR_STOPPED)
            continue;
        /*
         * If all members are full, the caller gets the first member that was tried, because it was
         * the turn of that member.
         */
        if (one != TR_MAILBOX_FULL || status == TR_STOPPED) {
            status = one;
            *cell = member;
            *to = walk.member;
        }
        if (one != TR_MAILBOX_FULL || walk.is_router)
            break;
    }
    if (status == TR_MAILBOX_FULL && mailbox_overflow_has(*cell, OVERFLOW_WAITS))
        status = send_kind(client, *cell, *to, kind, type, message, ask, true);
    if (status != TR_OK)
        tr__group_give_up(&walk);
    return status;
}

tr_status tr_client_tell(tr_client *client, tr_ref to, const tr_type *type, const void *message)
{
    CLIENT_VERB(client);
    if (!client || !type || !message)
        return TR_INVALID_ARGUMENT;
    struct cell *cell = slots_find(client->system->slots, to.bits);
    tr_status status = TR_STOPPED;
    if (cell && cell_is_group_address(cell))
        status = tr__client_send_group(client, &cell, &to.bits, type, message, NULL);
    else if (cell)
        status = deliver_from(client, cell, to.bits, ENVELOPE_NOTICE, type, message, NULL, true);
    if (status == TR_OK)
        return TR_OK;
    if (status == TR_MAILBOX_FULL && mailbox_overflow_has(cell, OVERFLOW_SWALLOWS))
        return drop_newest(client, to.bits, type, message);
    return message_refuse(client, to.bits, type, message, status);
}

static tr_status order(struct tr_client *client, tr_ref ref, enum envelope_kind kind);

/*
 * Sends an order to a group. An order to stop or to be killed goes to the group supervisor. Any
 * other order goes to each member.
 */
static tr_status order_group(struct tr_client *client, uint64_t ref, enum envelope_kind kind)
{
    struct tr_system *system = client->system;
    uint64_t supervisor = tr__group_behind(system->slots, ref);
    tr_status status = TR_STOPPED;
    if (kind == ENVELOPE_STOP || kind == ENVELOPE_KILL) {
        if (supervisor != ref)
            status = order(client, tr_ref_from_bits(supervisor), kind);
        if (status == TR_OK)
            tr__group_close(system, ref);
        return status;
    }
    uint64_t member;
    for (struct group_walk walk = tr__group_all(system, ref); tr__group_each(&walk, &member);) {
        tr_status one = order(client, tr_ref_from_bits(member), kind);
        if (one != TR_STOPPED)
            status = one;
        if (one == TR_NO_MEMORY)
            break;
    }
    return status;
}

static tr_status order(struct tr_client *client, tr_ref ref, enum envelope_kind kind)
{
    static const struct tr_none none;
    if (!client)
        return TR_INVALID_ARGUMENT;
    struct cell *cell = slots_find(client->system->slots, ref.bits);
    /* Only tr_system_shutdown may stop /user. */
    if (!cell || cell == client->system->user.guardian)
        return TR_STOPPED;
    if (cell_is_group_address(cell))
        return order_group(client, ref.bits, kind);
    tr_status status = tr__client_send(client, cell, ref.bits, kind, &tr_type_tr_none, &none, NULL);
    if (status != TR_OK || kind == ENVELOPE_STOP)
        return status;
    /*
     * This bit makes the actor look at its mail at once. If the slot has another tenant by now,
     * that tenant looks and finds nothing, which does no harm.
     */
    atom32_fetch_or(&cell->control, CONTROL_LOOK, ATOM_RELAXED);
    return TR_OK;
}

tr_status tr_client_stop(tr_client *client, tr_ref ref)
{
    CLIENT_VERB(client);
    return order(client, ref, ENVELOPE_STOP);
}

tr_status tr_client_kill(tr_client *client, tr_ref ref)
{
    CLIENT_VERB(client);
    return order(client, ref, ENVELOPE_KILL);
}

tr_status tr_client_suspend(tr_client *client, tr_ref ref)
{
    CLIENT_VERB(client);
    return order(client, ref, ENVELOPE_SUSPEND);
}

tr_status tr_client_resume(tr_client *client, tr_ref ref)
{
    CLIENT_VERB(client);
    return order(client, ref, ENVELOPE_RESUME);
}

tr_ref tr_client_find(tr_client *client, const char *path)
{
    CLIENT_VERB(client);
    if (!client || !path)
        return TR_NOBODY;
    return tr_ref_from_bits(tr__names_find(client->system->names, &client->reader, path));
}

tr_status tr_client_try_spawn(tr_client *client, const tr_spawn_args *given, uint64_t *ref_bits)
{
    CLIENT_VERB(client);
    tr_spawn_args copy;
    const tr_spawn_args *args = spawn_args_read(given, &copy);
    if (!client || !args || !ref_bits)
        return TR_INVALID_ARGUMENT;
    struct tr_system *system = client->system;
    tr_status status = tr__spawn_check(system, args);
    if (status != TR_OK)
        return status;
    if (args->name && pooled_is_held(system, args->name)) {
        tr__error_set(args->error,
                      TR_NAME_EXISTS,
                      0,
                      "%s: /user/%s, by an actor of the pool",
                      tr_status_text(TR_NAME_EXISTS),
                      args->name);
        return TR_NAME_EXISTS;
    }
    struct cell *cell;
    status = tr__spawn_enter(system, system->user.guardian, args->error);
    if (status != TR_OK)
        return status;
    status = tr__spawn_prepare(
        system, NULL, system->user.guardian, args, client->cell->identity, true, &cell);
    if (status != TR_OK) {
        tr__spawn_leave(system, system->user.guardian);
        return status;
    }
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.spawned, 1);
    lock_give(&system->foreign.lock);
    origin_rare_own(cell->origin)->causal = hash_mix(client->causal_next++);
    *ref_bits = cell->identity;
    cell->origin->worker = args->worker < 0 ? 0 : system_place(system, args->worker);
    door_open(&cell->door, cell->identity, CELL_FOREIGN, true);
    tr__names_show(cell->name, tr__group_of_child(cell));
    /*
     * The worker of the parent adds the cell to the list of children. Then it posts the cell to the
     * cell's own worker.
     */
    tr__spawn_send_off(system, NULL, cell);
    return TR_OK;
}

/*
 * Whether the client was notified that the spawn of this actor has failed. If so, sets *error to
 * the reason.
 */
static bool has_failed(struct tr_client *client, uint64_t ref, tr_error *error)
{
    uint32_t count = client->failure_count;
    if (count > TR_CLIENT_FAILURES_MAX)
        count = TR_CLIENT_FAILURES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (client->failures[i].ref != ref)
            continue;
        if (error)
            *error = client->failures[i].error;
        return true;
    }
    return false;
}

static tr_status outcome(tr_error *error, tr_status status, tr_ref ref, const char *text)
{
    tr__error_set(error, status, ref.bits, "%s", text);
    return status;
}

static tr_status spawn_wait(struct tr_client *client, tr_ref ref, tr_time timeout_ns,
                            tr_error *error)
{
    tr_time deadline_ns = tr__client_deadline(client, timeout_ns);
    client->probe = PROBE_IS_OUT;
    client->probed = ref.bits;
    uint64_t behind = tr__group_behind(client->system->slots, ref.bits);
    struct cell *cell = slots_find(client->system->slots, behind);
    tr_status status = TR_STOPPED;
    if (cell) {
        status = tr__client_send(client,
                                 cell,
                                 behind,
                                 ENVELOPE_PROBE,
                                 &tr_type_tr_probe,
                                 &(struct tr_probe){.ref = ref.bits},
                                 NULL);
    }
    if (status != TR_OK && status != TR_STOPPED)
        return outcome(error, status, ref, tr_status_text(status));
    for (;;) {
        tr__client_look(client);
        if (has_failed(client, ref.bits, error))
            return TR_INIT_FAILED;
        if (status == TR_STOPPED || client->probe == PROBE_IS_GONE)
            return outcome(
                error, TR_STOPPED, ref, "the actor has stopped; its set-up did not fail");
        if (client->probe == PROBE_IS_UP)
            return TR_OK;
        if (!tr__client_wait(client, deadline_ns))
            return outcome(error, TR_TIMEOUT, ref, "the set-up did not finish in time");
    }
}

tr_status tr_client_spawn_wait(tr_client *client, tr_ref ref, tr_time timeout_ns, tr_error *error)
{
    CLIENT_VERB(client);
    if (!client)
        return TR_INVALID_ARGUMENT;
    tr_status status = spawn_wait(client, ref, timeout_ns, error);
    tr__client_announce(client, false);
    return status;
}
