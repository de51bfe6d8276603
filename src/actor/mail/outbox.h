/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the actor layer does for actors whose state is on disk, without knowing how they keep it.
 *
 * Such an actor has a struct durable in its extra, and its turns have an outbox, self->outbox. While such a turn
 * runs, worker->outbox_turn is that turn, and what is sent is not handed over: messages, requests, replies and
 * PoisonPills (MAIL_IS_HELD in actor/mail/kind.h) wait in the outbox, in the order sent, until what the turn has
 * written is on disk (tr__outbox_release) or will never be (tr__outbox_drop). That goes for set-ups too which run
 * inside the turn, because it spawns. Rules:
 *   1. worker->outbox_turn is NULL or a turn with an outbox. Only worker_hold_sends writes it.
 *   2. A turn that waits or has ended is not there: outbox_leave, outbox_end.
 *   3. No quick way to send is open while it is there; mail_send_fast and ask_reply_quickly assert this.
 *
 * Owner only, all of it.
 */
#ifndef ACTOR_MAIL_OUTBOX_H
#define ACTOR_MAIL_OUTBOX_H

#include <troupe/status.h>
#include <troupe/detail/base.h>

#include "actor/cell/worker.h"

struct tr_system;
struct worker;

/** What has been sent and is held. All zero is empty. */
struct outbox {
    struct outbox_item {
        struct cell *cell;
        struct envelope *envelope;
    } * items;
    uint32_t count;
    uint32_t capacity;
    bool is_open; /* nothing is held: what is sent goes at once */
};

/** Whether what this worker sends now is held. */
static inline bool outbox_holds(const struct worker *worker)
{
    return worker->outbox_turn && !worker->outbox_turn->outbox->is_open;
}

/** A turn begins whose sends are held in `outbox`, borrowed until outbox_end. */
static inline void outbox_begin(struct tr_self *self, struct outbox *outbox)
{
    TR_ASSERT(!self->outbox);
    TR_ASSERT(!self->worker->outbox_turn); /* a durable turn runs inside no other */
    self->outbox = outbox;
    (void)worker_hold_sends(self->worker, self);
}

/** Whether the sends of this turn are held now: it has an outbox, and it runs. */
static inline bool outbox_is_in_use(const struct tr_self *self)
{
    TR_ASSERT_SLOW(self->worker->outbox_turn != self || self->outbox);
    return self->worker->outbox_turn == self;
}

/** The turn waits, or its thread is replaced: what others send is not held. It keeps its outbox. */
static inline void outbox_leave(struct tr_self *self)
{
    TR_ASSERT(self->outbox);
    TR_ASSERT(outbox_is_in_use(self));
    (void)worker_hold_sends(self->worker, NULL);
}

/** The turn continues. */
static inline void outbox_return(struct tr_self *self)
{
    TR_ASSERT(self->outbox);
    TR_ASSERT(!self->worker->outbox_turn);
    (void)worker_hold_sends(self->worker, self);
}

/** The turn ends, be it while it waits. */
static inline void outbox_end(struct tr_self *self)
{
    TR_ASSERT(self->outbox);
    if (outbox_is_in_use(self))
        (void)worker_hold_sends(self->worker, NULL);
    self->outbox = NULL;
}

/** What an ENVELOPE_STORED holds. */
TR_MESSAGE(tr_stored, (u64, token));

/** Holds a message, or sends it when the outbox is open. As tr__mail_send. */
tr_status tr__outbox_send(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** Sends what is held, in order, and empties the outbox. What is not taken is a dead letter. */
void tr__outbox_release(struct worker *worker, struct outbox *outbox);
/** What is held never leaves: who waits for it hears `reason`, the rest is dead letters. */
void tr__outbox_drop(struct worker *worker, struct outbox *outbox, tr_status reason);

/**
 * An envelope with which another thread will say that something is done: the actor neither ends nor is
 * restarted before it has arrived. NULL: no memory. The token is for who sends it.
 */
struct envelope *tr__stored_new(struct worker *worker, struct cell *cell, uint64_t token);
/** Sends it. Any thread; from then on everything of its token may be gone. */
void tr__stored_send(struct tr_system *system, struct cell *cell, struct envelope *envelope);
/** It has arrived: has the layer above take it. */
void tr__stored_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** It has arrived, or was not needed: the actor may end. Takes it. */
void tr__stored_end(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** Sends an actor a message of the runtime's own that begins whatever barrier there is. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__durable_tell(struct worker *worker, struct cell *cell,
                                         const tr_type *type, const void *message);

/** Has those look whose wake_timer is over. */
void tr__wake_timers_fire(struct worker *worker, tr_time now_ns);

#endif
