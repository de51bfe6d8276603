/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timers of actors, and their receive timeouts.
 *
 * A timer holds its message itself when that is small and comes once; it takes an envelope when it
 * fires, and tries again a little later when there is no memory for one. Any other timer has its
 * envelope from the start. The envelope goes to the mailbox of events, and comes back to its timer
 * when its turn has ended. So a timer has at most one message waiting, and taking a timer back takes
 * its message back as well: the envelope becomes void and is dropped when its turn comes. `sender`
 * of such an envelope is its timer; 0 when it was taken back.
 */
#ifndef ACTOR_TIME_TIMERS_H
#define ACTOR_TIME_TIMERS_H

#include <troupe/status.h>

struct cell;
struct envelope;
struct worker;

enum { TIMERS_ROUND_MAX = 1024 }; /* timers that fire before actors get their turn */

/** Fires what is due. True when more is due than one round may fire. Worker only. */
bool tr__timers_fire(struct worker *worker, tr_time now_ns);

/** The turn of a timer's message has ended: takes the envelope. */
void tr__timer_return(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** The turn of a timer's message waits: who takes the timer back meanwhile leaves the message. */
void tr__timer_park(struct envelope *envelope);

/** The message of this turn is set aside: it is the timer's no longer. */
void tr__timer_detach(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** A message is about to be handled: the receive timeout begins anew. */
void tr__idle_touch(struct worker *worker, struct cell *cell);

/** Stops the receive timeout while an actor is Suspended, and starts it anew. */
void tr__idle_pause(struct worker *worker, struct cell *cell);
void tr__idle_resume(struct worker *worker, struct cell *cell);

/** The incarnation ends: all timers go, and what they have queued is void. */
void tr__timers_drop(struct worker *worker, struct cell *cell);

/** Takes back the message of a timer, which waits in a mailbox. */
void tr__timer_void(struct worker *worker, struct envelope *envelope);

#endif
