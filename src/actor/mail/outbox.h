/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the actor layer does for actors whose state is on disk, without knowing how they keep it.
 *
 * Such an actor has a struct durable in its extra. While one of its turns runs, worker->outbox is there, and
 * what the turn sends is not handed over: messages, requests, replies and PoisonPills wait in the outbox, in the order
 * sent, until what the turn has written is on disk (tr__outbox_release) or will never be (tr__outbox_drop). A
 * turn that waits or has ended leaves the outbox of its worker to the next one.
 *
 * Owner only, all of it.
 */
#ifndef ACTOR_MAIL_OUTBOX_H
#define ACTOR_MAIL_OUTBOX_H

#include "actor/cell/durable.h"
#include "actor/mail/mail.h"

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
    return worker->outbox && !worker->outbox->is_open;
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
