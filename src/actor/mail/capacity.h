/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The capacity of mailboxes: how many messages and bytes fit, and what happens to a message that does not.
 */
#ifndef ACTOR_MAIL_CAPACITY_H
#define ACTOR_MAIL_CAPACITY_H

#include <troupe/supervision.h>
#include <troupe/status.h>

struct cell;
struct envelope;
struct worker;

/** Gives an actor that nobody knows yet the capacity that its behavior asks for. */
void tr__capacity_open(struct cell *cell, const tr_behavior *behavior);
/** Its behavior changes. Owner only. */
void tr__capacity_change(struct worker *worker, struct cell *cell, const tr_behavior *from,
                         const tr_behavior *to);
/** When the stock has not enough. False: the mailbox is full. Owner only. */
bool tr__capacity_take(struct cell *cell, uint32_t lines);
/** What does not go into the stock, or is too much for it. Owner only. */
void tr__capacity_give(struct cell *cell, uint32_t lines);
/** Reserves capacity for senders that wait, once the mailbox is within its bound. Owner only. */
void tr__capacity_put_by(struct cell *cell, int32_t messages, int32_t lines);
/** Of messages that come back from a stash: never refused. Owner only. */
void tr__capacity_take_back(struct cell *cell, uint32_t lines);
/** How many messages have capacity in the mailbox, and in *lines their memory. When nothing runs. */
int32_t tr__capacity_used(const struct cell *cell, const tr_behavior *behavior, int32_t *lines);
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

/** Whether a turn of this actor wants capacity in the mailbox of `to`: see actor/ask/line.h. Owner only. */
bool tr__line_has(const struct cell *cell, uint64_t to);

#endif
