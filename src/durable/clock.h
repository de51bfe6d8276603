/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clock of a host: an actor, /system/durable, that looks in the store for alarms that are due.
 *
 * It goes through the alarms of all actors by their time, wakes whose they are, and tells them. It does not
 * wait for them: where it is in the list is its place, and what is set before that, or was told in vain,
 * is looked at again (tr__clock_tell; once in a while all of it). That an actor is told twice does no harm.
 * At most CLOCK_OPEN alarms are told and not looked at yet, so that a million that fall due together do not
 * wake a million actors together.
 */
#ifndef DURABLE_CLOCK_H
#define DURABLE_CLOCK_H

#include "durable/actor.h"

/** Starts it; the store is open. */
TR_MUST_CHECK tr_status tr__clock_start(struct durable_host *host);
/** An alarm is stored that is due at this time, of the wall clock. On a worker. */
void tr__clock_tell(struct worker *worker, struct durable_host *host, tr_time due_wall_ns);
/** One that it told of was looked at. On a worker. */
void tr__clock_done(struct worker *worker, struct durable_host *host);
/** There is a lull (durable/lull.h) to look after. On a worker. */
void tr__clock_tell_lull(struct worker *worker, struct durable_host *host);

/** As tr_self_try_durable, by the name of a kind; TR_NOT_FOUND: there is none. */
tr_status tr__host_wake(tr_self *self, const char *kind, tr_bytes key, uint64_t *ref_bits);

#endif
