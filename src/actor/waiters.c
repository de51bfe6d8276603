/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/waiters.h"

#include "actor/blocking.h"
#include "actor/extra.h"
#include "actor/park.h"
#include "actor/story.h"
#include "base/assert.h"

enum {
    CHAIN_MAX = 1024
}; /* actors that wait for each other; a longer chain ends by its timeouts */

static struct tr_room *room_of(struct envelope *envelope)
{
    return envelope_data(envelope);
}

/* A turn that waits, by the number of its wait. */
static struct tr_self *turn_find(struct cell *cell, uint64_t number)
{
    if (cell->life == LIFE_NEW || !cell->extra)
        return NULL;
    /* Who waits for room is a barrier and so among the last ones. */
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

static void put_by_all(struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    int32_t messages = ROOM_LARGEST;
    int32_t lines = ROOM_LARGEST;
    room_take_some(&cell->door.room, &messages, &lines);
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

static void refuse(struct worker *worker, struct cell *cell, struct envelope *envelope,
                   tr_status status)
{
    struct tr_room *room = room_of(envelope);
    room->messages = 0;
    room->lines = 0;
    room->status = status;
    (void)pass_on(worker, envelope, ENVELOPE_GRANT, envelope->sender, cell->identity);
}

/* True when the first of those who wait got what it wants. */
static bool grant_first(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    struct envelope *first = (struct envelope *)(void *)extra->waiters->mail.next;
    struct tr_room *room = room_of(first);
    if (extra->put_by < 1 || extra->put_by_lines < room->lines)
        return false;
    int32_t messages = room->messages < extra->put_by ? room->messages : extra->put_by;
    int32_t lines = messages * room->lines;
    lines = lines < extra->put_by_lines ? lines : extra->put_by_lines;
    (void)ring_pop(&extra->waiters);
    room->messages = messages;
    room->lines = lines;
    room->status = TR_OK;
    extra->put_by -= messages;
    extra->put_by_lines -= lines;
    if (!pass_on(worker, first, ENVELOPE_GRANT, first->sender, cell->identity)) {
        extra->put_by += messages;
        extra->put_by_lines += lines;
    }
    return true;
}

void tr__waiters_serve(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    while (extra->waiters && grant_first(worker, cell))
        ;
    if (!extra->waiters)
        put_by_end(cell);
}

void tr__waiters_refuse(struct worker *worker, struct cell *cell)
{
    while (cell->extra->waiters)
        refuse(worker, cell, ring_pop(&cell->extra->waiters), TR_STOPPED);
}

static void on_wanted(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct cell_extra *extra = NULL;
    if (cell->life == LIFE_STARTING || cell->life == LIFE_RUNNING || cell->life == LIFE_SUSPENDED)
        extra = tr__extra_of(worker, cell);
    if (!extra || cell->flags & CELL_SEALED) {
        refuse(worker, cell, envelope, extra ? TR_STOPPED : TR_NO_MEMORY);
        return;
    }
    if (room_of(envelope)->lines > mail_bound_of(cell->dispatch->behavior).lines) {
        refuse(worker, cell, envelope, TR_MAILBOX_FULL); /* there will never be room */
        return;
    }
    bool is_near = envelope->home == worker->index;
    ring_push(&extra->waiters, envelope);
    cell->flags |= CELL_AWAITED;
    put_by_all(cell);
    /*
     * One on this worker does not wait yet, and what is in its way is mail: this actor will run.
     * One elsewhere may be late: perhaps there is room by now, and no mail.
     */
    if (!is_near)
        tr__waiters_serve(worker, cell);
}

static void on_back(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_room *room = room_of(envelope);
    if (cell->flags & CELL_AWAITED) {
        tr__room_put_by(cell, room->messages, room->lines);
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

static void on_grant(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_room *room = room_of(envelope);
    struct tr_self *self = turn_find(cell, room->number);
    if (!self) {
        give_back(worker, envelope);
        return;
    }
    tr_status status = (tr_status)room->status;
    if (status == TR_OK)
        self->grant = envelope;
    else
        envelope_give(&worker->pool, envelope);
    tr__turn_wake(self, status);
}

/* The end of the chain of actors that wait for room; `origin` closes it. */
enum chain { CHAIN_ENDS, CHAIN_LEAVES, CHAIN_IS_RING };

/*
 * Whom an actor waits for, so that no request of its mailbox begins; 0: nobody. A turn that was
 * woken, by a reply perhaps, waits no longer.
 */
static uint64_t waits_for(const struct cell *cell)
{
    if (!(cell->flags & CELL_BARRIER) || cell->life >= LIFE_STOPPING)
        return 0;
    const struct list *parked = &cell->extra->parked;
    for (const struct list *link = parked->previous; link != parked; link = link->previous) {
        const struct tr_self *self = LIST_OWNER(link, struct tr_self, link);
        if (self->waits_for && self->state == TURN_PARKED)
            return self->waits_for;
    }
    return 0;
}

static enum chain follow(struct worker *worker, uint64_t *ref, uint64_t origin)
{
    for (int i = 0; i < CHAIN_MAX; i++) {
        struct cell *cell = slots_find(worker->slots, *ref);
        if (*ref == origin)
            return CHAIN_IS_RING;
        if (!cell)
            return CHAIN_ENDS;
        if (cell_owner(cell) != worker->index)
            return CHAIN_LEAVES;
        mail_look(worker, cell); /* what it waits for may be behind its door */
        *ref = waits_for(cell);
        if (!*ref)
            return CHAIN_ENDS;
    }
    return CHAIN_ENDS;
}

static void on_ring(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    uint64_t origin = envelope->sender;
    uint64_t ref = cell->identity;
    enum chain chain = CHAIN_IS_RING;
    if (ref != origin)
        chain = follow(worker, &ref, origin);
    if (chain == CHAIN_LEAVES) {
        (void)pass_on(worker, envelope, ENVELOPE_RING, ref, origin);
        return;
    }
    struct cell *first = slots_find(worker->slots, origin);
    if (chain == CHAIN_IS_RING && first && cell_owner(first) == worker->index) {
        struct tr_self *self = turn_find(first, room_of(envelope)->number);
        if (self)
            tr__turn_wake(self, self->wanted ? TR_ASK_CYCLE : TR_MAILBOX_FULL);
    } else if (chain == CHAIN_IS_RING) {
        (void)pass_on(worker, envelope, ENVELOPE_RING, origin, origin);
        return;
    }
    envelope_give(&worker->pool, envelope);
}

void tr__waiters_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    bool is_here = envelope->generation == cell_generation(cell) && cell->life < LIFE_STOPPED;
    switch ((enum envelope_kind)envelope->kind) {
    case ENVELOPE_RETURNED:
        tr__blocking_returned(worker, cell, envelope);
        return;
    case ENVELOPE_WANTED:
        if (is_here && cell->life < LIFE_STOPPING)
            on_wanted(worker, cell, envelope);
        else
            refuse(worker, cell, envelope, TR_STOPPED);
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
    case ENVELOPE_STORY:
        tr__story_mail(worker, cell, envelope);
        return;
    case ENVELOPE_TOLD:
        tr__ask_told(worker, cell, envelope);
        return;
    default:
        TR_UNREACHABLE("no mail of those who wait");
    }
}

/* An envelope of this page, filled; NULL when out of memory. */
static struct envelope *letter_new(struct tr_self *self, int32_t lines)
{
    struct worker *worker = self->worker;
    struct tr_room room = {.number = self->number, .messages = STOCK_STEP, .lines = lines};
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return NULL;
    if (envelope_fill(&worker->pool, envelope, &tr_type_tr_room, &room, ENVELOPE_INLINE) != TR_OK) {
        envelope_give_empty(&worker->pool, envelope);
        return NULL;
    }
    envelope->causal = self->causal;
    return envelope;
}

/* Asks for room and waits until it is granted. */
static tr_status wait(struct tr_self *self, uint64_t to, int32_t lines, tr_time deadline_ns)
{
    struct worker *worker = self->worker;
    struct cell_extra *extra = tr__extra_of(worker, self->cell);
    uint64_t end = to;
    enum chain chain = follow(worker, &end, self->cell->identity);
    if (chain == CHAIN_IS_RING)
        return TR_MAILBOX_FULL;
    self->number = ++worker->wait_last;
    struct envelope *wanted = extra ? letter_new(self, lines) : NULL;
    struct envelope *probe = wanted && chain == CHAIN_LEAVES ? letter_new(self, lines) : NULL;
    if (!wanted)
        return TR_NO_MEMORY;
    bool stays_barrier = self->is_barrier || turn_wants_barrier(self);
    tr_time park_ns = timer_deadline(worker->loop.now_ns, TR_PARK_NS);
    tr_status status = TR_STOPPED;
    if (!self->is_barrier)
        tr__barrier_begin(self);
    self->waits_for = to;
    if (pass_on(worker, wanted, ENVELOPE_WANTED, to, self->cell->identity)) {
        /* A ring that is closed elsewhere, while we look, is found by the RING of the other. */
        if (probe)
            (void)pass_on(worker, probe, ENVELOPE_RING, end, self->cell->identity);
        probe = NULL;
        status = tr__turn_park(self, deadline_ns < park_ns ? deadline_ns : park_ns);
    }
    if (probe)
        envelope_give(&worker->pool, probe);
    self->waits_for = 0;
    if (!stays_barrier)
        tr__barrier_end(self);
    self->number = 0;
    return status == TR_TIMEOUT ? TR_MAILBOX_FULL : status;
}

tr_status tr__turn_wait_for_reply(struct tr_self *self, uint64_t to)
{
    if (!turn_wants_barrier(self) || !to)
        return tr__turn_park(self, TR_NEVER);
    struct worker *worker = self->worker;
    uint64_t end = to;
    enum chain chain = follow(worker, &end, self->cell->identity);
    if (chain == CHAIN_IS_RING)
        return TR_ASK_CYCLE;
    self->number = ++worker->wait_last;
    struct envelope *probe = chain == CHAIN_LEAVES ? letter_new(self, 0) : NULL;
    self->waits_for = to;
    if (probe)
        (void)pass_on(worker, probe, ENVELOPE_RING, end, self->cell->identity);
    tr_status status = tr__turn_park(self, TR_NEVER);
    self->waits_for = 0;
    self->number = 0;
    return status;
}

/* Uses the grant for a message; the rest is for what this stretch sends next. */
static tr_status place(struct tr_self *self, struct cell *cell, struct envelope *envelope)
{
    struct worker *worker = self->worker;
    struct tr_room *room = room_of(self->grant);
    room->messages -= 1;
    room->lines -= (int32_t)mail_lines(envelope);
    tr_status status = tr__mail_place(worker, cell, envelope);
    bool is_near = cell_owner(cell) == worker->index;
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
        tr__room_put_by(cell, messages, lines);
        cell->stock = 0;
    } else if (cell->flags & CELL_NARROW) {
        room_give(&cell->door.room, messages, lines);
        cell->stock = 0;
    } else if (cell->stock & STOCK_IS_MUCH) {
        tr__room_give(cell, 0);
    }
}

tr_status tr__turn_wait_for_room(struct tr_self *self, struct cell *cell, struct envelope *envelope,
                                 tr_time deadline_ns)
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
        if (self->favoured)
            tr__favour_end(self);
        if (self->grant)
            tr__grant_return(self);
        self->held = envelope; /* in case that this turn is abandoned */
        status = wait(self, to, lines, deadline_ns);
        self->held = NULL;
        if (status != TR_OK)
            return status;
    }
    if (slots_find(self->worker->slots, to) != cell) {
        tr__grant_return(self);
        return TR_STOPPED;
    }
    return place(self, cell, envelope);
}
