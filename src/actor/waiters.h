/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Senders that wait for room in a mailbox (TR_PARK).
 *
 * A turn, or a client's thread, that finds a mailbox full sends its owner a WANTED and waits. The
 * owner keeps those in a ring, in the order of arrival. As long as there are any, all room that
 * becomes free is put by for them, so that nobody overtakes; at the end of each run it is granted,
 * up to STOCK_STEP messages to each. The envelope of the WANTED goes back as the GRANT.
 *
 * A sender on the same worker has what it was granted in the receiver's stock until its stretch
 * ends: nobody else can run meanwhile. One that lives elsewhere keeps the GRANT, takes from it, and
 * sends what is left back (BACK) when its turn ends.
 *
 * An actor that waits for room lets no ask or notice begin, so a ring of such actors would wait for
 * each other. Who is about to wait follows the chain of those he waits for; where it leaves his
 * worker, a RING goes on, and when it comes back to him he waits no longer.
 */
#ifndef ACTOR_WAITERS_H
#define ACTOR_WAITERS_H

#include "actor/mail.h"

/** What travels in the envelopes of this page. */
TR_MESSAGE(tr_room, (u64, number), (i32, messages), (i32, lines), (i32, status));

/** A WANTED, GRANT, BACK or RING has arrived; takes it. Owner only. */
void tr__waiters_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

/** Grants what there is to the first of those who wait. Owner only. */
void tr__waiters_serve(struct worker *worker, struct cell *cell);

/** An actor ends: so does the hope of those who wait. Owner only. */
void tr__waiters_refuse(struct worker *worker, struct cell *cell);

/**
 * Sends a message to an actor that wants its senders to wait, when there is room. Takes the
 * envelope on TR_OK only. It waits for TR_PARK_NS, and not after `deadline_ns`. TR_MAILBOX_FULL,
 * TR_STOPPED, TR_CANCELLED, TR_NO_MEMORY.
 */
tr_status tr__turn_wait_for_room(struct tr_self *self, struct cell *cell, struct envelope *envelope,
                                 tr_time deadline_ns);

/**
 * Waits until tr__turn_wake; `to` is whose reply is wanted, 0 for those of several. As tr__turn_park,
 * and TR_ASK_CYCLE: this turn is a barrier, and so are those that it would wait for.
 */
tr_status tr__turn_wait_for_reply(struct tr_self *self, uint64_t to);

/** The stretch of a turn ends: what is left of its favour goes back. */
void tr__favour_end(struct tr_self *self);

/** The turn ends: what is left of its grant goes back. */
void tr__grant_return(struct tr_self *self);

#endif
