/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/waiters.h"

#include "actor/ask/ask.h"
#include "actor/ask/ask_trace.h"
#include "actor/ask/letter.h"
#include "actor/ask/line.h"
#include "actor/ask/ask_cycle.h"
#include "actor/cell/client.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/extra.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/overflow.h"
#include "actor/mail/capacity.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"

struct tr_self *tr__waiter_find(struct cell *cell, uint64_t number)
{
    if (cell->life == LIFE_NEW || !cell->extra)
        return NULL;
    /*
     * Search from the end, where the turns are that began to wait last. The turn that this function
     * looks for waits for capacity, so it is a barrier, and few turns began to wait after it.
     */
    struct list *parked = &cell->extra->parked.turns;
    for (struct list *link = parked->previous; link != parked; link = link->previous) {
        struct tr_self *self = LIST_OWNER(link, struct tr_self, wait.link);
        if (self->waits.number == number)
            return self->state == TURN_PARKED ? self : NULL;
    }
    return NULL;
}

/* ---- The receiver, whose mailbox is full. ---- */

/*
 * Reserves all free capacity, including the stock, for the senders that wait. If the mailbox is
 * over its bound, the capacity covers the excess first.
 */
static void reserve_all(struct cell *cell)
{
    int32_t messages = CAPACITY_LARGEST;
    int32_t lines = CAPACITY_LARGEST;
    capacity_take_some(&cell->door.capacity, &messages, &lines);
    messages += (int32_t)(cell->stock & 0xffff);
    lines += (int32_t)(cell->stock >> STOCK_LINES_SHIFT);
    cell->stock = 0;
    tr__capacity_reserve(cell, messages, lines);
}

/*
 * Ends the reservation, because no sender waits any more. From now on any sender may take the
 * reserved capacity.
 */
static void reserve_end(struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    cell->flags &= (uint16_t)~CELL_HAS_WAITING_SENDERS;
    capacity_give(&cell->door.capacity, extra->senders.reserved, extra->senders.reserved_lines);
    extra->senders.reserved = 0;
    extra->senders.reserved_lines = 0;
}

static struct tr_client *client_of(const struct envelope *wanted)
{
    return (struct tr_client *)(uintptr_t)wanted->causal;
}

/*
 * Answers a sender that waits, with granted capacity or with an error. If the sender is gone, frees
 * the envelope and returns false.
 */
static bool answer(struct worker *worker, struct cell *cell, struct envelope *wanted,
                   int32_t messages, int32_t lines, tr_status status)
{
    struct tr_capacity *capacity = capacity_of(wanted);
    capacity->messages = messages;
    capacity->lines = lines;
    capacity->status = status;
    if (capacity->is_client && !client_claim(client_of(wanted), capacity->number)) {
        envelope_give(&worker->pool, wanted);
        return false;
    }
    return tr__letter_send(worker, wanted, ENVELOPE_GRANT, wanted->sender, cell->identity);
}

static struct envelope *first_of(const struct cell_extra *extra)
{
    return (struct envelope *)(void *)extra->senders.ring->mail.next;
}

/*
 * Removes the first sender that waits, and grants capacity to that sender unless it is gone. If the
 * reserved capacity does not suffice, removes nothing and returns false.
 */
static bool grant_first(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *first = first_of(extra);
    struct tr_capacity *capacity = capacity_of(first);
    bool is_gone = capacity->is_client && !client_waits(client_of(first), capacity->number);
    if (!is_gone &&
        (extra->senders.reserved < 1 || extra->senders.reserved_lines < capacity->lines))
        return false;
    int32_t messages =
        capacity->messages < extra->senders.reserved ? capacity->messages : extra->senders.reserved;
    int32_t lines = messages * capacity->lines;
    lines = lines < extra->senders.reserved_lines ? lines : extra->senders.reserved_lines;
    (void)ring_pop(&extra->senders.ring);
    if (is_gone) {
        envelope_give(&worker->pool, first);
        return true;
    }
    extra->senders.reserved -= messages;
    extra->senders.reserved_lines -= lines;
    if (!answer(worker, cell, first, messages, lines, TR_OK)) {
        extra->senders.reserved += messages;
        extra->senders.reserved_lines += lines;
    }
    return true;
}

void tr__waiters_serve(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    /* this call comes from the loop below, which uses the capacity that came back */
    if (extra->senders.is_serving)
        return;
    if (cell->flags & CELL_SEALED) {
        tr__waiters_refuse(worker, cell, TR_STOPPED);
        return;
    }
    /* If the mailbox is over its bound, cover the excess before a sender gets capacity. */
    tr__capacity_reserve(cell, 0, 0);
    extra->senders.is_serving = true;
    while (extra->senders.ring && grant_first(worker, cell))
        ;
    extra->senders.is_serving = false;
    if (!extra->senders.ring)
        reserve_end(cell);
}

void tr__waiters_refuse(struct worker *worker, struct cell *cell, tr_status status)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    while (cell->extra->senders.ring)
        (void)answer(worker, cell, ring_pop(&cell->extra->senders.ring), 0, 0, status);
    reserve_end(cell);
}

void tr__waiters_rebound(struct worker *worker, struct cell *cell, struct mail_bound bound)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    struct envelope *others = NULL;
    while (extra->senders.ring) {
        struct envelope *wanted = ring_pop(&extra->senders.ring);
        if (overflow_has(bound.overflow, OVERFLOW_WAITS) &&
            capacity_of(wanted)->lines <= bound.lines)
            ring_push(&others, wanted);
        else
            (void)answer(worker, cell, wanted, 0, 0, TR_MAILBOX_FULL);
    }
    extra->senders.ring = others;
    if (!others)
        reserve_end(cell);
}

/*
 * Adds a sender to the ring, behind the senders that wait already. Takes the envelope on TR_OK
 * only.
 */
static tr_status enlist(struct worker *worker, struct cell *cell, struct envelope *wanted)
{
    if (cell->life >= LIFE_STOPPING || cell->flags & CELL_SEALED)
        return TR_STOPPED;
    struct mail_bound bound = mail_bound_of(cell->dispatch->behavior);
    if (capacity_of(wanted)->lines > bound.lines)
        return TR_MAILBOX_FULL; /* the message is larger than the whole mailbox */
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return TR_NO_MEMORY;
    ring_push(&extra->senders.ring, wanted);
    cell->flags |= CELL_HAS_WAITING_SENDERS;
    reserve_all(cell);
    return TR_OK;
}

/*
 * Handles the WANTED of a sender on another worker, or of a client. If there is capacity by now,
 * grants it at once, because it is possible that no mail makes the actor run.
 */
static void on_wanted(struct worker *worker, struct cell *cell, struct envelope *wanted)
{
    tr_status status = enlist(worker, cell, wanted);
    if (status != TR_OK) {
        (void)answer(worker, cell, wanted, 0, 0, status);
        return;
    }
    tr__waiters_serve(worker, cell);
    /* The actor may have changed to a behavior for which senders do not wait. */
    if (!mailbox_overflow_has(cell, OVERFLOW_WAITS))
        tr__waiters_refuse(worker, cell, TR_MAILBOX_FULL);
}

void tr__waiters_mount(struct worker *worker, struct cell *cell, bool is_up)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct envelope *kept = cell->exceptions;
    cell->exceptions = NULL;
    while (kept) {
        struct envelope *envelope = ring_pop(&kept);
        if (envelope->kind != ENVELOPE_WANTED) {
            ring_push(&cell->exceptions, envelope);
            continue;
        }
        mail_uncount(cell, envelope);
        if (is_up)
            on_wanted(worker, cell, envelope);
        else
            (void)answer(worker, cell, envelope, 0, 0, TR_STOPPED);
    }
}

/* Finds the WANTED of a sender that has given up, and removes it from the ring of the receiver. */
static void strike_out(struct worker *worker, struct cell *cell, uint64_t sender, uint64_t number)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *others = NULL;
    struct envelope *found = NULL;
    if (!extra || !extra->senders.ring)
        return;
    while (extra->senders.ring && !found) {
        struct envelope *wanted = ring_pop(&extra->senders.ring);
        if (wanted->sender == sender && capacity_of(wanted)->number == number)
            found = wanted;
        else
            ring_push(&others, wanted);
    }
    ring_join(&others, &extra->senders.ring);
    extra->senders.ring = others;
    if (!found)
        return;
    envelope_give(&worker->pool, found);
    tr__waiters_serve(worker, cell); /* senders behind the removed one may get capacity now */
}

static void on_back(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_capacity *capacity = capacity_of(envelope);
    if (capacity->status == TR_CANCELLED) {
        strike_out(worker, cell, envelope->sender, capacity->number);
    } else if (cell->flags & CELL_HAS_WAITING_SENDERS) {
        tr__capacity_reserve(cell, capacity->messages, capacity->lines);
        tr__waiters_serve(worker, cell);
    } else {
        capacity_give(&cell->door.capacity, capacity->messages, capacity->lines);
    }
    envelope_give(&worker->pool, envelope);
}

/* ---- The sender that waits. ---- */

/* Sends what is left of a GRANT back to the receiver. If nothing is left, frees the envelope. */
static void give_back(struct worker *worker, struct envelope *grant)
{
    if (capacity_of(grant)->messages || capacity_of(grant)->lines)
        (void)tr__letter_send(worker, grant, ENVELOPE_BACK, grant->sender, 0);
    else
        envelope_give(&worker->pool, grant);
}

static void grant_return(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct envelope *grant = self->capacity.grant;
    self->capacity.grant = NULL;
    give_back(self->worker, grant);
}

void tr__grants_return(struct cell *cell)
{
    if (!(cell->flags & CELL_WOKEN))
        return;
    for (struct tr_self *self = cell->extra->parked.woken_first; self;
         self = self->wait.woken_next) {
        if (self->capacity.grant)
            grant_return(self);
    }
}

static void on_grant(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_capacity *capacity = capacity_of(envelope);
    struct tr_self *self =
        cell->life < LIFE_STOPPING ? tr__waiter_find(cell, capacity->number) : NULL;
    if (!self) {
        give_back(worker, envelope);
        return;
    }
    tr_status status = (tr_status)capacity->status;
    self->waits.number = 0; /* the wait was answered */
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    else if (cell->flags & CELL_SUSPENDED)
        /*
         * give the capacity back, because other senders can use it now; this turn asks again when
         * it resumes
         */
        give_back(worker, envelope);
    else
        self->capacity.grant = envelope;
    tr__turn_wake(self, status);
}

/* Whether an actor is being set up for the first time, and not restarted. */
static bool is_first_start(const struct cell *cell)
{
    return cell->life == LIFE_STARTING && !(cell->extra && cell->extra->supervision.failure);
}

void tr__waiters_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    bool is_here = envelope->generation == cell_generation(cell) && cell->life < LIFE_STOPPED;
    switch ((enum envelope_kind)envelope->kind) {
    case ENVELOPE_WANTED:
        if (!is_here) {
            (void)answer(worker, cell, envelope, 0, 0, TR_STOPPED);
        } else if (cell->life == LIFE_NEW || (is_first_start(cell) && cell->exceptions)) {
            /*
             * Keep the WANTED in `exceptions`, where an actor that has not asked yet has no other
             * mail. tr__waiters_mount takes the WANTED out again.
             */
            mail_count(cell, envelope);
            ring_push(&cell->exceptions, envelope);
        } else {
            on_wanted(worker, cell, envelope);
        }
        return;
    case ENVELOPE_GRANT:
        if (is_here)
            on_grant(worker, cell, envelope);
        else
            give_back(worker, envelope);
        return;
    case ENVELOPE_BACK:
        if (is_here && cell->life < LIFE_STOPPING)
            on_back(worker, cell, envelope);
        else
            envelope_give(&worker->pool, envelope);
        return;
    case ENVELOPE_CYCLE:
        if (is_here)
            tr__ask_cycle_mail(worker, cell, envelope);
        else
            envelope_give(&worker->pool, envelope);
        return;
    case ENVELOPE_TRACE:
        tr__ask_trace_mail(worker, cell, envelope);
        return;
    case ENVELOPE_TRACED:
        tr__ask_told(worker, cell, envelope);
        return;
    default:
        TR_NOT_REACHED("no mail of those who wait");
    }
}

/* ---- Waiting. ---- */

/*
 * Asks for capacity with a WANTED. Takes the envelope. If this returns TR_OK, an answer will come.
 */
static tr_status want(struct worker *worker, struct envelope *wanted, uint64_t to, uint64_t from)
{
    struct cell *cell = slots_find(worker->slots, to);
    if (!cell || cell_owner(cell) != worker->index)
        return tr__letter_send(worker, wanted, ENVELOPE_WANTED, to, from) ? TR_OK : TR_STOPPED;
    /* first take in the mail of other threads that came before this WANTED */
    mail_look(worker, cell);
    mail_readdress(wanted, ENVELOPE_WANTED, to, from);
    tr_status status = enlist(worker, cell, wanted);
    if (status != TR_OK)
        envelope_give(&worker->pool, wanted);
    else if (mail_is_idle(cell) && cell->extra->senders.reserved > 0)
        /* make the actor run, so that it grants capacity; nothing else would make it run */
        mail_make_ready(worker, cell);
    return status;
}

/* Cancels a wait for capacity that has had no answer yet. */
static void give_up(struct tr_self *self)
{
    struct worker *worker = self->worker;
    uint64_t from = self->cell->identity;
    struct cell *cell = slots_find(worker->slots, self->waits.on);
    if (!cell)
        return;
    if (cell_owner(cell) == worker->index) {
        strike_out(worker, cell, from, self->waits.number);
        return;
    }
    /*
     * Without memory for the BACK, the receiver will grant capacity later, and this actor returns
     * it then.
     */
    struct envelope *envelope = tr__letter_new(worker, self->waits.number, 0, 0);
    if (!envelope)
        return;
    capacity_of(envelope)->status = TR_CANCELLED;
    (void)tr__letter_send(worker, envelope, ENVELOPE_BACK, self->waits.on, from);
}

/*
 * Asks for capacity and waits until it is granted. TR_OK does not say that this turn has the
 * capacity: it may have been returned meanwhile. The actor of the turn must have an extra.
 */
static tr_status wait(struct tr_self *self, uint64_t to, int32_t lines, tr_time deadline_ns)
{
    struct worker *worker = self->worker;
    self->waits.number = ++worker->turns.wait_last;
    enum ask_cycle cycle = tr__ask_cycle_look(self, to);
    if (cycle == ASK_CYCLE_FOUND) {
        self->waits.number = 0;
        return TR_MAILBOX_FULL;
    }
    struct envelope *wanted = tr__letter_new(worker, self->waits.number, STOCK_STEP, lines);
    tr_status status = TR_NO_MEMORY;
    if (wanted)
        status = want(worker, wanted, to, self->cell->identity);
    if (status == TR_OK) {
        bool stays_barrier = self->is_barrier || turn_wants_barrier(self);
        if (!self->is_barrier)
            tr__barrier_begin(self);
        self->waits.on = to;
        if (cycle == ASK_CYCLE_LEAVES)
            tr__ask_cycle_announce(self, to);
        status = turn_park_at(self, deadline_ns, NULL);
        if (self->waits.number)
            give_up(self);
        self->waits.on = 0;
        if (!stays_barrier)
            tr__barrier_end(self);
    }
    self->waits.number = 0;
    return status == TR_TIMEOUT ? TR_MAILBOX_FULL : status;
}

/*
 * Sends a message with capacity of the grant. Keeps the rest of the grant for what this stretch
 * sends next. If another turn of the line waits, returns the rest.
 */
static tr_status place(struct tr_self *self, struct cell *cell, struct envelope *envelope)
{
    struct worker *worker = self->worker;
    struct tr_capacity *capacity = capacity_of(self->capacity.grant);
    int32_t used = (int32_t)mail_lines(envelope);
    tr_status status = tr__mail_place(worker, cell, envelope);
    bool is_near = cell_owner(cell) == worker->index;
    bool is_followed = line_is_followed(self);
    if (status == TR_OK) {
        capacity->messages -= 1;
        capacity->lines -= used;
    }
    if (status != TR_OK || !is_near) {
        if (status != TR_OK || !capacity->messages || is_followed)
            grant_return(self);
        turn_require_slow_end(self);
        return status;
    }
    int32_t lines = capacity->lines < STOCK_LINES_MAX * STOCK_STEP ? capacity->lines : 0;
    if (capacity->messages && lines && !is_followed) {
        cell->stock += ((uint32_t)lines << STOCK_LINES_SHIFT) + (uint32_t)capacity->messages;
        capacity->messages = 0;
        capacity->lines -= lines;
        self->capacity.favoured = cell;
    }
    grant_return(self);
    return TR_OK;
}

/*
 * Ends the use of granted capacity that is in the receiver's stock: frees the part that the turn
 * has not used.
 */
static void favour_end(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct cell *cell = self->capacity.favoured;
    int32_t messages = (int32_t)(cell->stock & 0xffff);
    int32_t lines = (int32_t)(cell->stock >> STOCK_LINES_SHIFT);
    self->capacity.favoured = NULL;
    if (cell->flags & CELL_HAS_WAITING_SENDERS) {
        cell->stock = 0;
        tr__capacity_reserve(cell, messages, lines);
        /* serve the waiting senders now, because it may take long until the actor runs again */
        tr__waiters_serve(self->worker, cell);
    } else if (cell->flags & CELL_EXACT_BOUND) {
        capacity_give(&cell->door.capacity, messages, lines);
        cell->stock = 0;
    } else if (cell->stock & STOCK_IS_MUCH) {
        tr__capacity_give(cell, 0);
    }
}

void tr__turn_return_capacity(struct tr_self *self)
{
    if (self->capacity.favoured)
        favour_end(self);
    if (self->capacity.grant)
        grant_return(self);
}

/*
 * Waits for capacity and sends a message. The turn must be the first of its line. Takes the
 * envelope on TR_OK only.
 */
static tr_status wait_and_place(struct tr_self *self, struct cell *cell, struct envelope *envelope,
                                tr_time deadline_ns)
{
    tr_status status;
    if (self->capacity.favoured || self->capacity.grant)
        tr__turn_return_capacity(self);
    do {
        status = wait(self, self->sender.wants, (int32_t)mail_lines(envelope), deadline_ns);
    } while (status == TR_OK && !self->capacity.grant);
    if (status != TR_OK)
        return status;
    if (slots_find(self->worker->slots, self->sender.wants) == cell)
        return place(self, cell, envelope);
    grant_return(self);
    return TR_STOPPED;
}

/* As wait_and_place, but for a turn that is behind others in its line. */
static tr_status wait_behind(struct tr_self *self, struct cell *cell, struct envelope *envelope,
                             tr_time deadline_ns)
{
    tr_status status = tr__line_wait(self, deadline_ns);
    if (status != TR_OK)
        return status;
    if (slots_find(self->worker->slots, self->sender.wants) != cell)
        return TR_STOPPED;
    status = tr__mail_send(self->worker, cell, envelope);
    if (status == TR_MAILBOX_FULL && mailbox_overflow_has(cell, OVERFLOW_WAITS))
        status = wait_and_place(self, cell, envelope, deadline_ns);
    return status;
}

tr_status tr__turn_wait_for_capacity(struct tr_self *self, struct cell *cell,
                                     struct envelope *envelope, tr_time deadline_ns)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    uint64_t to = (uint64_t)envelope->generation << 32 | (uint32_t)cell->identity;
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return status == TR_CANCELLED ? status : TR_MAILBOX_FULL;
    if (cell == self->cell)
        return TR_MAILBOX_FULL;
    /* By rule 4 of actor/ask/line.h no other turn is before this one in the line. */
    if (self->capacity.grant && self->capacity.grant->sender == to &&
        capacity_of(self->capacity.grant)->messages &&
        capacity_of(self->capacity.grant)->lines >= (int32_t)mail_lines(envelope))
        return slots_find(self->worker->slots, to) == cell ? place(self, cell, envelope)
                                                           : TR_STOPPED;
    if (!tr__extra_of(self->worker, self->cell))
        return TR_NO_MEMORY;
    tr_time now_ns = clock_bound_roughly(&self->worker->clock);
    tr_time park_ns = timer_deadline(now_ns, TR_PARK_NS);
    deadline_ns = deadline_ns < park_ns ? deadline_ns : park_ns;
    bool is_behind = !list_is_empty(&self->cell->extra->waits.line) && tr__line_has(self->cell, to);
    line_enter(self, to);
    /* if this turn is abandoned, the end of the turn frees the envelope */
    self->sender.held = envelope;
    status = is_behind ? wait_behind(self, cell, envelope, deadline_ns)
                       : wait_and_place(self, cell, envelope, deadline_ns);
    self->sender.held = NULL;
    line_leave(self);
    return status;
}
