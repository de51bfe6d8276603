/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ring.h"

#include "actor/park.h"
#include "actor/waiters.h"

enum {
    CHAIN_MAX = 1024, /* actors that wait for each other; a longer chain ends by its timeouts */
    BRANCHES_MAX = 32 /* where one of them waits for several, one inside the other */
};

/* The search for somebody among those whom an actor waits for, and they in turn. */
struct search {
    struct worker *worker;
    uint64_t origin; /* who waits for himself, if he is found, */
    uint64_t number; /* and the number of his wait */
    int32_t left;    /* actors to look at */
    bool is_silent;  /* takes nothing in: what an actor waits for may be behind its door */
    bool is_far;     /* goes on where the chain leaves this worker */
    bool has_left;   /* it does */
};

static void search_far(struct search *search, uint64_t ref)
{
    struct worker *worker = search->worker;
    search->has_left = true;
    struct envelope *probe = NULL;
    if (search->is_far)
        probe = tr__letter_new(worker, search->number, search->left, 0);
    if (probe)
        (void)tr__letter_send(worker, probe, ENVELOPE_RING, ref, search->origin);
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
            search_far(search, ref);
            return false;
        }
        if (cell->life == LIFE_NEW)
            return false;
        if (!search->is_silent)
            mail_look(search->worker, cell);
        if (!(cell->flags & CELL_BARRIER) || cell->life >= LIFE_STOPPING)
            return false;
        /* All of these must end before it begins with another message. One that was woken does. */
        uint64_t next = 0;
        const struct list *parked = &cell->extra->parked;
        for (const struct list *link = parked->next; link != parked; link = link->next) {
            const struct tr_self *turn = LIST_OWNER(link, const struct tr_self, link);
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

enum ring tr__ring_look(struct tr_self *self, uint64_t to)
{
    /* Who waits for what this turn itself has freed waits no longer. */
    if (self->cell->flags & CELL_AWAITED)
        tr__waiters_serve(self->worker, self->cell);
    struct search search = {
        .worker = self->worker, .origin = self->cell->identity, .left = CHAIN_MAX};
    if (leads_back(&search, to, 0))
        return RING_IS_CLOSED;
    return search.has_left ? RING_LEAVES : RING_IS_OPEN;
}

void tr__ring_announce(struct tr_self *self, uint64_t to)
{
    struct search search = {.worker = self->worker,
                            .origin = self->cell->identity,
                            .number = self->number,
                            .left = CHAIN_MAX,
                            .is_silent = true,
                            .is_far = true};
    (void)leads_back(&search, to, 0);
}

void tr__ring_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct tr_room *room = envelope_data(envelope);
    struct search search = {.worker = worker,
                            .origin = envelope->sender,
                            .number = room->number,
                            .left = room->messages,
                            .is_far = true};
    if (leads_back(&search, cell->identity, 0)) {
        struct cell *first = slots_find(worker->slots, search.origin);
        bool is_here = first && cell_owner(first) == worker->index;
        if (first && !is_here) {
            room->messages = CHAIN_MAX;
            (void)tr__letter_send(worker, envelope, ENVELOPE_RING, search.origin, search.origin);
            return;
        }
        struct tr_self *self = is_here ? tr__waiter_find(first, search.number) : NULL;
        if (self)
            tr__turn_wake(self, self->wanted ? TR_ASK_CYCLE : TR_MAILBOX_FULL);
    }
    envelope_give(&worker->pool, envelope);
}
