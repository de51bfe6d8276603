/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the actor layer does for actors whose state is on disk, without knowing how they keep it.
 *
 * Such an actor has a struct durable in its extra, and its turns have an outbox, self->outbox.
 * While such a turn runs, worker->outbox_turn is that turn, and what the turn sends is held back.
 * Messages, requests, replies and PoisonPills (MAIL_IS_HELD in actor/mail/kind.h) wait in the
 * outbox, in the order sent. What the turn does to channels of its actor waits there, too: a struct
 * channel_effect, which only the layer above knows. They wait until what the turn has written is on
 * disk (tr__outbox_release) or cannot be written (tr__outbox_drop). If the turn spawns, the set-up
 * of the new actor runs inside the turn, and what the set-up sends waits too. Rules:
 *   1. worker->outbox_turn is NULL or a turn with an outbox. Only worker_hold_sends writes it.
 *   2. A turn that waits or has ended is not the outbox_turn: see outbox_leave, outbox_end.
 *   3. No fast path of sending is used while outbox_turn is set. mail_send_fast and
 *      ask_reply_quickly assert this.
 *
 * Everything here is Owner only, unless it says otherwise.
 */
#ifndef ACTOR_MAIL_OUTBOX_H
#define ACTOR_MAIL_OUTBOX_H

#include <troupe/status.h>
#include <troupe/detail/base.h>

#include "actor/cell/worker.h"
#include "base/assert.h"

struct channel_effect;
struct tr_system;
struct worker;

/** Messages that were sent and are held. All zero is empty. */
struct outbox {
    struct outbox_item {
        struct cell *cell; /* NULL: the item is an effect on a channel */
        union {
            struct envelope *envelope;
            struct channel_effect *effect;
        };
    } * items;
    uint32_t count;
    uint32_t capacity;
    bool is_open; /* nothing is held: messages are sent at once */
};

/** Whether messages that this worker sends now are held. */
static inline bool outbox_holds(const struct worker *worker)
{
    return worker->outbox_turn && !worker->outbox_turn->outbox->is_open;
}

/** Begins a turn whose messages are held in `outbox`, which is borrowed until outbox_end. */
static inline void outbox_begin(struct tr_self *self, struct outbox *outbox)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(!self->outbox);
    TR_ASSERT(!self->worker->outbox_turn); /* a durable turn never runs inside another turn */
    self->outbox = outbox;
    (void)worker_hold_sends(self->worker, self);
}

/** Whether the messages of this turn are held now: it has an outbox, and it runs. */
static inline bool outbox_is_in_use(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT_SLOW(self->worker->outbox_turn != self || self->outbox);
    return self->worker->outbox_turn == self;
}

/**
 * Stops holding messages because the turn waits, or because its worker gets another thread.
 * Meanwhile messages of other actors are sent at once. The turn keeps its outbox.
 */
static inline void outbox_leave(struct tr_self *self)
{
    TR_ASSERT(self->outbox);
    TR_ASSERT(outbox_is_in_use(self));
    (void)worker_hold_sends(self->worker, NULL);
}

/** Holds messages again because the turn resumes. */
static inline void outbox_return(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(self->outbox);
    TR_ASSERT(!self->worker->outbox_turn);
    (void)worker_hold_sends(self->worker, self);
}

/** Ends a turn that has an outbox. The turn may be waiting. */
static inline void outbox_end(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(self->outbox);
    if (outbox_is_in_use(self))
        (void)worker_hold_sends(self->worker, NULL);
    self->outbox = NULL;
}

/** The content of an ENVELOPE_STORED. */
TR_MESSAGE(tr_stored, (u64, token));

/**
 * Holds a message in the outbox of the current turn, or sends it if the outbox is open. Returns
 * what tr__mail_send returns, or TR_NO_MEMORY.
 */
tr_status tr__outbox_send(struct worker *worker, struct cell *cell, struct envelope *envelope);
/**
 * Holds an effect on a channel in the outbox of the current turn. The outbox must not be open.
 * Returns TR_OK or TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__outbox_hold(struct worker *worker, struct channel_effect *effect);
/**
 * Returns the effect that was held last. Returns NULL if there is none, or if something was held
 * after it.
 */
struct channel_effect *tr__outbox_last_effect(const struct worker *worker);
/**
 * Sends the held messages, in order, and empties the outbox. A message that is refused becomes a
 * dead letter.
 */
void tr__outbox_release(struct worker *worker, struct outbox *outbox);
/**
 * Empties the outbox without sending. An asker whose reply is held receives `reason` instead. All
 * other messages become dead letters; for a held ask, its asker receives `reason` too. PoisonPills
 * are dropped.
 */
void tr__outbox_drop(struct worker *worker, struct outbox *outbox, tr_status reason);

/**
 * Makes an envelope by which another thread will report that something is stored. The actor neither
 * ends nor is restarted before tr__stored_end takes the envelope. `token` is for the layer above.
 * Returns NULL when out of memory.
 */
struct envelope *tr__stored_new(struct worker *worker, struct cell *cell, uint64_t token);
/**
 * Sends an envelope of tr__stored_new. Any thread. After this call, whatever the token refers to
 * may be gone.
 */
void tr__stored_send(struct tr_system *system, struct cell *cell, struct envelope *envelope);
/** Passes an ENVELOPE_STORED that has arrived to the layer above, which takes it. */
void tr__stored_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/**
 * Ends the wait for an ENVELOPE_STORED that has arrived or was not needed, and takes the envelope.
 * From now on the actor may end.
 */
void tr__stored_end(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Sends an actor a message of the runtime. The turn of that message may begin even during a
 * barrier. Returns a status of tr__mail_send, TR_NO_MEMORY or TR_TOO_LARGE.
 */
TR_MUST_CHECK tr_status tr__durable_tell(struct worker *worker, struct cell *cell,
                                         const tr_type *type, const void *message);

/** Calls on_wake_timer for each durable actor of this worker whose wake timer has expired. */
void tr__wake_timers_fire(struct worker *worker, tr_time now_ns);

#endif
