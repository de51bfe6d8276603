/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/waiters.h"

#include "actor/client.h"
#include "actor/extra.h"
#include "actor/park.h"
#include "base/assert.h"

enum {
    CHAIN_MAX = 1024, /* actors that wait for each other; a longer chain ends by its timeouts */
    BRANCHES_MAX = 32 /* where one of them waits for several, one inside the other */
};

static struct tr_room *room_of(struct envelope *envelope)
{
    return envelope_data(envelope);
}

/* A turn that waits, by the number of its wait. */
static struct tr_self *turn_find(struct cell *cell, uint64_t number)
{
    if (cell->life == LIFE_NEW || !cell->extra)
        return NULL;
    /* Who waits for room is a barrier, and so mostly among the last ones. */
    struct list *parked = &cell->extra->parked;
    for (struct list *link = parked->previous; link != parked; link = link->previous) {
        struct tr_self *self = LIST_OWNER(link, struct tr_self, link);
        if (self->number == number)
            return self->state == TURN_PARKED ? self : NULL;
    }
    return NULL;
}

/* Sends one of these envelopes on; false when its receiver is gone, and it is freed. */
static bool pass_on(struct worker *worker, struct envelope *envelope, enum envelope_kind kind,
                    uint64_t to, uint64_t from)
{
    struct cell *cell = slots_find(worker->slots, to);
    envelope->kind = (uint8_t)kind;
    envelope->sender = from;
    envelope->generation = (uint32_t)(to >> 32);
    if (cell && tr__mail_send(worker, cell, envelope) == TR_OK)
        return true;
    envelope_give(&worker->pool, envelope);
    return false;
}

/* ---- Of the actor in whose mailbox there is no room. ---- */

/* Also what is below zero: that must be made up for before anybody is let in. */
static void put_by_all(struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    int32_t messages;
    int32_t lines;
    room_take_all(&cell->door.room, &messages, &lines);
    extra->put_by += messages + (int32_t)(cell->stock & 0xffff);
    extra->put_by_lines += lines + (int32_t)(cell->stock >> STOCK_LINES_SHIFT);
    cell->stock = 0;
}

/* Nobody waits any more: what was put by is anybody's. */
static void put_by_end(struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    cell->flags &= (uint16_t)~CELL_AWAITED;
    room_give(&cell->door.room, extra->put_by, extra->put_by_lines);
    extra->put_by = 0;
    extra->put_by_lines = 0;
}

static struct tr_client *client_of(const struct envelope *wanted)
{
    return (struct tr_client *)(uintptr_t)wanted->causal;
}

/* Answers one who waits. False when he is gone, and the envelope is freed. */
static bool answer(struct worker *worker, struct cell *cell, struct envelope *wanted,
                   int32_t messages, int32_t lines, tr_status status)
{
    struct tr_room *room = room_of(wanted);
    room->messages = messages;
    room->lines = lines;
    room->status = status;
    if (room->is_client && !client_claim(client_of(wanted), room->number)) {
        envelope_give(&worker->pool, wanted);
        return false;
    }
    return pass_on(worker, wanted, ENVELOPE_GRANT, wanted->sender, cell->identity);
}

static struct envelope *first_of(const struct cell_extra *extra)
{
    return (struct envelope *)(void *)extra->waiters->mail.next;
}

/* True when the first of those who wait got what it wants. */
static bool grant_first(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *first = first_of(extra);
    struct tr_room *room = room_of(first);
    bool is_gone = room->is_client && !client_waits(client_of(first), room->number);
    if (!is_gone && (extra->put_by < 1 || extra->put_by_lines < room->lines))
        return false;
    int32_t messages = room->messages < extra->put_by ? room->messages : extra->put_by;
    int32_t lines = messages * room->lines;
    lines = lines < extra->put_by_lines ? lines : extra->put_by_lines;
    (void)ring_pop(&extra->waiters);
    if (is_gone) {
        envelope_give(&worker->pool, first);
        return true;
    }
    extra->put_by -= messages;
    extra->put_by_lines -= lines;
    if (!answer(worker, cell, first, messages, lines, TR_OK)) {
        extra->put_by += messages;
        extra->put_by_lines += lines;
    }
    return true;
}

void tr__waiters_serve(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    if (extra->is_serving) /* room came back at once: it is seen below */
        return;
    if (cell->flags & CELL_SEALED) {
        tr__waiters_refuse(worker, cell, TR_STOPPED);
        return;
    }
    extra->is_serving = true;
    while (extra->waiters && grant_first(worker, cell))
        ;
    extra->is_serving = false;
    if (!extra->waiters)
        put_by_end(cell);
}

void tr__waiters_refuse(struct worker *worker, struct cell *cell, tr_status status)
{
    while (cell->extra->waiters)
        (void)answer(worker, cell, ring_pop(&cell->extra->waiters), 0, 0, status);
    put_by_end(cell);
}

void tr__waiters_rebound(struct worker *worker, struct cell *cell, struct mail_bound bound)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *others = NULL;
    while (extra->waiters) {
        struct envelope *wanted = ring_pop(&extra->waiters);
        if (bound.overflow == TR_PARK && room_of(wanted)->lines <= bound.lines)
            ring_push(&others, wanted);
        else
            (void)answer(worker, cell, wanted, 0, 0, TR_MAILBOX_FULL);
    }
    extra->waiters = others;
    if (!others)
        put_by_end(cell);
}

/* Puts one who waits behind the others, and takes the envelope on TR_OK. */
static tr_status enlist(struct worker *worker, struct cell *cell, struct envelope *wanted)
{
    if (cell->life >= LIFE_STOPPING || cell->flags & CELL_SEALED)
        return TR_STOPPED;
    struct mail_bound bound = mail_bound_of(cell->dispatch->behavior);
    if (room_of(wanted)->lines > bound.lines)
        return TR_MAILBOX_FULL; /* there will never be room */
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return TR_NO_MEMORY;
    ring_push(&extra->waiters, wanted);
    cell->flags |= CELL_AWAITED;
    put_by_all(cell);
    return TR_OK;
}

/* One who waits elsewhere. It may be late: perhaps there is room by now, and no mail. */
static void on_wanted(struct worker *worker, struct cell *cell, struct envelope *wanted)
{
    tr_status status = enlist(worker, cell, wanted);
    if (status != TR_OK) {
        (void)answer(worker, cell, wanted, 0, 0, status);
        return;
    }
    tr__waiters_serve(worker, cell);
    /* The actor has become one for which nobody waits, in the meantime. */
    if (room_policy(room_load(&cell->door.room)) != TR_PARK)
        tr__waiters_refuse(worker, cell, TR_MAILBOX_FULL);
}

void tr__waiters_mount(struct worker *worker, struct cell *cell, bool is_up)
{
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

/* One who waits has given up. */
static void strike_out(struct worker *worker, struct cell *cell, uint64_t sender, uint64_t number)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *others = NULL;
    struct envelope *found = NULL;
    if (!extra || !extra->waiters)
        return;
    while (extra->waiters && !found) {
        struct envelope *wanted = ring_pop(&extra->waiters);
        if (wanted->sender == sender && room_of(wanted)->number == number)
            found = wanted;
        else
            ring_push(&others, wanted);
    }
    ring_join(&others, &extra->waiters);
    extra->waiters = others;
    if (!found)
        return;
    envelope_give(&worker->pool, found);
    tr__waiters_serve(worker, cell); /* it may have stood in the way of the others */
}

static void on_back(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_room *room = room_of(envelope);
    if (room->status == TR_CANCELLED) {
        strike_out(worker, cell, envelope->sender, room->number);
    } else if (cell->flags & CELL_AWAITED) {
        cell->extra->put_by += room->messages;
        cell->extra->put_by_lines += room->lines;
        tr__waiters_serve(worker, cell);
    } else {
        room_give(&cell->door.room, room->messages, room->lines);
    }
    envelope_give(&worker->pool, envelope);
}

/* ---- Of the sender that waits. ---- */

/* Sends what was granted, or is left of it, back. */
static void give_back(struct worker *worker, struct envelope *grant)
{
    if (room_of(grant)->messages || room_of(grant)->lines)
        (void)pass_on(worker, grant, ENVELOPE_BACK, grant->sender, 0);
    else
        envelope_give(&worker->pool, grant);
}

void tr__grant_return(struct tr_self *self)
{
    struct envelope *grant = self->grant;
    self->grant = NULL;
    give_back(self->worker, grant);
}

void tr__grants_return(struct cell *cell)
{
    struct list *woken = &cell->extra->woken;
    for (struct list *link = woken->next; link != woken; link = link->next) {
        struct tr_self *self = LIST_OWNER(link, struct tr_self, woken);
        if (self->grant)
            tr__grant_return(self);
    }
}

static void on_grant(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_room *room = room_of(envelope);
    struct tr_self *self = cell->life < LIFE_STOPPING ? turn_find(cell, room->number) : NULL;
    if (!self) {
        give_back(worker, envelope);
        return;
    }
    tr_status status = (tr_status)room->status;
    self->number = 0; /* it was answered */
    if (status != TR_OK)
        envelope_give(&worker->pool, envelope);
    else if (cell->flags & CELL_SUSPENDED)
        give_back(worker, envelope); /* others can use it now; this one asks again when it may */
    else
        self->grant = envelope;
    tr__turn_wake(self, status);
}

/* An envelope of this page, filled; NULL when out of memory. */
static struct envelope *letter_new(struct worker *worker, uint64_t number, int32_t messages,
                                   int32_t lines)
{
    struct tr_room room = {.number = number, .messages = messages, .lines = lines};
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return NULL;
    if (envelope_fill(&worker->pool, envelope, &tr_type_tr_room, &room, ENVELOPE_INLINE) != TR_OK) {
        envelope_give_empty(&worker->pool, envelope);
        return NULL;
    }
    envelope->causal = 0;
    return envelope;
}

/* ---- Rings of those who wait. ---- */

/* The search for somebody among those whom an actor waits for, and they in turn. */
struct search {
    struct worker *worker;
    uint64_t origin; /* who waits for himself, if he is found, */
    uint64_t number; /* and the number of his wait */
    int32_t left;    /* actors to look at */
    bool is_far;     /* goes on where the chain leaves this worker */
};

static void search_far(const struct search *search, uint64_t ref)
{
    struct worker *worker = search->worker;
    struct envelope *probe = letter_new(worker, search->number, search->left, 0);
    if (probe)
        (void)pass_on(worker, probe, ENVELOPE_RING, ref, search->origin);
}

/* True when the chain that begins with `ref` leads to the origin, as far as this worker knows. */
static bool leads_back(struct search *search, uint64_t ref, int depth)
{
    while (search->left-- > 0) {
        if (ref == search->origin)
            return true;
        struct cell *cell = slots_find(search->worker->slots, ref);
        if (!cell)
            return false;
        if (cell_owner(cell) != search->worker->index) {
            if (search->is_far)
                search_far(search, ref);
            return false;
        }
        if (cell->life == LIFE_NEW || !cell->extra)
            return false;
        /* All turns that wait for room must end before it begins with another message. */
        uint64_t next = 0;
        struct list *parked = &cell->extra->parked;
        for (struct list *link = parked->next; link != parked; link = link->next) {
            const struct tr_self *turn = LIST_OWNER(link, struct tr_self, link);
            if (turn->state != TURN_PARKED || !turn->waits_for || turn->waits_for == next)
                continue;
            if (next && depth < BRANCHES_MAX && leads_back(search, next, depth + 1))
                return true;
            next = turn->waits_for;
        }
        if (!next)
            return false;
        ref = next;
    }
    return false;
}

static void on_ring(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_room *room = room_of(envelope);
    struct search search = {.worker = worker,
                            .origin = envelope->sender,
                            .number = room->number,
                            .left = room->messages,
                            .is_far = true};
    if (leads_back(&search, cell->identity, 0)) {
        struct cell *first = slots_find(worker->slots, search.origin);
        bool is_here = first && cell_owner(first) == worker->index;
        struct tr_self *self = is_here ? turn_find(first, search.number) : NULL;
        if (first && !is_here) {
            room->messages = CHAIN_MAX;
            (void)pass_on(worker, envelope, ENVELOPE_RING, search.origin, search.origin);
            return;
        }
        if (self)
            tr__turn_wake(self, TR_MAILBOX_FULL);
    }
    envelope_give(&worker->pool, envelope);
}

void tr__waiters_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    bool is_here = envelope->generation == cell_generation(cell) && cell->life < LIFE_STOPPED;
    switch ((enum envelope_kind)envelope->kind) {
    case ENVELOPE_WANTED:
        if (!is_here) {
            (void)answer(worker, cell, envelope, 0, 0, TR_STOPPED);
        } else if (cell->life == LIFE_NEW || (cell->life == LIFE_STARTING && cell->exceptions)) {
            /* Where an actor that has asked nobody yet keeps nothing else: tr__waiters_mount. */
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
    case ENVELOPE_RING:
        if (is_here)
            on_ring(worker, cell, envelope);
        else
            envelope_give(&worker->pool, envelope);
        return;
    default:
        TR_UNREACHABLE("no mail of those who wait");
    }
}

/* ---- Waiting. ---- */

/* Takes the envelope. TR_OK: an answer will come. */
static tr_status ask(struct worker *worker, struct envelope *wanted, uint64_t to, uint64_t from)
{
    struct cell *cell = slots_find(worker->slots, to);
    if (!cell || cell_owner(cell) != worker->index)
        return pass_on(worker, wanted, ENVELOPE_WANTED, to, from) ? TR_OK : TR_STOPPED;
    mail_look(worker, cell); /* what came from elsewhere came first */
    wanted->kind = ENVELOPE_WANTED;
    wanted->sender = from;
    wanted->generation = (uint32_t)(to >> 32);
    tr_status status = enlist(worker, cell, wanted);
    if (status != TR_OK)
        envelope_give(&worker->pool, wanted);
    else if (mail_is_idle(cell) && cell->extra->put_by > 0)
        mail_make_ready(worker, cell); /* nothing but this makes it run, and let somebody in */
    return status;
}

/* Nobody has answered, and nobody needs to. */
static void give_up(struct tr_self *self)
{
    struct worker *worker = self->worker;
    uint64_t from = self->cell->identity;
    struct cell *cell = slots_find(worker->slots, self->waits_for);
    if (!cell)
        return;
    if (cell_owner(cell) == worker->index) {
        strike_out(worker, cell, from, self->number);
        return;
    }
    /* Without it the room comes, and goes back. */
    struct envelope *envelope = letter_new(worker, self->number, 0, 0);
    if (!envelope)
        return;
    room_of(envelope)->status = TR_CANCELLED;
    (void)pass_on(worker, envelope, ENVELOPE_BACK, self->waits_for, from);
}

/* Asks for room and waits until it is granted; also when it was and is gone again. */
static tr_status wait(struct tr_self *self, uint64_t to, int32_t lines, tr_time deadline_ns)
{
    struct worker *worker = self->worker;
    struct search search = {
        .worker = worker, .origin = self->cell->identity, .left = CHAIN_MAX, .is_far = false};
    if (leads_back(&search, to, 0))
        return TR_MAILBOX_FULL;
    struct envelope *wanted = NULL;
    self->number = ++worker->wait_last;
    if (tr__extra_of(worker, self->cell))
        wanted = letter_new(worker, self->number, STOCK_STEP, lines);
    if (!wanted)
        return TR_NO_MEMORY;
    bool was_barrier = self->is_barrier;
    if (!was_barrier)
        tr__barrier_begin(self);
    tr_status status = ask(worker, wanted, to, self->cell->identity);
    if (status == TR_OK) {
        self->waits_for = to;
        /* A ring that is closed elsewhere, while we look, is found by the RING of the other. */
        search.number = self->number;
        search.left = CHAIN_MAX;
        search.is_far = true;
        (void)leads_back(&search, to, 0);
        status = tr__turn_park(self, deadline_ns);
        if (self->number)
            give_up(self);
        self->waits_for = 0;
    }
    if (!was_barrier)
        tr__barrier_end(self);
    self->number = 0;
    return status == TR_TIMEOUT ? TR_MAILBOX_FULL : status;
}

/* Uses the grant for a message; the rest is for what this stretch sends next. */
static tr_status place(struct tr_self *self, struct cell *cell, struct envelope *envelope)
{
    struct worker *worker = self->worker;
    struct tr_room *room = room_of(self->grant);
    int32_t used = (int32_t)mail_lines(envelope);
    tr_status status = tr__mail_place(worker, cell, envelope);
    bool is_near = cell_owner(cell) == worker->index;
    if (status == TR_OK) {
        room->messages -= 1;
        room->lines -= used;
    }
    if (status != TR_OK || !is_near) {
        if (status != TR_OK || !room->messages)
            tr__grant_return(self);
        self->has_story = true;
        return status;
    }
    int32_t lines = room->lines < STOCK_LINES_MAX * STOCK_STEP ? room->lines : 0;
    if (room->messages && lines) {
        cell->stock += ((uint32_t)lines << STOCK_LINES_SHIFT) + (uint32_t)room->messages;
        room->messages = 0;
        room->lines -= lines;
        self->favoured = cell;
    }
    tr__grant_return(self);
    return TR_OK;
}

void tr__favour_end(struct tr_self *self)
{
    struct cell *cell = self->favoured;
    int32_t messages = (int32_t)(cell->stock & 0xffff);
    int32_t lines = (int32_t)(cell->stock >> STOCK_LINES_SHIFT);
    self->favoured = NULL;
    if (cell->flags & CELL_AWAITED) {
        cell->extra->put_by += messages;
        cell->extra->put_by_lines += lines;
        cell->stock = 0;
        tr__waiters_serve(self->worker, cell); /* it may be long until it runs */
    } else if (cell->flags & CELL_NARROW) {
        room_give(&cell->door.room, messages, lines);
        cell->stock = 0;
    } else if (cell->stock & STOCK_IS_MUCH) {
        tr__room_give(cell, 0);
    }
}

tr_status tr__turn_wait_for_room(struct tr_self *self, struct cell *cell, struct envelope *envelope)
{
    int32_t lines = (int32_t)mail_lines(envelope);
    uint64_t to = (uint64_t)envelope->generation << 32 | (uint32_t)cell->identity;
    tr_status status = tr__turn_may_park(self);
    if (status != TR_OK)
        return status == TR_CANCELLED ? status : TR_MAILBOX_FULL;
    if (cell == self->cell)
        return TR_MAILBOX_FULL;
    bool has_grant = self->grant && self->grant->sender == to && room_of(self->grant)->messages &&
                     room_of(self->grant)->lines >= lines;
    if (!has_grant) {
        const tr_platform *platform = self->worker->system->platform;
        tr_time deadline_ns = timer_deadline(platform->mono_now(platform), TR_PARK_NS);
        if (self->favoured)
            tr__favour_end(self);
        if (self->grant)
            tr__grant_return(self);
        do {
            status = wait(self, to, lines, deadline_ns);
        } while (status == TR_OK && !self->grant);
        if (status != TR_OK)
            return status;
    }
    if (slots_find(self->worker->slots, to) != cell) {
        tr__grant_return(self);
        return TR_STOPPED;
    }
    return place(self, cell, envelope);
}
