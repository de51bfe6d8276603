/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Backoffs. After a start that failed, or a generation that failed too often, the next generation
 * of the key begins after a delay.
 *
 * A caller that asks for the key meanwhile gets the ref of the next generation. Messages wait in
 * the mailbox of that generation, as they do while an earlier generation ends. The first backoff
 * lasts retry_ns of the kind. Each further backoff lasts twice as long as the one before, but at
 * most retry_max_ns. A random part of up to a quarter is added. After a start that succeeds, or
 * after retry_max_ns without a request, the first backoff lasts retry_ns again.
 *
 * There is also a backoff for queues (durable/waker.h). It follows a generation that leaves items
 * for the run handler and has finished none. Such backoffs become longer in the same way. When one
 * ends, the next generation begins even without a request. If a request comes earlier, the next
 * generation begins at once. These backoffs stop when a generation finishes an item.
 *
 * The clock of the host (durable/clock.c) has the timer. All backoffs are under the host's lock.
 */
#ifndef DURABLE_RETRY_BACKOFF_H
#define DURABLE_RETRY_BACKOFF_H

#include "durable/host.h"

/* How many keys may have a backoff at the same time. The generations of further keys begin without
 * a backoff. */
enum { BACKOFFS_MAX = 4096 };

#define BACKOFF_RETRY_NS (100 * TR_MILLISECOND)
#define BACKOFF_RETRY_MAX_NS (30 * TR_SECOND)

/**
 * Begins a backoff for the key of a generation that has failed and does not restart. On the worker
 * of that generation.
 */
void tr__backoff_begin(struct worker *worker, const struct durable_actor *actor);
/** Forgets how often starts of a key have failed, because a generation has started. */
void tr__backoff_forget(const struct durable_actor *actor);
/**
 * Lets the next generation begin after a backoff, because this generation leaves items in its
 * queues and has finished none. On the worker of this generation.
 */
void tr__backoff_wake_later(struct worker *worker, const struct durable_actor *actor);
/**
 * Forgets the backoff that a key has because of its queues. This generation has finished an item.
 */
void tr__backoff_done(const struct durable_actor *actor);
/**
 * Whether `cell`, the next generation of a key, must wait for the end of a backoff. If so, it
 * begins when the backoff ends. Any thread.
 */
bool tr__backoff_defer(const struct durable_kind *kind, tr_bytes key, struct cell *cell);
/**
 * Begins the generations whose backoff is over. Returns when it must be called again, or TR_NEVER
 * if there is no backoff. On the worker of the clock.
 */
tr_time tr__backoffs_end(struct worker *worker, struct durable_host *host, tr_time now_ns);
/**
 * Begins all waiting generations now. From now on generations begin without a backoff. The clock
 * calls it when it stops with the system, because without the clock no backoff would end. On the
 * worker of the clock.
 */
void tr__backoffs_close(struct worker *worker, struct durable_host *host);
/**
 * Ends the generations that wait for the end of a backoff, because the keepers are about to stop. On the worker of all
 * keepers.
 */
void tr__backoffs_stop(struct worker *worker, struct durable_host *host);
void tr__backoffs_free(struct durable_host *host);

#endif
