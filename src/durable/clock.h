/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clock of a host: an actor, /system/durable, that looks in the store for alarms that are due.
 *
 * It goes through the alarms of all actors by their time, wakes whose they are, and tells them. It does not
 * wait for them: where it is in the list is its place, and what is set before that, or was told in vain,
 * is looked at again (tr__clock_tell; once in a while all of it). That an actor is told twice does no harm.
 *
 * So that a million that fall due together do not wake a million actors together, a kind has a number of places for
 * actors that are being woken (durable/hints.h). When they are taken the list of all continues without that kind, which
 * is behind then and has a list of its own from there. So no kind waits for another, and within a kind nobody waits for
 * long for an actor that is busy or cannot start.
 */
#ifndef DURABLE_CLOCK_H
#define DURABLE_CLOCK_H

#include "durable/host.h"

/** Starts it; the store is open. */
TR_MUST_CHECK tr_status tr__clock_start(struct durable_host *host);
/** An alarm is stored that is due at this time, of the wall clock. On a worker. */
void tr__clock_tell(struct worker *worker, struct durable_host *host, tr_time due_wall_ns);
/** One that it told of was looked at: the ticket of tr_durable_due; 0: it was none of the clock's. On a worker. */
void tr__clock_done(struct worker *worker, struct durable_host *host, uint64_t ticket);
/** There is a backoff (durable/retry_backoff.h) to look after. On a worker. */
void tr__clock_tell_backoff(struct worker *worker, struct durable_host *host);

#endif
