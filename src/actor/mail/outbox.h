/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the actor layer does for durable actors. Only src/durable knows how their state gets to disk.
 *
 * Such an actor has a struct durable in its extra, and each of its turns has an outbox,
 * self->outbox. While such a turn runs, worker->outbox_turn is that turn, and the outbox holds back
 * what the turn sends. Messages, requests, replies and PoisonPills (MAIL_IS_HELD in
 * actor/mail/kind.h) wait in the outbox, in the order sent. What the turn does to channels of its
 * actor waits there too, as a struct channel_effect; only src/net knows that struct. All of this
 * waits until the changes of the turn are on disk (tr__outbox_release) or cannot be written
 * (tr__outbox_drop). If the turn spawns, the set-up of the new actor runs inside the turn, and what
 * the set-up sends waits too. Rules:
 *   1. worker->outbox_turn is NULL or a turn with an outbox. Only worker_hold_sends writes it.
 *   2. When a turn begins to wait or ends, it is no longer the outbox_turn. See outbox_leave and
 *      outbox_end.
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

/** Messages that a turn has sent and that are held back. An outbox of zeros is empty. */
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
    bool is_open; /* the outbox holds nothing back: messages are sent at once */
};

/** Whether an outbox holds back what this worker sends now. */
static inline bool outbox_holds(const struct worker *worker)
{
    return worker->outbox_turn && !worker->outbox_turn->outbox->is_open;
}

/**
 * Begins a turn whose messages are held in `outbox`. The turn borrows the outbox until outbox_end.
 */
static inline void outbox_begin(struct tr_self *self, struct outbox *outbox)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(!self->outbox);
    TR_ASSERT(!self->worker->outbox_turn); /* a durable turn never runs inside another turn */
    self->outbox = outbox;
    (void)worker_hold_sends(self->worker, self);
}

/** Whether the turn has an outbox and runs now, so that the outbox gets what the turn sends. */
static inline bool outbox_is_in_use(const struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT_SLOW(self->worker->outbox_turn != self || self->outbox);
    return self->worker->outbox_turn == self;
}

/**
 * Stops holding back messages, because the turn waits or because its worker gets another thread.
 * Until the turn resumes, other actors of the worker send their messages at once. The turn keeps
 * its outbox.
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
 * Puts a message into the outbox of the current turn. If the outbox is open, sends the message
 * instead. Returns what tr__mail_send returns, or TR_NO_MEMORY.
 */
tr_status tr__outbox_send(struct worker *worker, struct cell *cell, struct envelope *envelope);
/**
 * Puts an effect on a channel into the outbox of the current turn. The outbox must not be open.
 * Returns TR_OK or TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__outbox_hold(struct worker *worker, struct channel_effect *effect);
/**
 * Returns the effect on a channel that is the last item of the outbox. Returns NULL if the outbox
 * is empty, or if its last item is a message.
 */
struct channel_effect *tr__outbox_last_effect(const struct worker *worker);
/**
 * Sends the held messages, in order, and empties the outbox. A message that is refused becomes a
 * dead letter.
 */
void tr__outbox_release(struct worker *worker, struct outbox *outbox);
/**
 * Empties the outbox without sending. The asker that waits for a held reply gets `reason` instead
 * of the reply. All other messages become dead letters, and the asker of a held ask gets `reason`
 * too. PoisonPills are dropped.
 */
void tr__outbox_drop(struct worker *worker, struct outbox *outbox, tr_status reason);

/**
 * Makes an envelope with which another thread can report that something is stored. Until
 * tr__stored_end takes the envelope, the actor neither ends nor is restarted. `token` is for
 * durable_hooks.on_stored, which finds it in the envelope. Returns NULL when out of memory.
 */
struct envelope *tr__stored_new(struct worker *worker, struct cell *cell, uint64_t token);
/**
 * Sends an envelope of tr__stored_new. Right after this call, the thing that the token refers to
 * may be gone. Any thread.
 */
void tr__stored_send(struct tr_system *system, struct cell *cell, struct envelope *envelope);
/** Passes an ENVELOPE_STORED that has arrived to durable_hooks.on_stored, which takes the envelope. */
void tr__stored_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/**
 * Ends the wait for an ENVELOPE_STORED, and takes the envelope. The envelope has arrived, or was
 * not needed. From now on the actor may end.
 */
void tr__stored_end(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Sends a message of the runtime to an actor. The turn of this message may begin even during a
 * barrier. Returns a status of tr__mail_send, TR_NO_MEMORY or TR_TOO_LARGE.
 */
TR_MUST_CHECK tr_status tr__durable_tell(struct worker *worker, struct cell *cell,
                                         const tr_type *type, const void *message);

/** Calls on_wake_timer for each durable actor of this worker whose wake timer has expired. */
void tr__wake_timers_fire(struct worker *worker, tr_time now_ns);

#endif
