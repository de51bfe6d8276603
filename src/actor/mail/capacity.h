/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The capacity of mailboxes: how many messages and bytes fit, and what happens to a message that
 * does not fit.
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
/** Adjusts the capacity when the behavior changes from `from` to `to`. Owner only. */
void tr__capacity_change(struct worker *worker, struct cell *cell, const tr_behavior *from,
                         const tr_behavior *to);
/**
 * Takes capacity for one message of `lines` lines when the stock is too small for it: refills the
 * stock, or takes from the capacity word directly. Returns false if the mailbox is full. Owner
 * only.
 */
bool tr__capacity_take(struct cell *cell, uint32_t lines);
/**
 * Gives back the capacity of one message of `lines` lines to the capacity word and not to the
 * stock. If `lines` is 0, gives back what the stock has above STOCK_STEP. While senders wait, the
 * capacity is reserved for them. Owner only.
 */
void tr__capacity_give(struct cell *cell, uint32_t lines);
/**
 * Reserves capacity for waiting senders. If the mailbox is over its bound, the excess is paid off
 * first, and only the rest is reserved. Owner only.
 */
void tr__capacity_reserve(struct cell *cell, int32_t messages, int32_t lines);
/**
 * Takes capacity for one message that returns from a stash. Never refused: the capacity may become
 * negative. Owner only.
 */
void tr__capacity_take_back(struct cell *cell, uint32_t lines);
/**
 * Returns how many messages hold capacity in the mailbox, and writes their lines to *lines. The
 * cell must not change meanwhile.
 */
int32_t tr__capacity_used(const struct cell *cell, const tr_behavior *behavior, int32_t *lines);
/**
 * Handles a message of this worker for which there is no capacity. Returns TR_OK if dropping the
 * oldest messages made enough capacity, which is then taken. Otherwise returns TR_MAILBOX_FULL. The
 * envelope remains the caller's in both cases. Owner only.
 */
tr_status tr__mail_overflow(struct worker *worker, struct cell *cell, struct envelope *envelope);
/**
 * Drops the oldest messages until the mailbox is within its bound, if the behavior has
 * TR_DROP_OLDEST. Called after mail of other threads was taken in, and after a change of behavior.
 * Owner only.
 */
void tr__mail_drop_oldest(struct worker *worker, struct cell *cell);
/**
 * Whether a message of another thread is larger than the whole mailbox of an actor with
 * TR_DROP_OLDEST. The sender could not know the bound. Such a message must not displace the others.
 * Owner only.
 */
bool tr__mail_is_misfit(const struct cell *cell, const struct envelope *envelope);
/**
 * Takes capacity for a message of another thread. Returns TR_OK, TR_STOPPED or TR_MAILBOX_FULL. Any
 * thread.
 */
tr_status tr__capacity_take_far(struct cell *cell, const struct envelope *envelope);

/**
 * Whether a turn of this actor waits for capacity in the mailbox of `to`: see actor/ask/line.h.
 * Owner only.
 */
bool tr__line_has(const struct cell *cell, uint64_t to);

#endif
