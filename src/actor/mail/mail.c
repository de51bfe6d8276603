/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/mail.h"

#include "actor/cell/dispatch.h"
#include "actor/cell/extra.h"
#include "actor/cell/post.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/mail/address.h"
#include "actor/mail/capacity.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/outbox.h"
#include "actor/mail/outcome.h"
#include "actor/mail/ready.h"
#include "actor/mail/refusal.h"
#include "actor/mail/send.h"
#include "base/assert.h"
#include "actor/mail/kind.h"

/*
 * A cell has high priority if more than HIGH_REPLIES replies wait in its mailboxes, or more than
 * HIGH_EVENTS events.
 */
enum { HIGH_REPLIES = 2, HIGH_EVENTS = 4 };

static bool ring_has_more_than(const struct envelope *last, int count)
{
    if (!last)
        return false;
    const struct door_mail *mail = last->mail.next;
    while (count-- > 0) {
        if (mail == &last->mail)
            return false;
        mail = mail->next;
    }
    return true;
}

enum task_class tr__mail_priority(const struct cell *cell)
{
    bool is_high = ring_has_more_than(cell->replies, HIGH_REPLIES) ||
                   ring_has_more_than(cell->events, HIGH_EVENTS);
    return is_high ? TASK_HIGH : TASK_NORMAL;
}

/*
 * Returns the code for a request that is refused while it waits in a mailbox of this actor. A
 * request that has returned from the stash of a durable actor has had a turn already. So the code
 * is REFUSAL_UNBEGUN only if the actor has no such message.
 */
static int unbegun_code(const struct cell *cell)
{
    const struct durable *durable = cell_durable(cell);
    return durable && durable->has_stashed ? 0 : REFUSAL_UNBEGUN;
}

void tr__mail_bury_one(struct worker *worker, struct cell *cell, struct envelope *envelope,
                       tr_status reason)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    /* This REPLY is a message of the runtime to a durable actor: see tr__durable_tell. */
    bool is_own = envelope->kind == ENVELOPE_REPLY && !envelope->sender && cell_durable(cell);
    if (is_own || envelope->kind == ENVELOPE_SIGNAL) {
        tr__mail_drop(worker, envelope); /* no actor waits for this envelope */
        return;
    }
    atom64_count(&worker->counters.dead, 1);
    tr__dead_letter(
        worker->system,
        worker,
        &(struct dead_letter){.type = envelope->type,
                              .message = envelope_data(envelope),
                              .size = mail_bytes(envelope),
                              .from = envelope->sender,
                              .to = (uint64_t)envelope->generation << 32 | (uint32_t)cell->identity,
                              .reason = reason});
    if (envelope->kind == ENVELOPE_ASK)
        tr__ask_refuse(worker, envelope, cell->identity, reason, unbegun_code(cell), NULL);
    else
        envelope_give(&worker->pool, envelope);
}

/* Returns the status that a sender gets when its message comes after a PoisonPill. */
static tr_status sealed_status(const struct cell *cell)
{
    const struct durable *durable = cell_durable(cell);
    return durable ? durable->refusal : TR_STOPPED;
}

/*
 * Checks a message to an actor that is sealed or metered. Returns false if the message was refused
 * and has become a dead letter.
 */
__attribute__((__noinline__)) static bool may_come_in(struct worker *worker, struct cell *cell,
                                                      struct envelope *envelope)
{
    if (cell->flags & CELL_SEALED && !kind_has(envelope->kind, MAIL_PASSES_SEAL)) {
        if (mail_takes_capacity(envelope))
            capacity_give_any(cell, envelope);
        tr__mail_bury_one(worker, cell, envelope, sealed_status(cell));
        return false;
    }
    if (cell->flags & CELL_METERED)
        tr__budget_mail(worker, cell, envelope);
    return true;
}

/* Whether a message goes to the mailbox of notices, as nearly all messages do. */
static inline bool is_plain(const struct cell *cell, const struct envelope *envelope)
{
    return envelope->kind == ENVELOPE_NOTICE ||
           (envelope->kind == ENVELOPE_ASK && !(cell->flags & CELL_BY_KIND));
}

/*
 * Puts mail into its mailbox. An answer goes to its ask instead, and mail that comes after a
 * PoisonPill is refused.
 */
static void take_in_message(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    if (mail_is_answer(envelope) && envelope->sender) {
        tr__ask_arrived(worker, cell, envelope);
        return;
    }
    if (__builtin_expect(cell->flags & (CELL_SEALED | CELL_METERED), 0) &&
        envelope->kind != ENVELOPE_PROBE && !may_come_in(worker, cell, envelope))
        return;
    /*
     * A probe only asks whether the actor is up, and the actor is up. So answer at once, without
     * waiting for a long queue or for the end of a suspension.
     */
    if (envelope->kind == ENVELOPE_PROBE && cell->flags & CELL_STARTED &&
        cell->sched_state != SCHED_MOUNTING) {
        tr__probe_answer(worker, envelope, true);
        return;
    }
    mail_count(cell, envelope);
    if (!is_plain(cell, envelope))
        cell->flags |= CELL_MIXED;
    switch (kind_box(envelope->kind)) {
    case MAIL_BOX_REPLIES:
        ring_push(&cell->replies, envelope);
        break;
    case MAIL_BOX_EXCEPTIONS:
        ring_push(&cell->exceptions, envelope);
        break;
    case MAIL_BOX_REQUESTS:
        ring_push(cell->flags & CELL_BY_KIND ? &cell->extra->mail.requests : &cell->notices,
                  envelope);
        break;
    case MAIL_BOX_NOTICES:
        ring_push(&cell->notices, envelope);
        break;
    case MAIL_BOX_EVENTS:
        ring_push(&cell->events, envelope);
        break;
    case MAIL_BOX_CHANNELS:
        ring_push(&slots_channels(cell)->ready, envelope);
        break;
    case MAIL_BOX_TAKEN:
    case MAIL_BOX_NONE:
        TR_NOT_REACHED("mail that waits in no mailbox");
    }
}

/*
 * Takes in mail of any kind. Calls the function that takes this kind or, if there is none, puts the
 * mail into its mailbox.
 */
static void take_in(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    mail_taker *taker = tr__mail_takers[envelope->kind];
    if (taker)
        taker(worker, cell, envelope);
    else
        take_in_message(worker, cell, envelope);
}

void tr__order_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (envelope->generation == cell_generation(cell)) {
        if (envelope->kind == ENVELOPE_SUSPEND)
            tr__extra_note_suspend(worker, cell, envelope->sender);
        tr__mail_order(cell, envelope->kind);
    }
    envelope_give(&worker->pool, envelope);
}

void tr__mail_order(struct cell *cell, uint32_t kind)
{
    bool is_up = cell->life == LIFE_RUNNING || cell->life == LIFE_SUSPENDED;
    switch (kind) {
    case ENVELOPE_STOP:
        if (cell->life < LIFE_STOPPING)
            cell->flags |= CELL_SEALED;
        break;
    case ENVELOPE_KILL:
        if (cell->life < LIFE_STOPPED)
            atom32_fetch_or(&cell->control, CONTROL_KILL, ATOM_RELAXED);
        break;
    case ENVELOPE_SUSPEND:
        if (is_up)
            cell->flags |= CELL_SUSPEND_WANTED;
        break;
    case ENVELOPE_RESUME:
        cell->flags &= (uint16_t)~CELL_SUSPEND_WANTED;
        break;
    default:
        TR_NOT_REACHED("no order");
    }
    /*
     * Make the actor look at its orders between two turns. An actor that is being restarted looks
     * at its orders too.
     */
    if (is_up || (cell->life == LIFE_STARTING && cell->dispatch))
        atom32_fetch_or(&cell->control, CONTROL_LOOK, ATOM_RELAXED);
}

/*
 * Whether an outer call of tr__mail_take_in is taking in mail of this cell already. This happens
 * because the functions that take mail may call tr__mail_take_in for the same cell. If there is such
 * a call, appends `chain` to the mail of that call, because the mail in `chain` is newer.
 */
static bool is_taking_in(struct worker *worker, const struct cell *cell, struct door_mail *chain)
{
    struct mail_taking *taking = worker->mail.taking;
    while (taking && taking->cell != cell)
        taking = taking->outer;
    if (!taking)
        return false;
    if (!chain)
        return true;
    struct door_mail *first = door_reverse(chain);
    if (taking->first)
        taking->last->next = first;
    else
        taking->first = first;
    taking->last = chain;
    return true;
}

void tr__mail_take_in(struct worker *worker, struct cell *cell, struct door_mail *chain)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (__builtin_expect(worker->mail.taking != NULL, 0) && is_taking_in(worker, cell, chain))
        return;
    struct mail_taking taking = {worker->mail.taking, cell, door_reverse(chain), chain};
    worker->mail.taking = &taking;
    while (taking.first) {
        struct envelope *envelope = (struct envelope *)(void *)taking.first;
        taking.first = taking.first->next;
        mail_taker *taker = tr__mail_takers[envelope->kind];
        if (taker) {
            taker(worker, cell, envelope);
            continue;
        }
        /* The envelope was sent to an earlier tenant, or arrived after the actor began to stop. */
        if (envelope->generation != cell_generation(cell) || cell->life >= LIFE_STOPPING) {
            if (envelope->kind == ENVELOPE_PROBE)
                tr__probe_answer(worker, envelope, cell->flags & CELL_STARTED);
            else
                tr__mail_bury_one(worker, cell, envelope, TR_STOPPED);
            continue;
        }
        bool is_narrow = cell->flags & CELL_EXACT_BOUND;
        if (__builtin_expect(is_narrow, 0) && tr__mail_is_misfit(cell, envelope)) {
            tr__capacity_give(cell, mail_lines(envelope));
            tr__mail_bury_one(worker, cell, envelope, TR_MAILBOX_FULL);
            continue;
        }
        take_in_message(worker, cell, envelope);
    }
    worker->mail.taking = taking.outer;
    if (__builtin_expect(cell->flags & CELL_EXACT_BOUND, 0))
        tr__mail_drop_oldest(worker, cell);
}

void tr__mail_answer_probes(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct envelope *others = NULL;
    while (cell->notices) {
        struct envelope *envelope = ring_pop(&cell->notices);
        if (envelope->kind != ENVELOPE_PROBE) {
            ring_push(&others, envelope);
            continue;
        }
        mail_uncount(cell, envelope);
        tr__probe_answer(worker, envelope, true);
    }
    cell->notices = others;
}

void tr__mail_drop(struct worker *worker, struct envelope *envelope)
{
    if (envelope->kind != ENVELOPE_VOID)
        /* subtract the envelope from `accepted` again, as if it had never been sent */
        atom64_count(&worker->counters.accepted, UINT64_MAX);
    envelope_give(&worker->pool, envelope);
}

static tr_status push(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    /* Read the kind before the push, because the envelope may be gone right after it. */
    uint64_t is_counted = mail_counts(envelope);
    enum door_result result = door_push(&cell->door, &envelope->mail);
    if (result == DOOR_REFUSED)
        return TR_STOPPED;
    atom64_count(&worker->counters.accepted, is_counted);
    if (result == DOOR_TAKEN_POST)
        tr__system_post(worker->system, &worker->counters, cell);
    return TR_OK;
}

/*
 * Checks an envelope to a client. Refuses a request, because clients do not answer. In an answer,
 * replaces the deadline by the time of sending, because the client may look at the answer much
 * later.
 */
__attribute__((__noinline__)) static tr_status look_at_client(struct worker *worker,
                                                              struct envelope *envelope)
{
    if (envelope->kind == ENVELOPE_ASK)
        return TR_NO_REPLY;
    if (mail_is_answer(envelope))
        envelope->payload.ask.deadline_ms = ask_stamp_ms(clock_bound_roughly(&worker->clock));
    return TR_OK;
}

static tr_status send_far(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    uint32_t owner = cell_owner(cell);
    if (__builtin_expect(owner == CELL_FOREIGN, 0) && cell_is_client(cell)) {
        tr_status status = look_at_client(worker, envelope);
        if (status != TR_OK)
            return status;
    }
    if (mail_takes_capacity(envelope)) {
        tr_status status = tr__capacity_take_far(cell, envelope);
        if (__builtin_expect(status != TR_OK, 0))
            return status;
    }
    struct envelope *sent = envelope;
    if (kind_has(envelope->kind, MAIL_MAY_BE_COPIED) && owner < worker->system->worker_count)
        sent = envelope_swap(&worker->pool, envelope, owner);
    tr_status status = push(worker, cell, sent);
    if (sent != envelope)
        envelope_give_empty(&worker->pool, status == TR_OK ? envelope : sent);
    return status;
}

tr_status tr__mail_place(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (cell_owner(cell) != worker->index)
        return push(worker, cell, envelope);
    mail_look(worker, cell);
    if (cell->flags & CELL_SEALED)
        return sealed_status(cell);
    atom64_count(&worker->counters.accepted, 1);
    take_in_message(worker, cell, envelope);
    if (mail_is_idle(cell) && !(cell->flags & CELL_BARRIER))
        mail_make_ready(worker, cell);
    return TR_OK;
}

/*
 * Sends to an actor of this worker that is sealed or metered. This function is not inline, so that
 * sending to any other actor costs only one test.
 */
__attribute__((__noinline__)) static tr_status send_looking(struct worker *worker,
                                                            struct cell *cell,
                                                            struct envelope *envelope)
{
    if (cell->flags & CELL_SEALED && !kind_has(envelope->kind, MAIL_PASSES_SEAL))
        return sealed_status(cell);
    if (mail_takes_capacity(envelope) && !capacity_take_fast(cell, envelope)) {
        tr_status status = tr__mail_overflow(worker, cell, envelope);
        if (status != TR_OK)
            return status;
    }
    atom64_count(&worker->counters.accepted, mail_counts(envelope));
    take_in(worker, cell, envelope);
    if (mail_is_idle(cell) && (!(cell->flags & CELL_BARRIER) || mail_has_arrived(cell) ||
                               atom32_load(&cell->control, ATOM_RELAXED)))
        mail_make_ready(worker, cell);
    return TR_OK;
}

tr_status tr__mail_send(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    if (__builtin_expect(worker->outbox_turn != NULL, 0))
        return tr__outbox_send(worker, cell, envelope);
    if (__builtin_expect(cell_owner(cell) != worker->index, 0))
        return send_far(worker, cell, envelope);
    /*
     * First take in the mail of other threads that has already arrived, because it comes before
     * this envelope.
     */
    mail_look(worker, cell);
    if (mail_is_answer(envelope) && envelope->sender) {
        atom64_count(&worker->counters.accepted, 1);
        tr__ask_arrived(worker, cell, envelope); /* if the actor must run, this makes it ready */
        return TR_OK;
    }
    if (__builtin_expect(cell->flags & (CELL_SEALED | CELL_METERED), 0))
        return send_looking(worker, cell, envelope);
    if (mail_takes_capacity(envelope) && __builtin_expect(!capacity_take_fast(cell, envelope), 0)) {
        tr_status status = tr__mail_overflow(worker, cell, envelope);
        if (status != TR_OK)
            return status;
    }
    if (__builtin_expect(is_plain(cell, envelope), 1)) {
        atom64_count(&worker->counters.accepted, 1);
        mail_count(cell, envelope);
        ring_push(&cell->notices, envelope);
    } else {
        atom64_count(&worker->counters.accepted, mail_counts(envelope));
        take_in(worker, cell, envelope);
    }
    if (mail_is_idle(cell) && (!(cell->flags & CELL_BARRIER) || mail_has_arrived(cell) ||
                               atom32_load(&cell->control, ATOM_RELAXED)))
        mail_make_ready(worker, cell);
    return TR_OK;
}

tr_status tr__mail_send_now(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_self *held = worker_hold_sends(worker, NULL);
    tr_status status = tr__mail_send(worker, cell, envelope);
    (void)worker_hold_sends(worker, held);
    return status;
}

tr_status tr__mail_send_outside(struct tr_system *system, struct cell *cell,
                                struct envelope *envelope)
{
    tr_status status = TR_OK;
    if (envelope->kind == ENVELOPE_ASK && cell_is_client(cell))
        return TR_NO_REPLY; /* clients answer no requests */
    if (mail_takes_capacity(envelope))
        status = tr__capacity_take_far(cell, envelope);
    return status == TR_OK ? mail_push_outside(system, cell, envelope) : status;
}

void tr__mail_send_any(struct tr_system *system, struct worker *worker, struct cell *cell,
                       struct envelope *envelope)
{
    if (worker) {
        if (tr__mail_send(worker, cell, envelope) != TR_OK)
            envelope_give(&worker->pool, envelope);
        return;
    }
    if (tr__mail_send_outside(system, cell, envelope) == TR_OK)
        return;
    lock_take(&system->foreign.lock);
    envelope_give(&system->foreign.pool, envelope);
    lock_give(&system->foreign.lock);
}

/*
 * Makes the worker that owns `child` look at the control bits that the caller has set in the child.
 */
static void order_far(struct worker *worker, struct cell *child)
{
    struct tr_system *system = worker->system;
    switch (door_nudge(&child->door)) {
    case DOOR_TAKEN:
        break;
    case DOOR_TAKEN_POST:
        tr__system_post(system, &worker->counters, child);
        break;
    case DOOR_REFUSED: /* the child has no children left and is about to end */
        break;
    }
}

void tr__child_order(struct worker *worker, struct cell *child, uint32_t bits)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    atom32_fetch_or(&child->control, bits, ATOM_SEQ_CST); /* pairs with tr__cell_handle_control */
    if (cell_owner(child) != worker->index)
        order_far(worker, child);
    else
        mail_rouse(worker, child);
}

tr_ref tr_sender(const tr_self *self)
{
    return tr_ref_from_bits(self ? turn_sender(self) : 0);
}
