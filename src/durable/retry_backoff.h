/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lulls: after a start that failed, or a life that failed too often, the next one of that key begins later.
 *
 * Who asks for the key meanwhile gets the ref of the next generation, and what is sent there waits in its mailbox,
 * as it does while an earlier generation ends; only that it begins when the backoff is over. A backoff is as long as
 * retry_ns of the kind at first, then twice as long each time, up to retry_max_ns, and up to a quarter more. A start that
 * succeeds ends the row, and so does a time of retry_max_ns in which nobody has asked.
 *
 * A generation that has left items to its run handler and got nothing done with them (durable/waker.h) is another
 * matter: the next one is begun for them when a time of the same length is over, and then twice as long, until one of them
 * gets something done. Meanwhile a request begins it at once.
 *
 * The clock of the host (durable/clock.c) has the timer. A backoff is under the host's lock.
 */
#ifndef DURABLE_RETRY_BACKOFF_H
#define DURABLE_RETRY_BACKOFF_H

#include "durable/host.h"

enum { BACKOFFS_MAX = 4096 }; /* keys of which it is known; the next one begins at once */

#define BACKOFF_RETRY_NS (100 * TR_MILLISECOND)
#define BACKOFF_RETRY_MAX_NS (30 * TR_SECOND)

/** This generation has failed for good. On its worker. */
void tr__backoff_begin(struct worker *worker, const struct durable_actor *actor);
/** A generation has started: nothing is left of earlier failed starts. */
void tr__backoff_forget(const struct durable_actor *actor);
/** It has got nothing done of what is in its queues: the next one is begun for that after a while. On its worker. */
void tr__backoff_wake_later(struct worker *worker, const struct durable_actor *actor);
/** It has got something done. */
void tr__backoff_done(const struct durable_actor *actor);
/** Whether `cell`, the next generation of a key, is to begin later, which is then looked after. Any thread. */
bool tr__backoff_defer(const struct durable_kind *kind, tr_bytes key, struct cell *cell);
/**
 * Lets those begin whose time has come; gives when the next one has to be looked at, TR_NEVER: there is none. On
 * the worker of the clock.
 */
tr_time tr__backoffs_end(struct worker *worker, struct durable_host *host, tr_time now_ns);
/**
 * The clock stops, since the system does: those that wait begin now, and those that come later begin at once. On the
 * worker of the clock.
 */
void tr__backoffs_close(struct worker *worker, struct durable_host *host);
/** The keepers are to stop: actors that wait for the end of a back-off end now. On the worker of all keepers. */
void tr__backoffs_stop(struct worker *worker, struct durable_host *host);
void tr__backoffs_free(struct durable_host *host);

#endif
