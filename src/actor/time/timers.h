/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timers of actors.
 *
 * A timer that fires once and has a small message contains the message itself. Such a timer takes
 * an envelope when it fires. If there is no memory for an envelope, the timer tries again a little
 * later. Every other timer has its envelope from the start. The envelope goes to the mailbox of
 * events, and returns to its timer when the turn of the message has ended. So a timer has at most
 * one message queued. Cancelling a timer cancels its message as well: the envelope becomes void,
 * and is dropped when its turn comes. The member `sender` of the envelope points to the timer, and
 * is 0 after the timer was cancelled.
 */
#ifndef ACTOR_TIME_TIMERS_H
#define ACTOR_TIME_TIMERS_H

#include <troupe/self.h>

struct cell;
struct envelope;
struct worker;

enum {
    TIMERS_ROUND_MAX = 1024
}; /* the largest number of timers that fire before actors run again */

/**
 * Fires the timers that are due. Returns true if more timers are due than one round may fire.
 * Worker only.
 */
bool tr__timers_fire(struct worker *worker, tr_time now_ns);

/** Returns an envelope to its timer, because the turn of the message has ended. Owner only. */
void tr__timer_return(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Notes that the turn of a timer's message waits. If the timer is cancelled meanwhile, the message
 * is not voided.
 */
void tr__timer_park(struct envelope *envelope);

/**
 * Separates the message of the current turn from its timer, because the turn stashes the message.
 * Owner only.
 */
void tr__timer_detach(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Removes all timers of an actor at the end of its incarnation. Queued messages of these timers
 * become void. Owner only.
 */
void tr__timers_drop(struct worker *worker, struct cell *cell);

/** Whether a timer without a key belongs to this actor and is not over. Owner only. */
bool tr__timer_is_there(struct worker *worker, const struct cell *cell, tr_timer timer);
/** As tr_timer_stop, but may also be called outside a turn of the actor. Owner only. */
tr_timer_end tr__timer_end(struct worker *worker, struct cell *cell, tr_timer timer);

#endif
