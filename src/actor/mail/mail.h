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

#include "actor/cell/sched_state.h"
#include "actor/cell/durable.h"
#include "actor/cell/system.h"
#include "actor/cell/post.h"
#include "actor/mail/capacity.h"
#include "actor/mail/cycle.h"
#include "base/assert.h"
#include "actor/mail/kind.h"

/**
 * Returns the sender of the message that a turn handles, 0 for none. In the envelopes of timers and
 * channels, the member `sender` has another meaning.
 */
static inline uint64_t turn_sender(const struct tr_self *self)
{
    const struct envelope *envelope = self->envelope;
    bool has_sender =
        envelope && envelope->kind != ENVELOPE_EVENT && envelope->kind != ENVELOPE_CHANNEL;
    return has_sender ? envelope->sender : 0;
}

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

/* ---- Capacity: how much a mailbox may still take. See queue/capacity.h. ---- */

/*
 * The stock of a cell is capacity that senders on its worker take without an atomic operation. The
 * lower half of the word counts messages, the upper half lines. The owner refills the stock from
 * the capacity word in steps. What is too much goes back to the capacity word, so that senders on
 * other threads can use it.
 */
enum {
    STOCK_STEP = 64,
    STOCK_LINES_SHIFT = 16,
    /* the most lines of a message that uses the stock */
    STOCK_LINES_MAX = 64,
    STOCK_IS_MUCH = (int)0x3f000080, /* 128 messages, or 256 lines */
    /* A mailbox with a smaller bound than this is counted exactly, and so has no stock. */
    MAIL_EXACT_BOUND = 4096,
    /* As MAIL_EXACT_BOUND, but for the policy TR_PARK, with which senders wait. */
    MAIL_EXACT_BOUND_PARK = 512
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

/** Whether the bounds of a behavior fit into a capacity word. */
static inline bool mail_bound_is_valid(const tr_behavior *behavior)
{
    return behavior->options.mailbox_max <= TR_MAILBOX_LARGEST &&
           behavior->options.mailbox_bytes_max <= TR_MAILBOX_BYTES_LARGEST;
}

/** Takes capacity for a message of this worker. Returns false if there is none. Owner only. */
static inline bool capacity_take_fast(struct cell *cell, const struct envelope *envelope)
{
    uint32_t lines = mail_lines(envelope);
    uint32_t stock = cell->stock;
    if (__builtin_expect((stock & 0xffff) == 0 || stock >> STOCK_LINES_SHIFT < lines, 0))
        return tr__capacity_take(cell, lines);
    cell->stock = stock - (lines << STOCK_LINES_SHIFT) - 1;
    return true;
}

/**
 * Gives back the capacity of a message that leaves the mailbox. The cell must have neither
 * CELL_EXACT_BOUND nor CELL_HAS_WAITING_SENDERS. Owner only.
 */
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

/** Reserves capacity for waiting senders. tr__waiters_serve grants it to them later. Owner only. */
static inline void capacity_give_waiters(struct cell *cell, int32_t messages, int32_t lines)
{
    TR_ASSERT_SLOW(cell->flags & CELL_HAS_WAITING_SENDERS);
    cell->extra->senders.reserved += messages;
    cell->extra->senders.reserved_lines += lines;
}

/*
 * A number that counts one more notice, with its message inside its envelope, when it is added to
 * stock_and_lines. The sum has one message and one line less in the stock, and one more queued
 * line.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MAIL_ONE_NOTICE ((UINT64_C(1) << 32) - (1u << STOCK_LINES_SHIFT) - 1)
#define MAIL_OVERDRAWN UINT64_C(0x80008000)
#else
#define MAIL_ONE_NOTICE (1 - (UINT64_C(1) << (32 + STOCK_LINES_SHIFT)) - (UINT64_C(1) << 32))
#define MAIL_OVERDRAWN (UINT64_C(0x80008000) << 32)
#endif

/**
 * Updates the counts when a notice leaves the mailbox of a cell with CELL_EXACT_BOUND or
 * CELL_HAS_WAITING_SENDERS. The message of the notice must be inside its envelope. Owner only.
 */
static inline void mail_leave_exactly(struct cell *cell)
{
    TR_ASSERT_SLOW(cell->queued_lines > 0);
    cell->queued_lines--;
    if (cell->flags & CELL_HAS_WAITING_SENDERS)
        capacity_give_waiters(cell, 1, 1);
    else
        tr__capacity_give(cell, 1);
}

/**
 * As mail_leave_exactly, but for cells with neither CELL_EXACT_BOUND nor CELL_HAS_WAITING_SENDERS.
 */
static inline void mail_leave_stock(struct cell *cell)
{
    TR_ASSERT_SLOW(cell->queued_lines > 0);
    cell->stock_and_lines -= MAIL_ONE_NOTICE;
    if (__builtin_expect(cell->stock & STOCK_IS_MUCH, 0))
        tr__capacity_give(cell, 0);
}

/** As mail_leave_exactly, but for a cell with any flags. */
static inline void mail_leave_fast(struct cell *cell)
{
    if (__builtin_expect(cell->flags & (CELL_EXACT_BOUND | CELL_HAS_WAITING_SENDERS), 0))
        mail_leave_exactly(cell);
    else
        mail_leave_stock(cell);
}

/*
 * Whether the stock is overdrawn after MAIL_ONE_NOTICE was added. Tests the highest bit of each
 * half of the stock, because this bit is set when the half falls below zero. A very large stock has
 * this bit set too. Then the sender takes the slow path, which is also correct.
 */
static inline bool mail_is_overdrawn(uint64_t stock_and_lines)
{
    return stock_and_lines & MAIL_OVERDRAWN;
}

/** As capacity_give_fast, but for a cell with any flags. */
static inline void capacity_give_any(struct cell *cell, const struct envelope *envelope)
{
    if (cell->flags & (CELL_EXACT_BOUND | CELL_HAS_WAITING_SENDERS))
        tr__capacity_give(cell, mail_lines(envelope));
    else
        capacity_give_fast(cell, envelope);
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

/** Whether an actor that has nothing to do should stop now, because it is sealed. */
static inline bool mail_is_over(const struct cell *cell)
{
    if (!(cell->flags & CELL_SEALED) || mail_is_parked(cell) ||
        (cell->extra && cell->extra->waits.holds_stop))
        return false;
    const struct durable *durable = cell_durable(cell);
    return !durable || durable->may_stop;
}

/** Whether an actor is in the state Running, and in no run queue. */
static inline bool mail_is_idle(const struct cell *cell)
{
    return cell->sched_state == SCHED_WAITING && cell->life == LIFE_RUNNING;
}

/** Carries out an order that has arrived: Stop, Kill, Suspend or Resume. Owner only. */
void tr__mail_order(struct cell *cell, enum envelope_kind kind);
/**
 * Takes an envelope that contains an order. If the order is for this tenant of the slot, calls
 * tr__mail_order. Owner only.
 */
void tr__order_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Takes in a chain of mail. A door returns such a chain with the newest envelope first. Owner only.
 */
void tr__mail_take_in(struct worker *worker, struct cell *cell, struct door_mail *chain);

/** Takes in the mail that is in the inbox of the door. Owner only. */
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
 * Begins a cycle: joins the content of the mailboxes in cell->cycle. Returns false if all mailboxes
 * are empty.
 */
static inline bool mail_begin_cycle(struct cell *cell)
{
    if (__builtin_expect(cell->flags & (CELL_MIXED | CELL_BARRIER), 0))
        return tr__mail_join(cell);
    TR_ASSERT_SLOW(!cell->cycle);
    cell->cycle = cell->notices;
    cell->notices = NULL;
    return cell->cycle;
}

/**
 * Whether messages of the current cycle are left. Messages that wait for the end of a barrier do
 * not count.
 */
static inline bool mail_is_unfinished(const struct cell *cell)
{
    if (cell->cycle || !cell->extra)
        return cell->cycle;
    const struct extra_mail *mail = &cell->extra->mail;
    return mail->late || (mail->held && !(cell->flags & CELL_BARRIER));
}

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

/** Puts a waiting cell into a run queue. Owner only. */
static inline void mail_make_ready(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    cell_sched_change(cell, SCHED_READY);
    enum task_class class = TASK_NORMAL;
    if (__builtin_expect(cell->flags & CELL_MIXED, 0))
        class = tr__mail_priority(cell);
    loop_enqueue(&worker->loop, &cell->task, class);
}

/**
 * Makes an actor of this worker look at its control bits: puts a cell that waits into a run queue.
 * Does nothing for a cell that is in a run queue or runs, because the run of that cell looks at the
 * bits anyway. Therefore the scheduling state of a cell must never be SCHED_WAITING while the cell
 * may be in a run queue. Owner only.
 */
static inline void mail_rouse(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (cell->sched_state == SCHED_WAITING && cell->life < LIFE_STOPPED)
        mail_make_ready(worker, cell);
}

/** Sets control bits of an actor of this worker and makes the actor look at them. Owner only. */
static inline void cell_set_control(struct worker *worker, struct cell *cell, uint32_t bits)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    /* relaxed is enough, because the cell belongs to this worker */
    atom32_fetch_or(&cell->control, bits, ATOM_RELAXED);
    mail_rouse(worker, cell);
}

/**
 * Sends an envelope from a worker. On TR_OK the envelope is accepted. On any other status it
 * remains the caller's. The other statuses are TR_STOPPED, TR_MAILBOX_FULL, TR_NO_REPLY (for an ask
 * to a client), TR_NO_MEMORY (for the outbox), and the `refusal` of a sealed durable actor.
 */
tr_status tr__mail_send(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** As tr__mail_send, but for mail of the runtime, which no outbox holds. */
tr_status tr__mail_send_now(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Whether a notice or an ask to this actor may take the fast path, if there is capacity for it. The
 * actor must belong to this worker, and nothing about it may be unusual. The owner is compared
 * first, because only the owner may read the flags.
 */
ATOM_INLINE bool mail_can_go_fast(const struct worker *worker, const struct cell *cell,
                                  enum envelope_kind kind)
{
    uint32_t slow = CELL_SLOW_SEND | (kind_box(kind) == MAIL_BOX_REQUESTS ? CELL_BY_KIND : 0);
    return cell_owner(cell) == worker->fast_owner && !(cell->flags & slow) &&
           !door_has_mail(&cell->door);
}

/**
 * As mail_can_go_fast, but also checks that there is capacity for a message inside its envelope.
 */
ATOM_INLINE bool mail_fits_fast(const struct worker *worker, const struct cell *cell,
                                enum envelope_kind kind)
{
    return mail_can_go_fast(worker, cell, kind) &&
           !mail_is_overdrawn(cell->stock_and_lines + MAIL_ONE_NOTICE);
}

/**
 * Sends an envelope that contains its message. mail_can_go_fast must be true. `stock_and_lines` is
 * the value after MAIL_ONE_NOTICE was added; it must not be overdrawn. The branches are laid out
 * for two cases: an idle actor without mail, and any other actor with mail.
 */
static inline void mail_send_fast(struct worker *worker, struct cell *cell,
                                  struct envelope *envelope, uint64_t stock_and_lines)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT_SLOW(!mail_is_overdrawn(stock_and_lines));
    TR_ASSERT_SLOW(!(cell->flags & CELL_SLOW_SEND));
    /*
     * A durable turn must not come here, because its message would be sent before its changes are
     * on disk.
     */
    TR_ASSERT_SLOW(!worker->outbox_turn);
    cell->stock_and_lines = stock_and_lines;
    atom64_count(&worker->counters.accepted, 1);
    struct envelope *last = cell->notices;
    cell->notices = envelope;
    if (mail_is_idle(cell)) {
        envelope->mail.next = &envelope->mail;
        if (__builtin_expect(last != NULL, 0))
            ring_insert(last, envelope);
        cell_sched_change_from(cell, SCHED_WAITING, SCHED_READY);
        loop_enqueue(&worker->loop, &cell->task, TASK_NORMAL);
    } else if (last) {
        ring_insert(last, envelope);
    } else {
        envelope->mail.next = &envelope->mail;
    }
}

/** Sends an envelope that contains its message. mail_fits_fast must be true. */
static inline void mail_send_quickly(struct worker *worker, struct cell *cell,
                                     struct envelope *envelope)
{
    mail_send_fast(worker, cell, envelope, cell->stock_and_lines + MAIL_ONE_NOTICE);
}

/** As tr__mail_send, but the caller has already taken the capacity for the message. */
tr_status tr__mail_place(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Sends an envelope for which the capacity was taken, or which needs no capacity. Returns TR_OK if
 * the envelope is accepted. Otherwise returns TR_STOPPED, and the envelope remains the caller's.
 * Any thread.
 */
ATOM_INLINE tr_status mail_push_outside(struct tr_system *system, struct cell *cell,
                                        struct envelope *envelope)
{
    /* read the kind before the push, because the envelope may be gone right after it */
    uint64_t is_counted = mail_counts(envelope);
    enum door_result result = door_push(&cell->door, &envelope->mail);
    if (result == DOOR_REFUSED)
        return TR_STOPPED;
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.accepted, is_counted);
    lock_give(&system->foreign.lock);
    if (result == DOOR_TAKEN_POST)
        tr__system_post(system, NULL, cell);
    return TR_OK;
}

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
