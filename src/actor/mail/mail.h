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
#ifndef ACTOR_MAIL_MAIL_H
#define ACTOR_MAIL_MAIL_H

#include "actor/cell/durable.h"
#include "actor/cell/system.h"

/** Puts an envelope behind the last one of a ring. */
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
    cell->queued_lines += mail_lines(envelope);
}

static inline void mail_uncount(struct cell *cell, const struct envelope *envelope)
{
    cell->queued_lines -= mail_lines(envelope);
}

/* ---- Room: how much a mailbox may still take. See queue/capacity.h. ---- */

/*
 * A cell's stock: messages in its lower half, lines in the upper one. It is refilled from the capacity
 * in steps, and what is too much goes back, so that senders elsewhere do not miss it.
 */
enum {
    STOCK_STEP = 64,
    STOCK_LINES_SHIFT = 16,
    STOCK_LINES_MAX = 64,            /* of one message; larger ones go around it */
    STOCK_IS_MUCH = (int)0x3f000080, /* 128 messages, or 256 lines */
    MAIL_EXACT_BOUND = 4096,         /* bounds below this are exact: nothing is put by, */
    MAIL_EXACT_BOUND_PARK = 512      /* and this where senders wait */
};

/** The bounds that a behavior asks for. */
struct mail_bound {
    int32_t messages;
    int32_t lines;
    tr_overflow overflow;
};

static inline struct mail_bound mail_bound_of(const tr_behavior *behavior)
{
    const tr_options *options = &behavior->options;
    uint32_t messages = options->mailbox_max ? options->mailbox_max : TR_MAILBOX_MAX;
    size_t bytes = options->mailbox_bytes_max ? options->mailbox_bytes_max : TR_MAILBOX_BYTES_MAX;
    return (struct mail_bound){(int32_t)messages, (int32_t)(bytes / 64), options->overflow};
}

/** Whether bounds fit into a capacity. */
static inline bool mail_bound_is_valid(const tr_behavior *behavior)
{
    return behavior->options.mailbox_max <= TR_MAILBOX_LARGEST &&
           behavior->options.mailbox_bytes_max <= TR_MAILBOX_BYTES_LARGEST;
}

/** Whether messages of this kind take capacity. */
static inline bool mail_takes_capacity(const struct envelope *envelope)
{
    return envelope->kind == ENVELOPE_NOTICE || envelope->kind == ENVELOPE_ASK;
}

/** Gives an actor that nobody knows yet the capacity that its behavior asks for. */
void tr__capacity_open(struct cell *cell, const tr_behavior *behavior);
/** Its behavior changes. Owner only. */
void tr__capacity_change(struct worker *worker, struct cell *cell, const tr_behavior *from,
                         const tr_behavior *to);
/** When the stock has not enough. False: the mailbox is full. Owner only. */
bool tr__capacity_take(struct cell *cell, uint32_t lines);
/** What does not go into the stock, or is too much for it. Owner only. */
void tr__capacity_give(struct cell *cell, uint32_t lines);
/** Room for those who wait, once the mailbox is within its bound. Owner only. */
void tr__capacity_put_by(struct cell *cell, int32_t messages, int32_t lines);
/** Of messages that come back from a stash: never refused. Owner only. */
void tr__capacity_take_back(struct cell *cell, uint32_t lines);
/** How many messages have capacity in the mailbox, and in *lines their memory. When nothing runs. */
int32_t tr__capacity_used(const struct cell *cell, const tr_behavior *behavior, int32_t *lines);

/** Takes capacity for a message from this worker. False: there is none. Owner only. */
static inline bool capacity_take_fast(struct cell *cell, const struct envelope *envelope)
{
    uint32_t lines = mail_lines(envelope);
    uint32_t stock = cell->stock;
    if (__builtin_expect((stock & 0xffff) == 0 || stock >> STOCK_LINES_SHIFT < lines, 0))
        return tr__capacity_take(cell, lines);
    cell->stock = stock - (lines << STOCK_LINES_SHIFT) - 1;
    return true;
}

/** Gives the capacity of a message back that leaves the mailbox. Owner only, not of a narrow cell. */
static inline void capacity_give_fast(struct cell *cell, const struct envelope *envelope)
{
    uint32_t lines = mail_lines(envelope);
    if (__builtin_expect(lines > STOCK_LINES_MAX, 0)) {
        tr__capacity_give(cell, lines);
        return;
    }
    cell->stock += (lines << STOCK_LINES_SHIFT) + 1;
    if (__builtin_expect(cell->stock & STOCK_IS_MUCH, 0))
        tr__capacity_give(cell, 0);
}

/** Puts capacity by for those who wait for it; tr__waiters_serve hands it out. Owner only. */
static inline void capacity_give_waiters(struct cell *cell, int32_t messages, int32_t lines)
{
    cell->extra->senders.reserved += messages;
    cell->extra->senders.reserved_lines += lines;
}

/* What a notice inside its envelope takes from the stock and adds to the lines. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MAIL_ONE_NOTICE ((UINT64_C(1) << 32) - (1u << STOCK_LINES_SHIFT) - 1)
#define MAIL_OVERDRAWN UINT64_C(0x80008000)
#else
#define MAIL_ONE_NOTICE (1 - (UINT64_C(1) << (32 + STOCK_LINES_SHIFT)) - (UINT64_C(1) << 32))
#define MAIL_OVERDRAWN (UINT64_C(0x80008000) << 32)
#endif

/** Such a notice leaves the mailbox of one that is narrow, or where senders wait. Owner only. */
static inline void mail_leave_exactly(struct cell *cell)
{
    cell->queued_lines--;
    if (cell->flags & CELL_HAS_WAITING_SENDERS)
        capacity_give_waiters(cell, 1, 1);
    else
        tr__capacity_give(cell, 1);
}

/** The same of all others. */
static inline void mail_leave_stock(struct cell *cell)
{
    cell->stock_and_lines -= MAIL_ONE_NOTICE;
    if (__builtin_expect(cell->stock & STOCK_IS_MUCH, 0))
        tr__capacity_give(cell, 0);
}

/** The same of any. */
static inline void mail_leave_fast(struct cell *cell)
{
    if (__builtin_expect(cell->flags & (CELL_EXACT_BOUND | CELL_HAS_WAITING_SENDERS), 0))
        mail_leave_exactly(cell);
    else
        mail_leave_stock(cell);
}

/*
 * Whether such a notice was one too many: the highest bit of each half of the stock, which only goes
 * below zero then. One that has so much says so too, which is seen to elsewhere.
 */
static inline bool mail_is_overdrawn(uint64_t stock_and_lines)
{
    return stock_and_lines & MAIL_OVERDRAWN;
}

/** As capacity_give_fast, of any cell. */
static inline void capacity_give_any(struct cell *cell, const struct envelope *envelope)
{
    if (cell->flags & (CELL_EXACT_BOUND | CELL_HAS_WAITING_SENDERS))
        tr__capacity_give(cell, mail_lines(envelope));
    else
        capacity_give_fast(cell, envelope);
}

/** Whether timers wait as well while a turn is a barrier: those of a durable actor do. */
static inline bool mail_holds_events(const struct cell *cell)
{
    return cell->flags & CELL_BARRIER && cell->extra->durable;
}

/** Whether a run would find something to handle, or a turn to go on with. */
static inline bool mail_has_arrived(const struct cell *cell)
{
    if (__builtin_expect(cell->flags & CELL_BARRIER, 0))
        return cell->replies || cell->exceptions || cell->flags & CELL_WOKEN ||
               (cell->events && !cell->extra->durable);
    return cell->notices || cell->flags & (CELL_MIXED | CELL_WOKEN);
}

/** Whether turns of this actor wait, or answers for which none does: tr_ask_then. */
static inline bool mail_is_parked(const struct cell *cell)
{
    return cell->extra && (cell->extra->parked.count || cell->extra->asks.then_count);
}

/** Whether an actor that has nothing to do is to stop. */
static inline bool mail_is_over(const struct cell *cell)
{
    if (!(cell->flags & CELL_SEALED) || mail_is_parked(cell))
        return false;
    const struct durable *durable = cell_durable(cell);
    return !durable || durable->may_stop;
}

/** Whether an actor waits and may run: Running and in no queue. */
static inline bool mail_is_idle(const struct cell *cell)
{
    return cell->sched_state == SCHED_WAITING && cell->life == LIFE_RUNNING;
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

/** A turn has begun to wait as a barrier: what this cycle had still to handle is put aside. */
void tr__mail_hold(struct cell *cell);
/** The last barrier is over: what was put aside comes before everything else. */
void tr__mail_release(struct cell *cell);

/** Begins a cycle with more than notices. */
bool tr__mail_join(struct cell *cell);

/** Begins a cycle: joins the mailboxes. False when they are empty. */
static inline bool mail_begin_cycle(struct cell *cell)
{
    if (__builtin_expect(cell->flags & (CELL_MIXED | CELL_BARRIER), 0))
        return tr__mail_join(cell);
    cell->cycle = cell->notices;
    cell->notices = NULL;
    return cell->cycle;
}

/** A run goes on with an unfinished cycle: new replies and exceptions go first. */
void tr__mail_resume_cycle(struct cell *cell);

/**
 * A message for which there is no capacity, from this worker: TR_OK when that was mended, otherwise it
 * is the caller's still. Owner only.
 */
tr_status tr__mail_overflow(struct worker *worker, struct cell *cell, struct envelope *envelope);
/**
 * After mail from elsewhere was taken in, or a new behavior: drops the oldest when they are too
 * much and it is to be so. Owner only.
 */
void tr__mail_drop_oldest(struct worker *worker, struct cell *cell);
/**
 * Of mail from elsewhere, whose sender did not know it: whether it is larger than the whole mailbox
 * of an actor that drops the oldest. It does not drive the others out. Owner only.
 */
bool tr__mail_is_misfit(const struct cell *cell, const struct envelope *envelope);
/** Takes capacity for a message from elsewhere. TR_OK, TR_STOPPED, TR_MAILBOX_FULL. Any thread. */
tr_status tr__capacity_take_far(struct cell *cell, const struct envelope *envelope);

/** A message that was taken becomes a dead letter. Owner only. */
void tr__mail_bury_one(struct worker *worker, struct cell *cell, struct envelope *envelope,
                       tr_status reason);

/** Drops what was taken back: it was never a message. */
void tr__mail_drop(struct worker *worker, struct envelope *envelope);

/** High or normal: D-01 of docs/contract.md. */
enum task_class tr__mail_priority(const struct cell *cell);

/** Puts a cell that waits into a run queue. Owner only. */
static inline void mail_make_ready(struct worker *worker, struct cell *cell)
{
    cell->sched_state = SCHED_READY;
    enum task_class class = TASK_NORMAL;
    if (__builtin_expect(cell->flags & CELL_MIXED, 0))
        class = tr__mail_priority(cell);
    loop_enqueue(&worker->loop, &cell->task, class);
}

/**
 * Has an actor of this worker look at its control bits. One that is in a queue, or in the middle of
 * something, does so by itself; hence a scheduling state must never be SCHED_WAITING while its cell may be in
 * a queue. Owner only.
 */
static inline void mail_rouse(struct worker *worker, struct cell *cell)
{
    if (cell->sched_state == SCHED_WAITING && cell->life < LIFE_STOPPED)
        mail_make_ready(worker, cell);
}

/** Sets control bits of an actor of this worker and has it look at them. Owner only. */
static inline void cell_set_control(struct worker *worker, struct cell *cell, uint32_t bits)
{
    atom32_fetch_or(&cell->control, bits, ATOM_RELAXED); /* it is this worker's */
    mail_rouse(worker, cell);
}

/**
 * Hands an envelope over, from a worker. It is accepted, or refused and then still the caller's:
 * TR_STOPPED. `cell` was found by `ref`.
 */
tr_status tr__mail_send(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Whether a notice, or an ask, to this actor is as quick as can be, but for its capacity: it lives here, and
 * nothing is unusual.
 */
static inline bool mail_can_go_fast(const struct worker *worker, const struct cell *cell)
{
    return cell_owner(cell) == worker->fast_owner && !(cell->flags & CELL_SLOW_SEND) &&
           !door_has_mail(&cell->door);
}

/** The same with its capacity. */
static inline bool mail_fits_fast(const struct worker *worker, const struct cell *cell)
{
    return mail_can_go_fast(worker, cell) &&
           !mail_is_overdrawn(cell->stock_and_lines + MAIL_ONE_NOTICE);
}

/**
 * Hands one that is inside its envelope over, where mail_can_go_fast; `stock_and_lines` is what is left with
 * it, and not overdrawn. One that waits has no mail, as a rule, and others have some.
 */
static inline void mail_send_fast(struct worker *worker, struct cell *cell,
                                  struct envelope *envelope, uint64_t stock_and_lines)
{
    cell->stock_and_lines = stock_and_lines;
    atom64_count(&worker->counters.accepted, 1);
    struct envelope *last = cell->notices;
    cell->notices = envelope;
    if (mail_is_idle(cell)) {
        envelope->mail.next = &envelope->mail;
        if (__builtin_expect(last != NULL, 0))
            ring_insert(last, envelope);
        cell->sched_state = SCHED_READY;
        loop_enqueue(&worker->loop, &cell->task, TASK_NORMAL);
    } else if (last) {
        ring_insert(last, envelope);
    } else {
        envelope->mail.next = &envelope->mail;
    }
}

/** The same where mail_fits_fast. */
static inline void mail_send_quickly(struct worker *worker, struct cell *cell,
                                     struct envelope *envelope)
{
    mail_send_fast(worker, cell, envelope, cell->stock_and_lines + MAIL_ONE_NOTICE);
}

/** As tr__mail_send, of a message that has its capacity already. */
tr_status tr__mail_place(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Hands an envelope over from any thread. It is accepted, or refused and then still the caller's:
 * TR_STOPPED, TR_MAILBOX_FULL.
 */
TR_MUST_CHECK tr_status tr__mail_send_outside(struct tr_system *system, struct cell *cell,
                                              struct envelope *envelope);

/**
 * Hands over an envelope of the runtime's own, taken whatever happens: nobody hears of its loss.
 * `worker` is the caller's, NULL on any other thread.
 */
void tr__mail_send_any(struct tr_system *system, struct worker *worker, struct cell *cell,
                       struct envelope *envelope);

#endif
