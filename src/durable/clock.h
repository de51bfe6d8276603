/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clock of a host: the actor /system/durable, which finds in the store which alarms are due.
 *
 * The clock walks over the alarms of all actors in the order of their times. It wakes the actor of
 * each alarm that is due, and sends it a hint. It does not wait for an answer. It remembers its
 * place in this order. An alarm that is set before that place, or whose actor did not answer, is
 * found by a second walk: tr__clock_tell starts one, and from time to time all due alarms are
 * walked again. A second hint to the same actor does no harm.
 *
 * Many alarms may be due at once. To limit how many actors are woken together, each kind has
 * HINTS_WAKING places for actors that are being woken (durable/hints.h). When a kind has no free
 * place, the common walk continues without it, and the kind is served by a walk of its own. So no
 * kind waits for another, and inside a kind no alarm waits long for an actor that is busy or cannot
 * start.
 */
#ifndef DURABLE_CLOCK_H
#define DURABLE_CLOCK_H

#include "durable/host.h"

/** Starts the clock of a host. The store must be open. */
TR_MUST_CHECK tr_status tr__clock_start(struct durable_host *host);
/** Notifies the clock that an alarm was stored that is due at this wall-clock time. On a worker. */
void tr__clock_tell(struct worker *worker, struct durable_host *host, tr_time due_wall_ns);
/**
 * Notifies the clock that an actor has checked its alarm. `ticket` is that of tr_durable_due; 0:
 * does nothing. On a worker.
 */
void tr__clock_done(struct worker *worker, struct durable_host *host, uint64_t ticket);
/** Notifies the clock that a backoff (durable/retry_backoff.h) needs a timer. On a worker. */
void tr__clock_tell_backoff(struct worker *worker, struct durable_host *host);

#endif
