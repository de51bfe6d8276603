/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clock of a host. It is the actor /system/durable, which finds the due alarms in the store.
 *
 * The clock walks over the alarms of all actors in the order of their times. It wakes the actor of
 * each alarm that is due, and sends it a hint. It does not wait for an answer. It remembers its
 * place in this order. A second walk finds alarms that are set before that place, and alarms whose
 * actors did not answer. tr__clock_tell starts such a walk, and from time to time the clock walks
 * all due alarms again. A second hint to the same actor does no harm.
 *
 * Many alarms may be due at once. To limit how many actors are woken together, each kind has
 * HINTS_WAKING places for actors that are being woken (durable/hints.h). When a kind has no free
 * place, the common walk continues without this kind, and the kind gets a walk of its own. So no
 * kind waits for another kind. Inside a kind, no alarm waits long for an actor that is busy or
 * cannot start.
 */
#ifndef DURABLE_CLOCK_H
#define DURABLE_CLOCK_H

#include "durable/host.h"

/** Starts the clock of a host. The store must be open. */
TR_MUST_CHECK tr_status tr__clock_start(struct durable_host *host);
/**
 * Notifies the clock that an alarm was stored, which is due at this time of the wall clock. On a
 * worker.
 */
void tr__clock_tell(struct worker *worker, struct durable_host *host, tr_time due_wall_ns);
/**
 * Notifies the clock that an actor has checked its alarm. `ticket` is the ticket of tr_durable_due.
 * If it is 0, does nothing. On a worker.
 */
void tr__clock_done(struct worker *worker, struct durable_host *host, uint64_t ticket);
/** Notifies the clock that a backoff (durable/retry_backoff.h) needs a timer. On a worker. */
void tr__clock_tell_backoff(struct worker *worker, struct durable_host *host);

#endif
