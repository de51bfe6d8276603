/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Senders that wait for capacity in a mailbox (TR_PARK).
 *
 * A turn, or a client's thread, that finds a mailbox full sends its owner a WANTED and waits. The
 * owner keeps those in a ring, in the order of arrival. As long as there are any, all capacity that
 * becomes free is put by for them, so that nobody overtakes; at the end of each run it is granted,
 * up to STOCK_STEP messages to each. The envelope of the WANTED goes back as the GRANT.
 *
 * A sender on the same worker has what it was granted in the receiver's stock until its stretch
 * ends: nobody else can run meanwhile. One that lives elsewhere keeps the GRANT, takes from it, and
 * sends what is left back (BACK) when its stretch ends. Who gives up, by his deadline or because he
 * ends, says so with a BACK as well; what is granted to him meanwhile goes back when it arrives.
 *
 * A client has no worker to send anything back while it does something else. So who grants it capacity
 * claims its wait first (client_claim), and a client whose wait was claimed waits for the answer,
 * which is on its way.
 *
 * An actor that waits for capacity lets no ask or notice begin, so a ring of such actors would wait for
 * each other: see actor/ask/ring.h.
 */
#ifndef ACTOR_ASK_WAITERS_H
#define ACTOR_ASK_WAITERS_H

#include <troupe/status.h>
#include <stdbool.h>
#include <stdint.h>

#include "mem/envelope.h"
#include "actor/mail/kind.h"

struct cell;
struct envelope;
struct tr_self;
struct worker;

/**
 * What travels in the envelopes of this page. `number` is that of the wait. In a WANTED of a client
 * `causal` is the client. A BACK with TR_CANCELLED: who waited has given up. A RING has in
 * `messages` how many actors may still be looked at, in `status` the ask of the one who looks, and in
 * `lines` and `causal` the ask, and its asker, that led to where it is sent.
 */
TR_MESSAGE(tr_capacity, (u64, number), (i32, messages), (i32, lines), (i32, status),
           (bool, is_client));

/** So ends the hope of those who wait. Owner only. */
void tr__waiters_refuse(struct worker *worker, struct cell *cell, tr_status status);

/** An actor was set up, or will never be: those who came before that. Owner only. */
void tr__waiters_mount(struct worker *worker, struct cell *cell, bool is_up);

/**
 * Sends a message to an actor that wants its senders to wait, when there is capacity. Takes the
 * envelope on TR_OK only. It waits for TR_PARK_NS, and not after `deadline_ns`. TR_MAILBOX_FULL,
 * TR_STOPPED, TR_CANCELLED, TR_NO_MEMORY.
 */
tr_status tr__turn_wait_for_capacity(struct tr_self *self, struct cell *cell,
                                     struct envelope *envelope, tr_time deadline_ns);

/**
 * Waits until tr__turn_wake for those of a turn's asks that are wanted; as tr__turn_park. Of a barrier,
 * asks that are in a ring end with TR_ASK_CYCLE.
 */
tr_status tr__barrier_wait_for_replies(struct tr_self *self);
/** The same of a turn that is none, but has a request itself and has asked one that is behind a barrier. */
tr_status tr__turn_wait_behind_barrier(struct tr_self *self);

/** A turn that waits, by the number of its wait, or NULL. Owner only. */
struct tr_self *tr__waiter_find(struct cell *cell, uint64_t number);

/** An envelope of this page, filled; NULL when out of memory. */
struct envelope *tr__letter_new(struct worker *worker, uint64_t number, int32_t messages,
                                int32_t lines);
/** Sends such an envelope on; false when its receiver is gone, and it is freed. */
bool tr__letter_send(struct worker *worker, struct envelope *envelope, enum envelope_kind kind,
                     uint64_t to, uint64_t from);

/** An actor is Suspended: what its turns were granted and have not used goes back. Owner only. */
void tr__grants_return(struct cell *cell);

#endif
