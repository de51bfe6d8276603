/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Backoffs: after a start that failed, or a generation that failed too often, the next generation
 * of that key begins later.
 *
 * A caller that asks for the key meanwhile gets the ref of the next generation. Messages wait in
 * its mailbox, as they do while an earlier generation ends. The first backoff lasts retry_ns of the
 * kind. Each further one lasts twice as long, at most retry_max_ns, plus up to a quarter by chance.
 * The lengths begin again with retry_ns after a start that succeeds, or after retry_max_ns without
 * a request.
 *
 * A backoff also follows a generation that leaves items for the run handler and has finished none
 * (durable/waker.h). These backoffs grow in the same way. When such a backoff ends, the next
 * generation begins even without a request, until one finishes an item. A request does not wait for
 * its end: the next generation begins at once.
 *
 * The clock of the host (durable/clock.c) has the timer. All backoffs are under the host's lock.
 */
#ifndef DURABLE_RETRY_BACKOFF_H
#define DURABLE_RETRY_BACKOFF_H

#include "durable/host.h"

/* keys that may have a backoff at the same time; the generations of further keys begin without
 * one */
enum { BACKOFFS_MAX = 4096 };

#define BACKOFF_RETRY_NS (100 * TR_MILLISECOND)
#define BACKOFF_RETRY_MAX_NS (30 * TR_SECOND)

/** Begins a backoff for the key of a generation that has failed for good. On its worker. */
void tr__backoff_begin(struct worker *worker, const struct durable_actor *actor);
/** Forgets the failed starts of a key, because a generation has started. */
void tr__backoff_forget(const struct durable_actor *actor);
/**
 * Lets the next generation begin after a backoff, because this one has left items in its queues and
 * finished none. On its worker.
 */
void tr__backoff_wake_later(struct worker *worker, const struct durable_actor *actor);
/**
 * Forgets the backoff because of the queues of a key, because this generation has finished an item.
 */
void tr__backoff_done(const struct durable_actor *actor);
/**
 * Returns whether `cell`, the next generation of a key, must begin later. If so, it begins when the
 * backoff ends. Any thread.
 */
bool tr__backoff_defer(const struct durable_kind *kind, tr_bytes key, struct cell *cell);
/**
 * Begins the generations whose backoff is over. Returns when the next backoff ends, or TR_NEVER. On the worker of the
 * clock.
 */
tr_time tr__backoffs_end(struct worker *worker, struct durable_host *host, tr_time now_ns);
/**
 * Begins all waiting generations now, and each later one without a backoff. Called because the
 * system stops, and the clock with it. On the worker of the clock.
 */
void tr__backoffs_close(struct worker *worker, struct durable_host *host);
/**
 * Ends the generations that wait for a backoff, because the keepers are about to stop. On the worker of all keepers.
 */
void tr__backoffs_stop(struct worker *worker, struct durable_host *host);
void tr__backoffs_free(struct durable_host *host);

#endif
