/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The mail of an actor: five mailboxes and the cycle.
 *
 * A mailbox is a ring of envelopes known by its last one. A cycle begins with what all mailboxes
 * hold: they are joined, in the order replies, exceptions, asks, notices, events, to one ring from
 * which the run takes one message after another. What arrives meanwhile waits in the mailboxes for
 * the next cycle. A run that goes on with an unfinished cycle first puts new replies and exceptions
 * before the rest of it.
 */
#ifndef ACTOR_MAIL_H
#define ACTOR_MAIL_H

#include "actor/system.h"

/** Puts an envelope at the end of a ring. */
static inline void ring_push(struct envelope **last, struct envelope *envelope)
{
    if (*last) {
        envelope->mail.next = (*last)->mail.next;
        (*last)->mail.next = &envelope->mail;
    } else {
        envelope->mail.next = &envelope->mail;
    }
    *last = envelope;
}

/** Takes the first envelope of a ring that is not empty. */
static inline struct envelope *ring_pop(struct envelope **last)
{
    struct envelope *first = (struct envelope *)(*last)->mail.next;
    if (first == *last)
        *last = NULL;
    else
        (*last)->mail.next = first->mail.next;
    return first;
}

/** Appends all of one ring to another and empties it. */
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

/** The memory of a message, in lines of 64 bytes. */
static inline uint32_t mail_lines(const struct envelope *envelope)
{
    if (__builtin_expect(envelope->block_class == ENVELOPE_NO_BLOCK, 1))
        return 1;
    return 1 + (envelope->payload.block.size + 63) / 64;
}

static inline void mail_count(struct cell *cell, const struct envelope *envelope)
{
    cell->queued++;
    cell->queued_lines += mail_lines(envelope);
}

static inline void mail_uncount(struct cell *cell, const struct envelope *envelope)
{
    cell->queued--;
    cell->queued_lines -= mail_lines(envelope);
}

static inline bool mail_has_arrived(const struct cell *cell)
{
    return cell->notices || cell->flags & CELL_MIXED;
}

/** Whether an actor waits and may run: Running and in no queue. */
static inline bool mail_is_idle(const struct cell *cell)
{
    return cell->house == HOUSE_WAITING && cell->life == LIFE_RUNNING;
}

/** Carries out Stop, Kill, Suspend or Resume, as it arrives. Owner only. */
void tr__mail_order(struct cell *cell, enum envelope_kind kind);

/** Takes in a chain, newest first, as a door gave it. Owner only. */
void tr__mail_take_in(struct worker *worker, struct cell *cell, struct door_mail *chain);

/** Takes in what is behind the door. Owner only. */
static inline void mail_look(struct worker *worker, struct cell *cell)
{
    if (__builtin_expect(door_has_mail(&cell->door), 0))
        tr__mail_take_in(worker, cell, door_take_early(&cell->door));
}

/** Answers the probes that wait: the actor is up, and Suspended already. Owner only. */
void tr__mail_answer_probes(struct worker *worker, struct cell *cell);

/** Begins a cycle with more than notices. */
bool tr__mail_join(struct cell *cell);

/** Begins a cycle: joins the mailboxes. False when they are empty. */
static inline bool mail_begin_cycle(struct cell *cell)
{
    if (__builtin_expect(cell->flags & CELL_MIXED, 0))
        return tr__mail_join(cell);
    cell->cycle = cell->notices;
    cell->notices = NULL;
    return cell->cycle;
}

/** A run goes on with an unfinished cycle: new replies and exceptions go first. */
void tr__mail_resume_cycle(struct cell *cell);

/** Drops what was taken back: it was never a message. */
void tr__mail_drop(struct worker *worker, struct envelope *envelope);

/** Everything that is left becomes dead letters. */
void tr__mail_bury(struct worker *worker, struct cell *cell, tr_status reason);

/** High or normal: SPEC D-01. */
enum task_class tr__mail_priority(const struct cell *cell);

/** Puts a cell that waits into a run queue. Owner only. */
static inline void mail_make_ready(struct worker *worker, struct cell *cell)
{
    cell->house = HOUSE_READY;
    enum task_class class = TASK_NORMAL;
    if (__builtin_expect(cell->flags & CELL_MIXED, 0))
        class = tr__mail_priority(cell);
    loop_enqueue(&worker->loop, &cell->task, class);
}

/**
 * Hands an envelope over, from a worker. It is accepted, or refused and then still the caller's:
 * TR_STOPPED. `cell` was found by `ref`.
 */
tr_status tr__mail_send(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Hands over an envelope of the runtime's own, taken whatever happens: nobody hears of its loss.
 * `worker` is the caller's, NULL on any other thread.
 */
void tr__mail_send_any(struct tr_system *system, struct worker *worker, struct cell *cell,
                       struct envelope *envelope);

#endif
