/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs of actors and clients for topics.
 *
 * A publish has two passes. The first pass takes an envelope for each subscriber, and fills the
 * envelopes. If the first pass fails, nothing was sent. The second pass sends the envelopes, which
 * needs no memory.
 */
#include "actor/ask/line.h"
#include "actor/cell/client.h"
#include "actor/cell/post.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/mail/capacity.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/mail.h"
#include "actor/verbs/topic.h"
#include "base/assert.h"
#include "mem/shared.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

#include <troupe/topic.h>

/** A message that is published, and its sender. */
struct issue {
    const tr_type *type;
    const void *message;
    uint64_t sender;
    uint64_t causal;
};

/* ---- The first pass: taking and filling envelopes. ---- */

static void give_all(struct envelope_pool *pool, struct envelope *envelope)
{
    while (envelope) {
        struct envelope *next = (struct envelope *)(void *)envelope->mail.next;
        envelope_give_empty(pool, envelope);
        envelope = next;
    }
}

/*
 * Takes an envelope for each live subscriber, in the order of the walk. The member `sender` of an
 * envelope has the ref of its receiver, until next_of addresses the envelope. If this returns
 * TR_NO_MEMORY, it has given all envelopes back to the pool.
 */
static tr_status take_all(struct envelope_pool *pool, struct topic_walk *walk,
                          struct envelope **first)
{
    struct envelope *last = NULL;
    uint64_t ref;
    *first = NULL;
    while ((ref = tr__topic_next(walk))) {
        struct envelope *envelope = envelope_take(pool);
        if (!envelope) {
            give_all(pool, *first);
            return TR_NO_MEMORY;
        }
        envelope->mail.next = NULL;
        envelope->sender = ref;
        if (last)
            last->mail.next = &envelope->mail;
        else
            *first = envelope;
        last = envelope;
    }
    return TR_OK;
}

/*
 * Puts the message into all envelopes. If the message does not fit into an envelope, the envelopes
 * share a block.
 */
static tr_status fill_all(struct envelope_pool *pool, struct envelope *first, uint32_t count,
                          const struct issue *issue)
{
    const tr_type *type = issue->type;
    if (count == 1)
        return envelope_fill(pool, first, type, issue->message, ENVELOPE_INLINE);
    bool fits = type->is_flat && type->size <= ENVELOPE_INLINE;
    uint32_t size = 0;
    void *shared = NULL;
    if (!fits) {
        tr_status status;
        shared = tr__shared_new(&pool->source, type, issue->message, count, &size, &status);
        if (!shared)
            return status;
    }
    for (struct envelope *envelope = first; envelope;
         envelope = (struct envelope *)(void *)envelope->mail.next) {
        if (fits) {
            (void)envelope_fill(pool, envelope, type, issue->message, ENVELOPE_INLINE);
            continue;
        }
        envelope->type = type;
        envelope->block_class = ENVELOPE_SHARED;
        envelope->payload.block.data = shared;
        envelope->payload.block.size = size;
    }
    return TR_OK;
}

/*
 * Does the first pass. Sets *first to the list of filled envelopes. If there are no subscribers, or
 * the pass has failed, sets *first to NULL.
 */
static tr_status prepare(struct envelope_pool *pool, struct topic_walk *walk,
                         const struct issue *issue, struct envelope **first)
{
    tr_status status = take_all(pool, walk, first);
    if (status == TR_OK && *first) {
        status = fill_all(pool, *first, walk->met, issue);
        if (status != TR_OK)
            give_all(pool, *first);
    }
    if (status != TR_OK)
        *first = NULL;
    return status;
}

/* Removes the first envelope from the list, and addresses it. Returns the ref of the receiver. */
static uint64_t next_of(struct envelope **first, const struct issue *issue)
{
    struct envelope *envelope = *first;
    uint64_t to = envelope->sender;
    *first = (struct envelope *)(void *)envelope->mail.next;
    mail_address(
        envelope,
        (struct address){
            .kind = ENVELOPE_NOTICE, .to = to, .sender = issue->sender, .causal = issue->causal});
    return to;
}

/* ---- The second pass: sending the envelopes. ---- */

static void send_all(struct tr_self *self, struct envelope *first, const struct issue *issue,
                     tr_published *published)
{
    struct worker *worker = self->worker;
    while (first) {
        struct envelope *envelope = first;
        uint64_t to = next_of(&first, issue);
        struct cell *cell = slots_find(worker->slots, to);
        tr_status status = cell ? TR_MAILBOX_FULL : TR_STOPPED;
        if (cell && !turn_is_behind(self, to))
            status = tr__mail_send(worker, cell, envelope);
        if (status == TR_OK) {
            published->taken++;
            continue;
        }
        envelope_give(&worker->pool, envelope);
        if (status == TR_STOPPED)
            /* the receiver has stopped since the first pass, and is no subscriber any more */
            continue;
        published->refused++;
        atom64_count(&worker->counters.refused, 1);
        tr__dead_letter(
            worker->system,
            worker,
            &(struct dead_letter){
                .type = issue->type, .from = issue->sender, .to = to, .reason = status});
    }
}

tr_published tr_self_publish(tr_self *self, tr_topic topic, const tr_type *type,
                             const void *message)
{
    TURN_VERB(self);
    tr_published published = {.status = TR_INVALID_ARGUMENT};
    if (!self || !type || !message)
        return published;
    published.status = TR_CANCELLED;
    if (self->is_cancelled)
        return published;
    struct worker *worker = self->worker;
    struct topic_walk walk;
    struct envelope *first;
    struct issue issue = {type, message, self->cell->identity, self->causal};
    published.status = tr__topic_begin(worker->system, topic.bits, &walk);
    if (published.status != TR_OK)
        return published;
    published.status = prepare(&worker->pool, &walk, &issue, &first);
    tr__topic_end(&walk);
    send_all(self, first, &issue, &published);
    return published;
}

/*
 * As send_all, but from a client. Returns the envelopes that no receiver has taken, in reverse
 * order.
 */
static struct envelope *send_all_far(struct tr_system *system, struct envelope *first,
                                     const struct issue *issue, tr_published *published)
{
    struct envelope *back = NULL;
    bool is_forced = atom32_load(&system->ending.is_forced, ATOM_RELAXED);
    while (first) {
        struct envelope *envelope = first;
        uint64_t to = next_of(&first, issue);
        struct cell *cell = slots_find(system->slots, to);
        /* As in tr_tell, send nothing to actors after the deadline of a shutdown. */
        if (cell && is_forced && cell_owner(cell) != CELL_FOREIGN)
            cell = NULL;
        tr_status status = cell ? tr__capacity_take_far(cell, envelope) : TR_STOPPED;
        enum door_result result = DOOR_REFUSED;
        if (status == TR_OK)
            result = door_push(&cell->door, &envelope->mail);
        if (result == DOOR_TAKEN_POST)
            tr__system_post(system, NULL, cell);
        if (result != DOOR_REFUSED) {
            published->taken++;
            continue;
        }
        envelope->mail.next = back ? &back->mail : NULL;
        back = envelope;
        if (status != TR_MAILBOX_FULL)
            continue;
        published->refused++;
        tr__dead_letter(
            system,
            NULL,
            &(struct dead_letter){
                .type = issue->type, .from = issue->sender, .to = to, .reason = status});
    }
    return back;
}

tr_published tr_client_publish(tr_client *client, tr_topic topic, const tr_type *type,
                               const void *message)
{
    CLIENT_VERB(client);
    tr_published published = {.status = TR_INVALID_ARGUMENT};
    if (!client || !type || !message)
        return published;
    struct tr_system *system = client->system;
    struct topic_walk walk;
    struct envelope *first;
    struct issue issue = {type, message, client->cell->identity, hash_mix(client->causal_next++)};
    published.status = tr__topic_begin(system, topic.bits, &walk);
    if (published.status != TR_OK)
        return published;
    lock_take(&system->foreign.lock);
    published.status = prepare(&system->foreign.pool, &walk, &issue, &first);
    lock_give(&system->foreign.lock);
    tr__topic_end(&walk);
    struct envelope *back = send_all_far(system, first, &issue, &published);
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.accepted, published.taken);
    atom64_count(&system->foreign.counters.refused, published.refused);
    while (back) {
        struct envelope *envelope = back;
        back = (struct envelope *)(void *)envelope->mail.next;
        envelope_give(&system->foreign.pool, envelope);
    }
    lock_give(&system->foreign.lock);
    return published;
}

/* ---- The other verbs of an actor. ---- */

tr_status tr_self_try_topic_open(tr_self *self, const char *name, uint64_t *bits)
{
    TURN_VERB(self);
    return self && bits ? tr__topic_open(self->worker->system, name, bits) : TR_INVALID_ARGUMENT;
}

uint64_t tr_self_topic_open(tr_self *self, const char *name)
{
    TURN_VERB(self);
    uint64_t bits = 0;
    TR_ASSERT(self); /* tr_crash below ends a turn, so there must be a turn */
    tr_status status = tr_self_try_topic_open(self, name, &bits);
    if (status != TR_OK)
        tr_crash(self, status, "tr_topic_open: %s", tr_status_text(status));
    return bits;
}

tr_status tr_self_topic_close(tr_self *self, tr_topic topic)
{
    TURN_VERB(self);
    return self ? tr__topic_close(self->worker->system, topic.bits) : TR_INVALID_ARGUMENT;
}

size_t tr_self_topic_count(tr_self *self, tr_topic topic)
{
    TURN_VERB(self);
    return self ? tr__topic_count(self->worker->system, topic.bits) : 0;
}

tr_status tr_self_try_subscribe(tr_self *self, tr_topic topic)
{
    TURN_VERB(self);
    if (!self)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (self->cell->life >= LIFE_STOPPING)
        return TR_STOPPING;
    return tr__topic_subscribe(self->worker->system, topic.bits, self->cell->identity);
}

tr_status tr_self_subscribe(tr_self *self, tr_topic topic)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* tr_crash below ends a turn, so there must be a turn */
    tr_status status = tr_self_try_subscribe(self, topic);
    if (status != TR_OK)
        tr_crash(self, status, "tr_subscribe: %s", tr_status_text(status));
    return TR_OK;
}

tr_status tr_self_unsubscribe(tr_self *self, tr_topic topic)
{
    TURN_VERB(self);
    if (!self)
        return TR_INVALID_ARGUMENT;
    return tr__topic_unsubscribe(self->worker->system, topic.bits, self->cell->identity);
}

/* ---- The other verbs of a client. ---- */

tr_status tr_client_try_topic_open(tr_client *client, const char *name, uint64_t *bits)
{
    CLIENT_VERB(client);
    return client && bits ? tr__topic_open(client->system, name, bits) : TR_INVALID_ARGUMENT;
}

tr_status tr_client_topic_close(tr_client *client, tr_topic topic)
{
    CLIENT_VERB(client);
    return client ? tr__topic_close(client->system, topic.bits) : TR_INVALID_ARGUMENT;
}

size_t tr_client_topic_count(tr_client *client, tr_topic topic)
{
    CLIENT_VERB(client);
    return client ? tr__topic_count(client->system, topic.bits) : 0;
}

tr_status tr_client_try_subscribe(tr_client *client, tr_topic topic)
{
    CLIENT_VERB(client);
    if (!client)
        return TR_INVALID_ARGUMENT;
    return tr__topic_subscribe(client->system, topic.bits, client->cell->identity);
}

tr_status tr_client_subscribe(tr_client *client, tr_topic topic)
{
    CLIENT_VERB(client);
    return tr_client_try_subscribe(client, topic);
}

tr_status tr_client_unsubscribe(tr_client *client, tr_topic topic)
{
    CLIENT_VERB(client);
    if (!client)
        return TR_INVALID_ARGUMENT;
    return tr__topic_unsubscribe(client->system, topic.bits, client->cell->identity);
}
