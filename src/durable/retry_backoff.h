/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Backoffs: after a start that failed, or a generation that failed too often, the next generation of that key begins
 * later.
 *
 * A caller that asks for the key meanwhile gets the ref of the next generation. Messages wait in its mailbox, as they
 * do while an earlier generation ends. The first backoff lasts retry_ns of the kind. Each further one lasts twice as
 * long, at most retry_max_ns, plus up to a quarter by chance. A start that succeeds ends the series, and so does a time
 * of retry_max_ns without a request.
 *
 * Another case is a generation that has left items to its run handler and has finished none of them (durable/waker.h).
 * The next generation begins for these items after a backoff of the same lengths, until a generation finishes one. A
 * request begins it at once.
 *
 * The clock of the host (durable/clock.c) has the timer. All backoffs are under the host's lock.
 */
#ifndef DURABLE_RETRY_BACKOFF_H
#define DURABLE_RETRY_BACKOFF_H

#include "durable/host.h"

enum { BACKOFFS_MAX = 4096 }; /* keys that may have a backoff; the next key begins at once */

#define BACKOFF_RETRY_NS (100 * TR_MILLISECOND)
#define BACKOFF_RETRY_MAX_NS (30 * TR_SECOND)

/** This generation has failed for good: begins a backoff for its key. On its worker. */
void tr__backoff_begin(struct worker *worker, const struct durable_actor *actor);
/** A generation has started: forgets the failed starts of its key. */
void tr__backoff_forget(const struct durable_actor *actor);
/** This generation has finished no item of its queues: the next one begins for them after a backoff. On its worker. */
void tr__backoff_wake_later(struct worker *worker, const struct durable_actor *actor);
/** This generation has finished an item: forgets the backoff for its queues. */
void tr__backoff_done(const struct durable_actor *actor);
/** Returns whether `cell`, the next generation of a key, must begin later. If so, the backoff begins it. Any thread. */
bool tr__backoff_defer(const struct durable_kind *kind, tr_bytes key, struct cell *cell);
/**
 * Begins the generations whose backoff is over. Returns when the next backoff ends, or TR_NEVER. On the worker of the
 * clock.
 */
tr_time tr__backoffs_end(struct worker *worker, struct durable_host *host, tr_time now_ns);
/**
 * The clock stops because the system does: begins all waiting generations now, and every later one at once. On the
 * worker of the clock.
 */
void tr__backoffs_close(struct worker *worker, struct durable_host *host);
/** The keepers are about to stop: ends the generations that wait for a backoff. On the worker of all keepers. */
void tr__backoffs_stop(struct worker *worker, struct durable_host *host);
void tr__backoffs_free(struct durable_host *host);

#endif
