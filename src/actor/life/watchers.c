/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/watchers.h"

#include "actor/cell/client.h"
#include "actor/cell/extra.h"
#include "actor/cell/post.h"
#include "actor/cell/signal.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/cell/watch_table.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "base/assert.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

static_assert(sizeof(struct tr_terminated) == sizeof(uint64_t),
              "a watch begins as the signal does that it becomes");

/* ---- The envelopes WATCH and UNWATCH. ---- */

static struct envelope *watch_fill(struct envelope *envelope, uint64_t watcher, uint64_t target)
{
    envelope->type = &tr__signal_types[SIGNAL_TERMINATED];
    envelope->block_class = ENVELOPE_NO_BLOCK;
    mail_address(envelope,
                 (struct address){.kind = ENVELOPE_WATCH, .to = target, .sender = watcher});
    *watch_letter(envelope) = (struct watch_letter){.target = target};
    return envelope;
}

static void unwatch_fill(struct envelope *envelope, uint64_t target, struct envelope *watch)
{
    envelope->type = &tr_type_tr_none;
    envelope->block_class = ENVELOPE_NO_BLOCK;
    mail_address(envelope, (struct address){.kind = ENVELOPE_UNWATCH, .to = target});
    struct unwatch_letter *letter = envelope_data(envelope);
    *letter = (struct unwatch_letter){.target = target, .watch = watch};
}

/*
 * Reserves an envelope for an UNWATCH. Another worker may free the envelope later. Returns NULL when
 * out of memory.
 */
static struct envelope *unwatch_new(struct worker *worker)
{
    struct envelope *envelope = envelope_take(&worker->pool);
    if (envelope)
        envelope->block_class = ENVELOPE_NO_BLOCK;
    return envelope;
}

/* Turns the envelope of a WATCH into the signal to its watcher. */
static void watch_turn(struct envelope *envelope)
{
    mail_readdress(envelope, ENVELOPE_SIGNAL, envelope->sender, 0);
}

/*
 * Pushes an envelope through the door of a ref. If the slot has another tenant by now, that tenant
 * gets the envelope and ignores it, because the envelope names another receiver. Returns false if
 * the door is closed. Then the caller sees everything that the last tenant of the slot did.
 */
static bool knock(struct tr_system *system, struct counters *counters, uint64_t ref,
                  struct envelope *envelope)
{
    struct cell *cell = slots_at(system->slots, (uint32_t)ref);
    /* the group supervisor gets the envelope, and compares the whole ref too */
    if (cell && cell_is_group_address(cell))
        cell = slots_at(system->slots, ATOM_PEEK(&cell->door.tenant));
    if (!cell)
        return false;
    switch (door_push(&cell->door, &envelope->mail)) {
    case DOOR_TAKEN:
        return true;
    case DOOR_TAKEN_POST:
        tr__system_post(system, counters, cell);
        return true;
    case DOOR_REFUSED:
        break;
    }
    (void)atomptr_load(&cell->door.inbox, ATOM_ACQUIRE); /* pairs with door_close */
    return false;
}

/*
 * Sends the signal of a WATCH to its watcher. Goes through the door even if the watcher is on this
 * worker. The caller may be taking in mail, and a local send would take in more mail.
 */
static void answer(struct worker *worker, struct envelope *envelope)
{
    uint64_t watcher = envelope->sender;
    watch_turn(envelope);
    if (knock(worker->system, &worker->counters, watcher, envelope))
        atom64_count(&worker->counters.accepted, 1);
    else
        envelope_give(&worker->pool, envelope);
}

/* ---- Targets. ---- */

static void on_unwatch(struct worker *worker, struct envelope *envelope)
{
    struct unwatch_letter *letter = envelope_data(envelope);
    tr__watched_remove(&worker->life.watched, &worker->source, letter->watch);
    envelope_give(&worker->pool, letter->watch);
    envelope_give(&worker->pool, envelope);
}

void tr__watch_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    /* `target` is the first member of watch_letter and of unwatch_letter */
    uint64_t target = watch_letter(envelope)->target;
    bool is_here = cell->identity == target || tr__group_is_before(worker->slots, cell, target);
    is_here &= cell->life < LIFE_STOPPED;
    if (envelope->kind == ENVELOPE_WATCH && is_here)
        tr__watched_add(&worker->life.watched, &worker->source, envelope);
    else if (envelope->kind == ENVELOPE_WATCH)
        answer(worker, envelope);
    else if (is_here)
        on_unwatch(worker, envelope);
    else
        envelope_give(&worker->pool, envelope); /* the WATCH has become the signal already */
}

/* Sends the signal to all watchers of the ref `target`. */
static void terminated_send(struct worker *worker, uint64_t target)
{
    struct envelope *first = tr__watched_take(&worker->life.watched, &worker->source, target);
    while (first) {
        struct envelope *envelope = first;
        watch_ring_remove(&first, envelope);
        struct cell *watcher = slots_find(worker->slots, envelope->sender);
        watch_turn(envelope);
        if (!watcher || tr__mail_send(worker, watcher, envelope) != TR_OK)
            envelope_give(&worker->pool, envelope);
        atom64_count(&worker->shutdown.steps, 1);
    }
}

void tr__watchers_tell(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT(cell->life == LIFE_STOPPED);
    terminated_send(worker, cell->identity);
    uint64_t group = tr__group_address_of_supervisor(cell);
    if (group)
        terminated_send(worker, group);
}

/* ---- Actors that move to another worker. ---- */

/*
 * Reserves an envelope for the UNWATCH of a watch, because watcher and target will be on different
 * workers. A watch within one worker has no such envelope. Returns false when out of memory.
 * `watch` may be NULL.
 */
static bool watch_may_part(struct worker *worker, struct watch_entry *watch)
{
    if (watch && !watch->unwatch)
        watch->unwatch = unwatch_new(worker);
    return !watch || watch->unwatch;
}

/* Calls watch_may_part for all watches of an actor. */
static bool watches_may_part(struct worker *worker, const struct watch_table *table)
{
    for (uint32_t i = 0; table->slots && i <= table->mask; i++) {
        if (table->slots[i].target && !watch_may_part(worker, &table->slots[i]))
            return false;
    }
    return true;
}

/*
 * Calls watch_may_part for each watch on `cell` whose watcher is on this worker. If the watcher is
 * on another worker, its watch has an envelope for the UNWATCH already.
 */
static bool watchers_may_part(struct worker *worker, struct cell *cell, struct envelope *first)
{
    struct envelope *envelope = first;
    do {
        struct cell *watcher = slots_find(worker->slots, envelope->sender);
        if (watcher && cell_owner(watcher) == worker->index && watcher->extra &&
            !watch_may_part(worker, tr__watch_find(&watcher->extra->watches.table, cell->identity)))
            return false;
        envelope = (struct envelope *)(void *)envelope->mail.next;
    } while (envelope != first);
    return true;
}

static void watched_put_back(struct worker *worker, struct envelope *first)
{
    while (first) {
        struct envelope *envelope = first;
        watch_ring_remove(&first, envelope);
        tr__watched_add(&worker->life.watched, &worker->source, envelope);
    }
}

bool tr__watches_pack(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (cell->extra && !watches_may_part(worker, &cell->extra->watches.table))
        return false;
    struct envelope *first =
        tr__watched_take(&worker->life.watched, &worker->source, cell->identity);
    if (!first)
        return true;
    struct cell_extra *extra = tr__extra_of(worker, cell);
    bool may_part = extra && watchers_may_part(worker, cell, first);
    if (may_part) {
        extra->watches.packed = first;
        return true;
    }
    watched_put_back(worker, first);
    return false;
}

void tr__watches_unpack(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (!cell->extra)
        return;
    watched_put_back(worker, cell->extra->watches.packed);
    cell->extra->watches.packed = NULL;
}

/* ---- Watchers. ---- */

/* Returns the living actor of this worker with this ref; NULL if there is none. */
static struct cell *find_near(const struct worker *worker, uint64_t ref)
{
    struct cell *cell = slots_find(worker->slots, ref);
    return cell && cell_owner(cell) == worker->index ? cell : NULL;
}

/*
 * Ends a watch. If the watch went through a door, sends its UNWATCH. If it is a watch within this
 * worker, removes it directly.
 */
static void unwatch(struct worker *worker, const struct watch_entry *watch)
{
    struct envelope *envelope = watch->unwatch;
    if (envelope) {
        unwatch_fill(envelope, watch->target, watch->watch);
        if (!knock(worker->system, &worker->counters, watch->target, envelope))
            envelope_give(&worker->pool, envelope);
    } else if (find_near(worker, watch->target)) {
        tr__watched_remove(&worker->life.watched, &worker->source, watch->watch);
        envelope_give(&worker->pool, watch->watch);
    }
    /* In any other case the target is stopping or has stopped, and its end frees the WATCH. */
}

tr_status tr_self_try_watch(tr_self *self, tr_ref ref)
{
    TURN_VERB(self);
    if (!self || !ref.bits)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    if (cell->life >= LIFE_STOPPING)
        return TR_STOPPING;
    if (ref.bits == cell->identity)
        return TR_OK;
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return TR_NO_MEMORY;
    if (tr__watch_find(&extra->watches.table, ref.bits))
        return TR_OK;
    if (!tr__watch_reserve(&extra->watches.table, &worker->source))
        return TR_NO_MEMORY;
    bool is_near = find_near(worker, ref.bits);
    struct watch_entry watch = {.target = ref.bits, .watch = envelope_take(&worker->pool)};
    if (watch.watch && !is_near)
        watch.unwatch = unwatch_new(worker);
    if (!watch.watch || (!is_near && !watch.unwatch)) {
        if (watch.watch)
            envelope_give_empty(&worker->pool, watch.watch);
        return TR_NO_MEMORY;
    }
    tr__watch_insert(&extra->watches.table, &watch);
    watch_fill(watch.watch, cell->identity, ref.bits);
    if (is_near) {
        tr__watched_add(&worker->life.watched, &worker->source, watch.watch);
    } else if (!knock(worker->system, &worker->counters, ref.bits, watch.watch)) {
        watch_turn(watch.watch);
        if (tr__mail_send(worker, cell, watch.watch) != TR_OK)
            envelope_give(&worker->pool, watch.watch);
    }
    return TR_OK;
}

tr_status tr_self_watch(tr_self *self, tr_ref ref)
{
    TURN_VERB(self);
    tr_status status = tr_self_try_watch(self, ref);
    if (status != TR_OK)
        tr_crash(self, status, "tr_watch: %s", tr_status_text(status));
    return TR_OK;
}

tr_status tr_self_unwatch(tr_self *self, tr_ref ref)
{
    TURN_VERB(self);
    if (!self || !ref.bits)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    struct cell_extra *extra = self->cell->extra;
    struct watch_entry *found = extra ? tr__watch_find(&extra->watches.table, ref.bits) : NULL;
    if (!found)
        return TR_OK;
    struct watch_entry watch = *found;
    tr__watch_remove(&extra->watches.table, &self->worker->source, found);
    unwatch(self->worker, &watch);
    return TR_OK;
}

bool tr__watch_admit(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (envelope->type != &tr__signal_types[SIGNAL_TERMINATED])
        return true;
    struct watch_table *watches = cell->extra ? &cell->extra->watches.table : NULL;
    struct watch_entry *watch =
        watches ? tr__watch_find(watches, watch_letter(envelope)->target) : NULL;
    if (!watch || watch->watch != envelope) {
        tr__mail_drop(worker, envelope);
        return false;
    }
    if (watch->unwatch)
        envelope_give(&worker->pool, watch->unwatch);
    tr__watch_remove(watches, &worker->source, watch);
    return true;
}

void tr__watches_drop(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct watch_table *watches = cell->extra ? &cell->extra->watches.table : NULL;
    if (!watches || !watches->slots)
        return;
    for (uint32_t i = 0; i <= watches->mask; i++) {
        if (watches->slots[i].target)
            unwatch(worker, &watches->slots[i]);
        atom64_count(&worker->shutdown.steps, 1);
    }
    tr__watch_table_free(watches, &worker->source);
}

/* ---- Watches of clients: always through doors, with envelopes of the foreign pool. ---- */

/*
 * Takes two envelopes, for a WATCH and its UNWATCH. When out of memory, takes none and returns
 * false.
 */
static bool take_two(struct tr_system *system, struct watch_entry *watch)
{
    lock_take(&system->foreign.lock);
    watch->watch = envelope_take(&system->foreign.pool);
    watch->unwatch = watch->watch ? envelope_take(&system->foreign.pool) : NULL;
    if (watch->watch && !watch->unwatch)
        envelope_give_empty(&system->foreign.pool, watch->watch);
    lock_give(&system->foreign.lock);
    return watch->unwatch;
}

static void client_unwatch(struct tr_client *client, const struct watch_entry *watch)
{
    unwatch_fill(watch->unwatch, watch->target, watch->watch);
    if (!knock(client->system, NULL, watch->target, watch->unwatch))
        tr__client_give(client, watch->unwatch);
}

/* Sends a WATCH back to its watcher as the signal. Takes the envelope. */
static void client_answer(struct tr_client *client, struct envelope *envelope)
{
    struct cell *watcher = slots_find(client->system->slots, envelope->sender);
    watch_turn(envelope);
    if (watcher)
        tr__mail_send_any(client->system, NULL, watcher, envelope);
    else
        tr__client_give(client, envelope);
}

tr_status tr_client_try_watch(tr_client *client, tr_ref ref)
{
    CLIENT_VERB(client);
    if (!client || !ref.bits)
        return TR_INVALID_ARGUMENT;
    struct tr_system *system = client->system;
    if (ref.bits == client->cell->identity || tr__watch_find(&client->watches, ref.bits))
        return TR_OK;
    struct watch_entry watch = {.target = ref.bits};
    if (!tr__watch_reserve(&client->watches, &system->source) || !take_two(system, &watch))
        return TR_NO_MEMORY;
    tr__watch_insert(&client->watches, &watch);
    watch_fill(watch.watch, client->cell->identity, ref.bits);
    if (!knock(system, NULL, ref.bits, watch.watch))
        client_answer(client, watch.watch);
    return TR_OK;
}

tr_status tr_client_watch(tr_client *client, tr_ref ref)
{
    CLIENT_VERB(client);
    return tr_client_try_watch(client, ref);
}

tr_status tr_client_unwatch(tr_client *client, tr_ref ref)
{
    CLIENT_VERB(client);
    if (!client || !ref.bits)
        return TR_INVALID_ARGUMENT;
    struct watch_entry *found = tr__watch_find(&client->watches, ref.bits);
    if (!found)
        return TR_OK;
    struct watch_entry watch = *found;
    tr__watch_remove(&client->watches, &client->system->source, found);
    client_unwatch(client, &watch);
    return TR_OK;
}

void tr__client_watch_mail(struct tr_client *client, struct envelope *envelope)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    bool is_here = watch_letter(envelope)->target == client->cell->identity;
    if (envelope->kind == ENVELOPE_WATCH && is_here) {
        watch_ring_push(&client->watchers, envelope);
        return;
    }
    if (envelope->kind == ENVELOPE_WATCH) {
        client_answer(client, envelope);
        return;
    }
    if (is_here) {
        struct unwatch_letter *letter = envelope_data(envelope);
        watch_ring_remove(&client->watchers, letter->watch);
        tr__client_give(client, letter->watch);
    }
    tr__client_give(client, envelope);
}

/*
 * Returns the open watch that a signal belongs to; NULL if the signal belongs to an earlier watch.
 */
static struct watch_entry *client_watch_of(struct tr_client *client, struct envelope *envelope)
{
    struct watch_entry *watch = tr__watch_find(&client->watches, watch_letter(envelope)->target);
    return watch && watch->watch == envelope ? watch : NULL;
}

bool tr__client_watch_is_open(struct tr_client *client, struct envelope *envelope)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    return envelope->type != &tr__signal_types[SIGNAL_TERMINATED] ||
           client_watch_of(client, envelope);
}

void tr__client_watch_over(struct tr_client *client, struct envelope *envelope)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    if (envelope->type != &tr__signal_types[SIGNAL_TERMINATED])
        return;
    struct watch_entry *watch = client_watch_of(client, envelope);
    lock_take(&client->system->foreign.lock);
    envelope_give_empty(&client->system->foreign.pool, watch->unwatch);
    lock_give(&client->system->foreign.lock);
    tr__watch_remove(&client->watches, &client->system->source, watch);
}

void tr__client_watch_end(struct tr_client *client)
{
    TR_ASSERT_SLOW(client_is_mine(client));
    struct watch_table *watches = &client->watches;
    for (uint32_t i = 0; watches->slots && i <= watches->mask; i++) {
        if (watches->slots[i].target)
            client_unwatch(client, &watches->slots[i]);
    }
    tr__watch_table_free(watches, &client->system->source);
    while (client->watchers) {
        struct envelope *envelope = client->watchers;
        watch_ring_remove(&client->watchers, envelope);
        client_answer(client, envelope);
    }
}
