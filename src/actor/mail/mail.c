/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/mail.h"

#include "actor/turn/budget.h"
#include "actor/ask/ask.h"
#include "actor/verbs/client.h"
#include "actor/life/extra.h"
#include "actor/mail/outbox.h"
#include "actor/life/supervise.h"
#include "actor/ask/waiters.h"
#include "actor/life/watchers.h"
#include "actor/verbs/why.h"
#include "base/assert.h"

enum { HIGH_REPLIES = 2, HIGH_EVENTS = 4 }; /* more than this many waiting: high priority */

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

void tr__mail_bury_one(struct worker *worker, struct cell *cell, struct envelope *envelope,
                       tr_status reason)
{
    /* Of a durable actor: tr__durable_tell. */
    bool is_own = envelope->kind == ENVELOPE_REPLY && !envelope->sender && cell_durable(cell);
    if (is_own || envelope->kind == ENVELOPE_SIGNAL) {
        tr__mail_drop(worker, envelope); /* nobody misses it */
        return;
    }
    atom64_count(&worker->counters.dead, 1);
    tr__dead_letter(
        worker->system,
        worker,
        &(struct dead_letter){.type = envelope->type,
                              .from = envelope->sender,
                              .to = (uint64_t)envelope->generation << 32 | (uint32_t)cell->identity,
                              .reason = reason});
    if (envelope->kind == ENVELOPE_ASK)
        tr__ask_refuse(worker, envelope, cell->identity, reason, 0, NULL);
    else
        envelope_give(&worker->pool, envelope);
}

/* What senders get that come behind a PoisonPill. */
static tr_status sealed_status(const struct cell *cell)
{
    const struct durable *durable = cell_durable(cell);
    return durable ? durable->refusal : TR_STOPPED;
}

/* Of messages to an actor that is sealed or metered: false when it was refused. */
__attribute__((__noinline__)) static bool may_come_in(struct worker *worker, struct cell *cell,
                                                      struct envelope *envelope)
{
    if (cell->flags & CELL_SEALED && envelope->kind > ENVELOPE_EXCEPTION) {
        if (mail_takes_capacity(envelope))
            capacity_give_any(cell, envelope);
        tr__mail_bury_one(worker, cell, envelope, sealed_status(cell));
        return false;
    }
    if (cell->flags & CELL_METERED)
        tr__budget_mail(worker, cell, envelope);
    return true;
}

/* The runtime's own mail: whoever takes it looks himself whether it comes too late. */
static void take_in_own(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    if (envelope->kind == ENVELOPE_STORED)
        cell_durable(cell)->hooks->on_stored(worker, cell, envelope);
    else if (envelope->kind >= ENVELOPE_FAILED)
        tr__supervision_mail(worker, cell, envelope);
    else if (envelope->kind >= ENVELOPE_WATCH)
        tr__watch_mail(worker, cell, envelope);
    else
        tr__waiters_mail(worker, cell, envelope);
}

/* Whether a message goes to the mailbox of notices, as nearly all do. */
static inline bool is_plain(const struct cell *cell, const struct envelope *envelope)
{
    return envelope->kind == ENVELOPE_NOTICE ||
           (envelope->kind == ENVELOPE_ASK && !(cell->flags & CELL_BY_KIND));
}

/* A message that counts. What comes behind a PoisonPill is refused. */
static void take_in_message(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    bool is_probe = envelope->kind == ENVELOPE_PROBE; /* no message: nobody refuses it */
    if (envelope->kind >= ENVELOPE_WANTED) {
        take_in_own(worker, cell, envelope);
        return;
    }
    if (envelope->kind <= ENVELOPE_EXCEPTION && envelope->sender) {
        tr__ask_arrived(worker, cell, envelope);
        return;
    }
    if (__builtin_expect(cell->flags & (CELL_SEALED | CELL_METERED), 0) && !is_probe &&
        !may_come_in(worker, cell, envelope))
        return;
    /* It is up, and is asked no more than that: a long queue, or to be Suspended, is no matter. */
    if (is_probe && cell->flags & CELL_STARTED && cell->sched_state != SCHED_MOUNTING) {
        tr__probe_answer(worker, envelope, true);
        return;
    }
    mail_count(cell, envelope);
    if (!is_plain(cell, envelope))
        cell->flags |= CELL_MIXED;
    switch ((enum envelope_kind)envelope->kind) {
    case ENVELOPE_REPLY:
        ring_push(&cell->replies, envelope);
        break;
    case ENVELOPE_EXCEPTION:
        ring_push(&cell->exceptions, envelope);
        break;
    case ENVELOPE_ASK:
        ring_push(cell->flags & CELL_BY_KIND ? &cell->extra->mail.requests : &cell->notices,
                  envelope);
        break;
    case ENVELOPE_EVENT:
        ring_push(&cell->events, envelope);
        break;
    case ENVELOPE_NOTICE:
    case ENVELOPE_SIGNAL:
    case ENVELOPE_STOP:
    case ENVELOPE_KILL:
    case ENVELOPE_SUSPEND:
    case ENVELOPE_RESUME:
    case ENVELOPE_VOID:
    case ENVELOPE_PROBE:
    case ENVELOPE_OUTCOME:
    case ENVELOPE_ANSWERED:
    case ENVELOPE_WANTED:
    case ENVELOPE_GRANT:
    case ENVELOPE_BACK:
    case ENVELOPE_TRACE:
    case ENVELOPE_TRACED:
    case ENVELOPE_RING:
    case ENVELOPE_RETURNED:
    case ENVELOPE_WHY:
    case ENVELOPE_STORED:
    case ENVELOPE_WATCH:
    case ENVELOPE_UNWATCH:
    case ENVELOPE_FAILED:
    case ENVELOPE_DECIDED:
    case ENVELOPE_DOWN:
    case ENVELOPE_UP:
        ring_push(&cell->notices, envelope);
        break;
    }
}

/* Kill and PoisonPill act when they are taken in. True when the envelope was one of them. */
static bool take_in_order(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    if (envelope->kind < ENVELOPE_STOP || envelope->kind > ENVELOPE_RESUME)
        return false;
    if (envelope->generation == cell_generation(cell)) {
        if (envelope->kind == ENVELOPE_SUSPEND)
            tr__why_suspends(worker, cell, envelope->sender);
        tr__mail_order(cell, (enum envelope_kind)envelope->kind);
    }
    envelope_give(&worker->pool, envelope);
    return true;
}

void tr__mail_order(struct cell *cell, enum envelope_kind kind)
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
        TR_UNREACHABLE("no order");
    }
    /* Between two turns the run looks at what is asked of it; so does one that is restarted. */
    if (is_up || (cell->life == LIFE_STARTING && cell->dispatch))
        atom32_fetch_or(&cell->control, CONTROL_LOOK, ATOM_RELAXED);
}

/* What is taken in may make others look behind the same door: that is newer, and goes behind. */
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
    if (__builtin_expect(worker->mail.taking != NULL, 0) && is_taking_in(worker, cell, chain))
        return;
    struct mail_taking taking = {worker->mail.taking, cell, door_reverse(chain), chain};
    worker->mail.taking = &taking;
    while (taking.first) {
        struct envelope *envelope = (struct envelope *)(void *)taking.first;
        taking.first = taking.first->next;
        if (take_in_order(worker, cell, envelope))
            continue;
        if (envelope->kind >= ENVELOPE_WANTED) {
            take_in_own(worker, cell, envelope);
            continue;
        }
        /* Sent to an earlier tenant, or after the door was closed. */
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

bool tr__mail_join(struct cell *cell)
{
    TR_ASSERT(!cell->cycle);
    cell->flags &= (uint16_t)~CELL_MIXED;
    cell->cycle = cell->replies;
    cell->replies = NULL;
    ring_join(&cell->cycle, &cell->exceptions);
    if (!(cell->flags & CELL_BARRIER)) {
        if (cell->extra)
            ring_join(&cell->cycle, &cell->extra->mail.requests);
        ring_join(&cell->cycle, &cell->notices);
    }
    if (!mail_holds_events(cell))
        ring_join(&cell->cycle, &cell->events);
    return cell->cycle;
}

void tr__mail_hold(struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *others = NULL;
    cell->flags |= CELL_BARRIER;
    while (cell->cycle) {
        struct envelope *envelope = ring_pop(&cell->cycle);
        bool waits = mail_takes_capacity(envelope) || envelope->kind == ENVELOPE_SIGNAL;
        waits |= extra->durable && envelope->kind == ENVELOPE_EVENT;
        ring_push(waits ? &extra->mail.held : &others, envelope);
    }
    cell->cycle = others;
}

/* Takes the replies and exceptions with which a cycle begins. */
static struct envelope *take_first(struct cell *cell)
{
    struct envelope *first = NULL;
    while (cell->cycle) {
        struct envelope *next = (struct envelope *)(void *)cell->cycle->mail.next;
        if (next->kind > ENVELOPE_EXCEPTION)
            break;
        ring_push(&first, ring_pop(&cell->cycle));
    }
    return first;
}

void tr__mail_release(struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *first = take_first(cell);
    cell->flags &= (uint16_t)~CELL_BARRIER;
    cell->flags |= CELL_MIXED; /* asks may wait */
    ring_join(&first, &extra->mail.held);
    ring_join(&first, &cell->cycle);
    cell->cycle = first;
}

void tr__mail_resume_cycle(struct cell *cell)
{
    /* Older replies and exceptions of the cycle stay before newer ones. */
    struct envelope *first = take_first(cell);
    ring_join(&first, &cell->replies);
    ring_join(&first, &cell->exceptions);
    ring_join(&first, &cell->cycle);
    cell->cycle = first;
}

void tr__mail_drop(struct worker *worker, struct envelope *envelope)
{
    if (envelope->kind != ENVELOPE_VOID)
        atom64_count(&worker->counters.accepted, UINT64_MAX); /* as if it had never been */
    envelope_give(&worker->pool, envelope);
}

/* What turns wait for goes through behind a PoisonPill too. */
static bool is_for_a_turn(const struct envelope *envelope)
{
    return envelope->kind <= ENVELOPE_EXCEPTION || envelope->kind >= ENVELOPE_WANTED;
}

static tr_status push(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    /* Behind the door it may be gone at once. */
    uint64_t is_counted = envelope->kind <= ENVELOPE_SIGNAL;
    enum door_result result = door_push(&cell->door, &envelope->mail);
    if (result == DOOR_REFUSED)
        return TR_STOPPED;
    atom64_count(&worker->counters.accepted, is_counted);
    if (result == DOOR_TAKEN_POST)
        tr__system_post(worker->system, &worker->counters, cell);
    return TR_OK;
}

/* Whether it is known to nobody by its address: a copy is as good. */
static bool may_be_copied(const struct envelope *envelope)
{
    return envelope->kind <= ENVELOPE_NOTICE;
}

/*
 * To a client, which answers no requests. An answer has the time at which it was sent instead of a deadline:
 * the client may look at it much later.
 */
__attribute__((__noinline__)) static tr_status look_at_client(struct worker *worker,
                                                              struct envelope *envelope)
{
    if (envelope->kind == ENVELOPE_ASK)
        return TR_NO_REPLY;
    if (envelope->kind <= ENVELOPE_EXCEPTION)
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
    if (may_be_copied(envelope) && owner < worker->system->worker_count)
        sent = envelope_swap(&worker->pool, envelope, owner);
    tr_status status = push(worker, cell, sent);
    if (sent != envelope)
        envelope_give_empty(&worker->pool, status == TR_OK ? envelope : sent);
    return status;
}

tr_status tr__mail_place(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    if (cell_owner(cell) != worker->index)
        return push(worker, cell, envelope);
    mail_look(worker, cell);
    if (cell->flags & CELL_SEALED)
        return TR_STOPPED;
    atom64_count(&worker->counters.accepted, 1);
    take_in_message(worker, cell, envelope);
    if (mail_is_idle(cell) && !(cell->flags & CELL_BARRIER))
        mail_make_ready(worker, cell);
    return TR_OK;
}

/* To an actor of this worker that is sealed or metered. Apart, so that others pay for one test. */
__attribute__((__noinline__)) static tr_status send_looking(struct worker *worker,
                                                            struct cell *cell,
                                                            struct envelope *envelope)
{
    if (cell->flags & CELL_SEALED && !is_for_a_turn(envelope))
        return sealed_status(cell);
    if (mail_takes_capacity(envelope) && !capacity_take_fast(cell, envelope)) {
        tr_status status = tr__mail_overflow(worker, cell, envelope);
        if (status != TR_OK)
            return status;
    }
    atom64_count(&worker->counters.accepted, envelope->kind <= ENVELOPE_SIGNAL);
    take_in_message(worker, cell, envelope);
    if (mail_is_idle(cell) && (!(cell->flags & CELL_BARRIER) || mail_has_arrived(cell)))
        mail_make_ready(worker, cell);
    return TR_OK;
}

tr_status tr__mail_send(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    if (__builtin_expect(worker->outbox != NULL, 0))
        return tr__outbox_send(worker, cell, envelope);
    if (__builtin_expect(cell_owner(cell) != worker->index, 0))
        return send_far(worker, cell, envelope);
    /* What came from elsewhere came first. */
    mail_look(worker, cell);
    if (envelope->kind <= ENVELOPE_EXCEPTION && envelope->sender) {
        atom64_count(&worker->counters.accepted, 1);
        tr__ask_arrived(worker, cell, envelope); /* which wakes whom it must */
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
        atom64_count(&worker->counters.accepted, envelope->kind <= ENVELOPE_SIGNAL);
        take_in_message(worker, cell, envelope);
    }
    if (mail_is_idle(cell) && (!(cell->flags & CELL_BARRIER) || mail_has_arrived(cell) ||
                               atom32_load(&cell->control, ATOM_RELAXED)))
        mail_make_ready(worker, cell);
    return TR_OK;
}

tr_status tr__mail_send_outside(struct tr_system *system, struct cell *cell,
                                struct envelope *envelope)
{
    uint64_t is_counted = envelope->kind <= ENVELOPE_SIGNAL;
    tr_status status = TR_OK;
    if (envelope->kind == ENVELOPE_ASK && cell_is_client(cell))
        return TR_NO_REPLY; /* clients answer no requests */
    if (mail_takes_capacity(envelope))
        status = tr__capacity_take_far(cell, envelope);
    if (status != TR_OK)
        return status;
    enum door_result result = door_push(&cell->door, &envelope->mail);
    if (result == DOOR_REFUSED)
        return TR_STOPPED;
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.accepted, is_counted);
    lock_give(&system->foreign.lock);
    if (result == DOOR_TAKEN_POST)
        tr__system_post(system, NULL, cell);
    return TR_OK;
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
