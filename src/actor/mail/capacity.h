/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The capacity of mailboxes: how many messages and bytes a mailbox can still take, and what happens
 * to a message that it cannot take.
 */
#ifndef ACTOR_MAIL_CAPACITY_H
#define ACTOR_MAIL_CAPACITY_H

#include <troupe/supervision.h>
#include <troupe/status.h>

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
 * Whether a message of another thread is larger than the whole mailbox, in an actor with
 * TR_DROP_OLDEST. The sender could not know the bound of the mailbox. Such a message must not
 * displace other messages. Owner only.
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

#endif
