/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Senders that wait for capacity in a mailbox (TR_PARK).
 *
 * A turn, or a client's thread, that finds a mailbox full sends a WANTED to the actor of that
 * mailbox and waits. The owner of that actor keeps the WANTEDs in a ring, in the order of arrival.
 * While the ring is not empty, the owner reserves all capacity that becomes free for these senders,
 * so that no other sender overtakes them. At the end of each run the owner grants the reserved
 * capacity, up to STOCK_STEP messages to each sender. The envelope of the WANTED goes back as the
 * GRANT.
 *
 * If the sender is on the same worker, the granted capacity stays in the receiver's stock until the
 * stretch of the sender ends; no other actor of the worker can run meanwhile. A sender on another
 * worker keeps the GRANT, takes capacity from it, and sends the rest back (BACK) when its stretch
 * ends. A sender that gives up, because of its deadline or because it ends, also sends a BACK. If a
 * GRANT for this sender is on its way already, its capacity is returned when the GRANT arrives.
 *
 * A client has no worker that could send capacity back while the client does something else. So an
 * owner claims the wait of a client (client_claim) before it grants capacity to the client. A
 * client whose wait was claimed waits for the answer, which is on its way.
 *
 * An actor with a turn that waits for capacity starts no ask and no notice. So a cycle of such
 * actors would wait forever. How such cycles are found is in actor/ask/ask_cycle.h.
 */
#ifndef ACTOR_ASK_WAITERS_H
#define ACTOR_ASK_WAITERS_H

#include <troupe/status.h>
#include <stdbool.h>
#include <stdint.h>

struct cell;
struct envelope;
struct tr_self;
struct worker;

/** Answers all senders that wait for capacity in this mailbox with `status`. Owner only. */
void tr__waiters_refuse(struct worker *worker, struct cell *cell, tr_status status);

/**
 * Handles the WANTEDs that arrived before an actor was set up. `is_up`: the actor is set up now. If
 * not, it will never be, and the senders are answered with TR_STOPPED. Owner only.
 */
void tr__waiters_mount(struct worker *worker, struct cell *cell, bool is_up);

/**
 * Sends a message of this turn when there is capacity for it, and when the turns before this one in
 * the line have sent theirs. Takes the envelope on TR_OK only. Waits no longer than TR_PARK_NS, and
 * not beyond `deadline_ns`. Returns TR_OK, TR_MAILBOX_FULL, TR_STOPPED, TR_CANCELLED or
 * TR_NO_MEMORY.
 */
tr_status tr__turn_wait_for_capacity(struct tr_self *self, struct cell *cell,
                                     struct envelope *envelope, tr_time deadline_ns);

/** Returns the turn of an actor whose wait has this number, or NULL. Owner only. */
struct tr_self *tr__waiter_find(struct cell *cell, uint64_t number);

/**
 * Returns the granted capacity that the turns of an actor have not used. Called when the actor
 * becomes Suspended. Owner only.
 */
void tr__grants_return(struct cell *cell);

#endif
