/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The mail of an actor: six mailboxes and the cycle.
 *
 * A mailbox is a ring of envelopes, and a pointer to its last envelope stands for the ring. A cycle
 * begins when the content of all mailboxes is joined into one ring, in the order replies,
 * exceptions, asks, notices, events, channels. The run takes one message after another from this
 * ring. Mail that arrives meanwhile waits in the mailboxes for the next cycle. A run that resumes
 * an unfinished cycle first puts new replies and exceptions before the rest of that cycle.
 */
#ifndef ACTOR_MAIL_MAIL_H
#define ACTOR_MAIL_MAIL_H

#include "actor/cell/system.h"
#include "base/assert.h"

/** Puts an envelope between the last and the first envelope of a ring. */
static inline void ring_insert(struct envelope *last, struct envelope *envelope)
{
    envelope->mail.next = last->mail.next;
    last->mail.next = &envelope->mail;
}

/** Puts an envelope at the end of a ring. */
static inline void ring_push(struct envelope **last, struct envelope *envelope)
{
    if (*last) {
        ring_insert(*last, envelope);
    } else {
        envelope->mail.next = &envelope->mail;
    }
    *last = envelope;
}

/** Removes and returns the first envelope of a ring that is not empty. */
static inline struct envelope *ring_pop(struct envelope **last)
{
    struct envelope *first = (struct envelope *)(*last)->mail.next;
    if (first == *last)
        *last = NULL;
    else
        (*last)->mail.next = first->mail.next;
    return first;
}

/** Appends all of the ring `tail` to the ring `last`, and empties `tail`. */
static inline void ring_join(struct envelope **last, struct envelope **tail)
{
    if (!*tail)
        return;
    if (*last) {
        struct door_mail *first = (*last)->mail.next;
        (*last)->mail.next = (*tail)->mail.next;
        (*tail)->mail.next = first;
    }
    *last = *tail;
    *tail = NULL;
}

/** Returns how much memory a message takes, in lines of 64 bytes. */
static inline uint32_t mail_lines(const struct envelope *envelope)
{
    if (__builtin_expect(envelope->block_class == ENVELOPE_NO_BLOCK, 1))
        return 1;
    return 1 + (envelope->payload.block.size + 63) / 64;
}

/** Returns the size of the message in an envelope, with everything that it points to. */
static inline size_t mail_bytes(const struct envelope *envelope)
{
    if (envelope->block_class == ENVELOPE_NO_BLOCK)
        return envelope->type->size;
    return envelope->payload.block.size;
}

static inline void mail_count(struct cell *cell, const struct envelope *envelope)
{
    cell->queued_lines += mail_lines(envelope);
}

static inline void mail_uncount(struct cell *cell, const struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell->queued_lines >= mail_lines(envelope));
    cell->queued_lines -= mail_lines(envelope);
}

/**
 * Whether the actor has a barrier that also holds events of timers. This is so for the barrier of a
 * durable actor.
 */
static inline bool mail_holds_events(const struct cell *cell)
{
    return cell->flags & CELL_BARRIER && cell->extra->durable;
}

/** Whether a run of this actor would find a message to handle, or a turn to resume. */
static inline bool mail_has_arrived(const struct cell *cell)
{
    if (__builtin_expect(cell->flags & CELL_BARRIER, 0))
        return cell->replies || cell->exceptions || cell->flags & CELL_WOKEN ||
               cell->extra->mail.late || (cell->events && !cell->extra->durable);
    return cell->notices || cell->flags & (CELL_MIXED | CELL_WOKEN);
}

/**
 * Whether turns of this actor are parked, or asks of tr_ask_then are open. (No turn waits for an
 * ask of tr_ask_then.)
 */
static inline bool mail_is_parked(const struct cell *cell)
{
    return cell->extra && (cell->extra->parked.count || cell->extra->asks.then_count);
}

/** Carries out an order that has arrived: Stop, Kill, Suspend or Resume. Owner only. */
void tr__mail_order(struct cell *cell, uint32_t kind);
/**
 * Takes an envelope that contains an order. If the order is for this tenant of the slot, calls
 * tr__mail_order. Owner only.
 */
void tr__order_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Takes in a chain of mail. A door returns such a chain with the newest envelope first. Owner only.
 */
void tr__mail_take_in(struct worker *worker, struct cell *cell, struct door_mail *chain);

/**
 * Takes in the mail that other threads have sent: it is in the inbox of the actor's door
 * (queue/door.h). Owner only.
 */
static inline void mail_look(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (__builtin_expect(door_has_mail(&cell->door), 0))
        tr__mail_take_in(worker, cell, door_take_early(&cell->door));
}

/**
 * Answers the probes that wait in the mailbox of an actor that is up but Suspended, so that they do
 * not wait for the end of the suspension. Owner only.
 */
void tr__mail_answer_probes(struct worker *worker, struct cell *cell);

/**
 * Makes a dead letter of a message that was accepted. Takes the envelope. A signal, or a message of
 * tr__durable_tell, is dropped instead. Owner only.
 */
void tr__mail_bury_one(struct worker *worker, struct cell *cell, struct envelope *envelope,
                       tr_status reason);

/**
 * Drops an envelope that does not become a dead letter: a signal, an event, or a cancelled envelope
 * (ENVELOPE_VOID). Reduces `accepted` by one, as if the envelope had not been sent. An
 * ENVELOPE_VOID is not counted in `accepted`, so for such an envelope the counter stays.
 */
void tr__mail_drop(struct worker *worker, struct envelope *envelope);

/** Returns the priority of a cell, high or normal: D-01 of docs/contract.md. */
enum task_class tr__mail_priority(const struct cell *cell);

/**
 * Sends an envelope from a worker. On TR_OK the envelope is accepted. On any other status it
 * remains the caller's. The other statuses are TR_STOPPED, TR_MAILBOX_FULL, TR_NO_REPLY (for an ask
 * to a client), TR_NO_MEMORY (for the outbox), and the `refusal` of a sealed durable actor.
 */
tr_status tr__mail_send(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** As tr__mail_send, but for mail of the runtime, which no outbox holds. */
tr_status tr__mail_send_now(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** As tr__mail_send, but the caller has already taken the capacity for the message. */
tr_status tr__mail_place(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Sends an envelope. On TR_OK the envelope is accepted. On any other status it remains the
 * caller's. The other statuses are TR_STOPPED, TR_MAILBOX_FULL, and TR_NO_REPLY for an ask to a
 * client. Any thread.
 */
TR_MUST_CHECK tr_status tr__mail_send_outside(struct tr_system *system, struct cell *cell,
                                              struct envelope *envelope);

/**
 * Sends an envelope of the runtime, and takes it in any case. If the receiver refuses the envelope,
 * frees it; nobody is notified. `worker` is the worker that calls this, NULL on any other thread.
 */
void tr__mail_send_any(struct tr_system *system, struct worker *worker, struct cell *cell,
                       struct envelope *envelope);

/** Sets control bits of a cell and makes its worker look at them. Worker only. */
void tr__child_order(struct worker *worker, struct cell *child, uint32_t bits);

/**
 * Returns the time that is written into an answer to a client when it is sent, in milliseconds;
 * never 0.
 */
static inline uint32_t ask_stamp_ms(tr_time now_ns)
{
    uint32_t ms = (uint32_t)((uint64_t)now_ns / TR_MILLISECOND);
    return ms ? ms : 1;
}

#endif
