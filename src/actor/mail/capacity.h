/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The capacity of mailboxes: how many messages and bytes a mailbox can still take, and what happens
 * to a message that it cannot take.
 */
#ifndef ACTOR_MAIL_CAPACITY_H
#define ACTOR_MAIL_CAPACITY_H

#include <troupe/supervision.h>
#include <troupe/status.h>

#include "actor/mail/mail.h"
#include "base/assert.h"

struct cell;
struct envelope;
struct worker;

/**
 * Gives a new actor the capacity that its behavior asks for. No other thread may know the actor
 * yet.
 */
void tr__capacity_open(struct cell *cell, const tr_behavior *behavior);
/**
 * Adjusts the capacity of a mailbox when the actor changes its behavior from `from` to `to`. Owner
 * only.
 */
void tr__capacity_change(struct worker *worker, struct cell *cell, const tr_behavior *from,
                         const tr_behavior *to);
/**
 * Takes capacity for one message of `lines` lines, for which the stock is too small. Either refills
 * the stock first, or takes the capacity directly from the capacity word. Returns false if the
 * mailbox is full. Owner only.
 */
bool tr__capacity_take(struct cell *cell, uint32_t lines);
/**
 * Gives the capacity of one message of `lines` lines back to the capacity word, and not to the
 * stock. If `lines` is 0, gives back only what the stock has above STOCK_STEP. While senders wait,
 * reserves the capacity for them instead. Owner only.
 */
void tr__capacity_give(struct cell *cell, uint32_t lines);
/**
 * Reserves capacity for waiting senders. If the mailbox is over its bound, the capacity first
 * covers the excess, and only the rest is reserved. Owner only.
 */
void tr__capacity_reserve(struct cell *cell, int32_t messages, int32_t lines);
/**
 * Takes capacity for one message that returns from a stash. This is never refused, and may make the
 * capacity of the mailbox negative. Owner only.
 */
void tr__capacity_take_back(struct cell *cell, uint32_t lines);
/**
 * Returns how many messages hold capacity in the mailbox, and writes the lines of these messages to
 * *lines. The cell must not change during the call.
 */
int32_t tr__capacity_used(const struct cell *cell, const tr_behavior *behavior, int32_t *lines);
/**
 * Handles a message of this worker for which there is no capacity. Drops the oldest messages, if
 * the behavior allows that. If this makes enough capacity, takes it and returns TR_OK, otherwise
 * returns TR_MAILBOX_FULL. The envelope remains the caller's in both cases. Owner only.
 */
tr_status tr__mail_overflow(struct worker *worker, struct cell *cell, struct envelope *envelope);
/**
 * If the behavior has TR_DROP_OLDEST, drops the oldest messages until the mailbox is within its
 * bound. Called after mail of other threads was taken in, and after a change of behavior. Owner
 * only.
 */
void tr__mail_drop_oldest(struct worker *worker, struct cell *cell);
/**
 * Whether the actor has TR_DROP_OLDEST, and a message of another thread is larger than the actor's
 * whole mailbox. Such a message must not displace other messages. Its sender could not see that it
 * is too large, because only the owner knows the bound of the mailbox. Owner only.
 */
bool tr__mail_is_misfit(const struct cell *cell, const struct envelope *envelope);
/**
 * Takes capacity for a message of another thread. Returns TR_OK, TR_STOPPED or TR_MAILBOX_FULL. Any
 * thread.
 */
tr_status tr__capacity_take_far(struct cell *cell, const struct envelope *envelope);

/**
 * Whether a turn of this actor is in the line for the mailbox of `to`: see actor/ask/line.h. Owner
 * only.
 */
bool tr__line_has(const struct cell *cell, uint64_t to);

/* ---- The stock. See queue/capacity.h. ---- */

/*
 * The stock of a cell is capacity that senders on its worker take without an atomic operation. The
 * lower half of the word counts messages, the upper half lines. The owner refills the stock from
 * the capacity word in steps. If the stock becomes too large, capacity goes back to the capacity
 * word, so that senders on other threads can use it.
 */
enum {
    STOCK_STEP = 64,
    STOCK_LINES_SHIFT = 16,
    /* the largest number of lines of a message that uses the stock */
    STOCK_LINES_MAX = 64,
    /* a stock with one of these bits is too large: it has at least 128 messages or 256 lines */
    STOCK_IS_MUCH = (int)0x3f000080,
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

#endif
