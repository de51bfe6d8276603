/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/ask_cycle.h"

#include "actor/ask/ask.h"
#include "actor/ask/ask_trace.h"
#include "actor/ask/letter.h"
#include "actor/ask/line.h"
#include "actor/ask/turn_asks.h"
#include "actor/ask/waiters.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/turn/park.h"

enum {
    /* A chain has at most this many actors. The search does not find a longer cycle: its waits time out. */
    CHAIN_MAX = 1024,
    /* At most this many branches are inside each other. A branch is where an actor waits for several others. */
    BRANCHES_MAX = 32
};

/*
 * What a turn waits for. If id is not 0, the turn waits for the reply of `to` to the ask `id` of
 * `asker`. If id is 0, the turn waits for capacity in the mailbox of `to`.
 */
struct edge {
    uint64_t to;
    uint64_t asker;
    uint32_t id;
};

/*
 * A turn that waits for any one of several asks, while the search follows these asks. If the chain
 * of an ask comes back to this turn, that ask will never be answered.
 */
struct crossing {
    const struct crossing *outer;
    const struct tr_self *turn;
};

/*
 * A search that follows the chain of waiting actors from one actor, and looks whether the chain
 * comes back to it.
 */
struct search {
    struct worker *worker;
    /* the actor where the search began; in a cycle the search comes back to it */
    uint64_t origin;
    uint64_t number; /* the number of the origin's wait */
    /* for CYCLEs: the ask that the origin waits for; 0: it waits for capacity */
    uint32_t ask;
    /* the turn of the origin that waits, if that turn is no barrier; NULL if it is a barrier */
    const struct tr_self *loose;
    int32_t left; /* how many actors may still be looked at */
    /*
     * The search takes in no mail. Other searches take in the mail of each actor that they pass,
     * because the reply that the actor waits for may be in its inbox.
     */
    bool is_silent;
    bool is_far;   /* send CYCLEs where the chain leaves this worker */
    bool has_left; /* the search has found that the chain leaves this worker */
    bool
        /* The search has come back to the origin. Coming back to a crossing does not count. */
        has_met;
    const struct crossing *crossings;
};

/*
 * Notes that the chain leaves this worker, and sends a CYCLE after it if search->is_far. If
 * `is_last`, the CYCLE may look at search->left actors, otherwise at half as many. This share is
 * subtracted from search->left. Without such a limit CYCLEs could multiply without end where chains
 * branch and meet again.
 */
static void search_far(struct search *search, struct edge edge, bool is_last)
{
    struct worker *worker = search->worker;
    search->has_left = true;
    struct envelope *probe = NULL;
    int32_t share = is_last ? search->left : search->left / 2;
    if (search->is_far && share > 0)
        probe = tr__letter_new(worker, search->number, share, (int32_t)edge.id);
    if (!probe)
        return;
    search->left -= share;
    probe->causal = edge.asker;
    ((struct tr_capacity *)envelope_data(probe))->status = (int32_t)search->ask;
    (void)tr__letter_send(worker, probe, ENVELOPE_CYCLE, edge.to, search->origin);
}

static bool leads_back(struct search *search, struct edge edge, int depth);

static bool ask_is_open(const struct ask *ask)
{
    return ask->is_wanted && !ask->is_done;
}

static struct edge edge_of(const struct ask *ask)
{
    return (struct edge){ask->to, ask->turn->cell->identity, ask->id};
}

/* Whether a turn waits for any one of several asks, and not for all of them. */
static bool waits_for_any(const struct tr_self *turn)
{
    uint32_t open = 0;
    const struct ask *ask;
    TURN_EACH_ASK (ask, at, turn)
        open += ask_is_open(ask);
    return open > turn->wait.wanted;
}

/*
 * Whether a turn that waits for any one of its asks is stuck. It is stuck if the chains of all
 * these asks lead back. An ask whose chain leaves this worker counts as one that can still be
 * answered.
 */
static bool all_lead_back(struct search *search, const struct tr_self *turn, int depth)
{
    struct crossing crossing = {search->crossings, turn};
    bool is_far = search->is_far;
    bool has_met = search->has_met;
    bool is_stuck = depth < BRANCHES_MAX;
    search->is_far = false;
    search->has_met = false;
    search->crossings = &crossing;
    const struct ask *ask;
    TURN_EACH_ASK (ask, at, turn) {
        if (ask_is_open(ask))
            is_stuck = !ask->is_fixed && leads_back(search, edge_of(ask), depth + 1);
        if (!is_stuck)
            break;
    }
    /*
     * Inside an outer crossing it is enough that the chains of the asks lead to that crossing. They
     * need not lead to the origin.
     */
    is_stuck = is_stuck && (search->has_met || crossing.outer);
    search->crossings = crossing.outer;
    search->is_far = is_far;
    search->has_met |= has_met;
    return is_stuck;
}

/*
 * Whether a request leads to a crossing. `turn` is the turn that handles the request, or NULL if no
 * turn handles it yet.
 */
static bool is_crossing(const struct search *search, const struct cell *cell,
                        const struct tr_self *turn)
{
    for (const struct crossing *at = search->crossings; at; at = at->outer) {
        if (at->turn->cell == cell && (!turn || turn == at->turn))
            return true;
    }
    return false;
}

/*
 * Follows the edge in *next and all edges from a turn to what the turn waits for, except the last
 * edge. Leaves the last edge in *next for the loop of the caller; if there is no edge, sets
 * next->to to 0. Returns true if one of the followed edges leads back.
 */
static bool follow_turn(struct search *search, const struct tr_self *turn, struct edge *next,
                        int depth)
{
    if (turn->state != TURN_PARKED)
        return false; /* the turn was woken, so it waits for nothing now */
    if (turn->wait.wanted && waits_for_any(turn))
        return all_lead_back(search, turn, depth);
    uint32_t at = turn->asks.count;
    const struct ask *ask = turn->wait.wanted ? turn_ask_before(turn, &at) : NULL;
    /*
     * Turns of one actor that want capacity in the same mailbox send one after another: see
     * actor/ask/line.h. So all of them wait for what the first of them waits for.
     */
    const struct tr_self *first = turn->sender.wants ? tr__line_first(turn) : turn;
    if (first->state != TURN_PARKED)
        return false;
    struct edge edge = {turn->wait.wanted ? 0 : first->waits.on, 0, 0};
    for (;;) {
        while (ask && (!ask_is_open(ask) || ask->is_fixed))
            ask = turn_ask_before(turn, &at);
        if (ask)
            edge = edge_of(ask);
        else if (turn->wait.wanted)
            return false;
        bool is_new = edge.to != next->to || edge.id != next->id || edge.asker != next->asker;
        if (edge.to && next->to && is_new && depth < BRANCHES_MAX &&
            leads_back(search, *next, depth + 1))
            return true;
        if (edge.to)
            *next = edge;
        if (!ask)
            return false;
        ask = turn_ask_before(turn, &at);
    }
}

/*
 * As follow_turn, but for all turns of an actor that wait as barriers. Until they resume, the actor
 * starts no ask and no notice.
 */
static bool follow_barriers(struct search *search, const struct cell *cell, struct edge *next,
                            int depth)
{
    if (!(cell->flags & CELL_BARRIER) || cell->life >= LIFE_STOPPING)
        return false;
    PARKED_EACH (turn, cell->extra) {
        if (turn->waits.on && follow_turn(search, turn, next, depth))
            return true;
    }
    return false;
}

/*
 * Whether `edge` is the request that a turn handles. Always false for a turn with a batch: the
 * search does not look at the requests of a batch.
 */
static bool is_request_of(const struct tr_self *turn, struct edge edge)
{
    const struct envelope *request = turn->envelope;
    return edge.id && !turn->batch && request->kind == ENVELOPE_ASK &&
           request->sender == edge.asker && request->payload.ask.id == edge.id;
}

/*
 * Whether the chain that begins with `edge` leads to the origin or to a crossing, as far as this
 * worker can see.
 */
static bool leads_back(struct search *search, struct edge edge, int depth)
{
    while (search->left-- > 0) {
        struct cell *cell = slots_find(search->worker->slots, edge.to);
        if (!cell)
            return false;
        if (cell_owner(cell) != search->worker->index) {
            search_far(search, edge, !depth);
            return false;
        }
        if (cell->life == LIFE_NEW)
            return false;
        bool is_origin = edge.to == search->origin;
        /* A turn that is no barrier holds up only the actor whose request it handles. */
        if (search->loose && is_origin && is_request_of(search->loose, edge)) {
            search->has_met = true;
            return true;
        }
        if (!search->is_silent && !is_origin)
            mail_look(search->worker, cell);
        /*
         * A request waits only for the turn that handles it, and for no other turn of that actor.
         */
        struct edge next = {0, 0, 0};
        const struct tr_self *turn = NULL;
        if (edge.id)
            turn = tr__ask_turn(cell, edge.asker, edge.id);
        if (edge.id && !turn && tr__ask_is_put_off(cell, edge.asker, edge.id))
            return false; /* tr_reply_later: it is not known which turn will answer the request */
        /*
         * The turn has just sent the first request of the chain, so the search need not look for
         * this request.
         */
        bool is_first = !depth && !search->is_far && search->left == CHAIN_MAX - 1;
        if (edge.id && !turn && !is_first &&
            !tr__ask_is_here(search->worker, cell, edge.asker, edge.id))
            return false; /* the request was forwarded or answered, and its turn has ended */
        bool is_its_own = turn && search->number && turn->waits.number == search->number;
        if (is_origin && (!turn || is_its_own) && !search->loose) {
            search->has_met = true;
            return true;
        }
        if (is_crossing(search, cell, turn))
            return true;
        if (turn ? follow_turn(search, turn, &next, depth)
                 : follow_barriers(search, cell, &next, depth))
            return true;
        if (!next.to)
            return false;
        edge = next;
    }
    return false;
}

/* ---- Waits for capacity. ---- */

enum ask_cycle tr__ask_cycle_look(struct tr_self *self, uint64_t to)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    /*
     * First grant the capacity that this turn has freed. A sender that gets capacity waits no
     * longer, and so is in no cycle.
     */
    if (self->cell->flags & CELL_HAS_WAITING_SENDERS)
        tr__waiters_serve(self->worker, self->cell);
    struct search search = {.worker = self->worker,
                            .origin = self->cell->identity,
                            .number = self->waits.number,
                            .left = CHAIN_MAX};
    if (leads_back(&search, (struct edge){to, 0, 0}, 0))
        return ASK_CYCLE_FOUND;
    return search.has_left ? ASK_CYCLE_LEAVES : ASK_CYCLE_NONE;
}

void tr__ask_cycle_announce(struct tr_self *self, uint64_t to)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct search search = {.worker = self->worker,
                            .origin = self->cell->identity,
                            .number = self->waits.number,
                            .left = CHAIN_MAX,
                            .is_silent = true,
                            .is_far = true};
    (void)leads_back(&search, (struct edge){to, 0, 0}, 0);
}

/* ---- Waits for replies. ---- */

/*
 * Notes that an ask is in a cycle, and ends the ask. Exception: when the turn waits for any one of
 * several asks, and another of these asks can still be answered, the ask does not end.
 */
static void ask_in_cycle(struct tr_self *turn, struct ask *found)
{
    found->is_in_cycle = true;
    if (!waits_for_any(turn)) {
        tr__ask_end_in_cycle(turn->worker, found);
        return;
    }
    const struct ask *ask;
    TURN_EACH_ASK (ask, at, turn) {
        if (ask_is_open(ask) && (!ask->is_in_cycle || ask->is_fixed))
            return;
    }
    tr__ask_end_in_cycle(turn->worker, found);
}

bool tr__ask_cycle_look_for_replies(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    bool has_left = false;
    bool is_barrier = turn_wants_barrier(self);
    if (self->cell->flags & CELL_HAS_WAITING_SENDERS)
        tr__waiters_serve(self->worker, self->cell);
    struct ask *ask;
    TURN_EACH_ASK (ask, at, self)
        ask->is_in_cycle = false;
    TURN_EACH_ASK (ask, at, self) {
        if (!self->wait.wanted)
            break;
        if (!ask_is_open(ask) || ask->is_fixed)
            continue;
        struct search search = {.worker = self->worker,
                                .origin = self->cell->identity,
                                .number = self->waits.number,
                                .loose = is_barrier ? NULL : self,
                                .left = CHAIN_MAX};
        bool leads = leads_back(&search, edge_of(ask), 0);
        /* Mail that the search took in may have ended the ask. */
        ask = turn_ask_at(self, at);
        if (leads && self->wait.wanted && ask && ask_is_open(ask) && !ask->is_fixed)
            ask_in_cycle(self, ask);
        has_left |= search.has_left;
    }
    return has_left;
}

void tr__ask_cycle_announce_for_replies(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    const struct ask *ask;
    TURN_EACH_ASK (ask, at, self) {
        if (!ask_is_open(ask) || ask->is_fixed || ask->is_in_cycle)
            continue;
        struct search search = {.worker = self->worker,
                                .origin = self->cell->identity,
                                .number = self->waits.number,
                                .ask = ask->id,
                                .left = CHAIN_MAX,
                                .is_silent = true,
                                .is_far = true};
        (void)leads_back(&search, edge_of(ask), 0);
    }
}

/* ---- CYCLEs that arrive. ---- */

/* Ends the wait of an actor whose own CYCLE has come back to it. */
static void cycle_close(struct cell *first, const struct tr_capacity *capacity)
{
    struct tr_self *self = tr__waiter_find(first, capacity->number);
    if (!self)
        return;
    if (!self->wait.wanted) {
        tr__turn_wake(self, TR_MAILBOX_FULL);
        return;
    }
    struct ask *ask;
    TURN_EACH_ASK (ask, at, self) {
        if (ask->id == (uint32_t)capacity->status && ask_is_open(ask) && !ask->is_fixed) {
            ask_in_cycle(self, ask);
            return;
        }
    }
}

void tr__ask_cycle_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_capacity *capacity = envelope_data(envelope);
    struct search search = {.worker = worker,
                            .origin = envelope->sender,
                            .number = capacity->number,
                            .ask = (uint32_t)capacity->status,
                            .left = capacity->messages,
                            .is_far = true};
    struct edge edge = {cell->identity, envelope->causal, (uint32_t)capacity->lines};
    if (leads_back(&search, edge, 0)) {
        struct cell *first = slots_find(worker->slots, search.origin);
        bool is_here = first && cell_owner(first) == worker->index;
        if (first && !is_here) {
            capacity->messages = CHAIN_MAX;
            capacity->lines = 0;
            (void)tr__letter_send(worker, envelope, ENVELOPE_CYCLE, search.origin, search.origin);
            return;
        }
        if (is_here)
            cycle_close(first, capacity);
    }
    envelope_give(&worker->pool, envelope);
}
