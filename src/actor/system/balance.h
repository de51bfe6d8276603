/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Balance: which actor moves to which worker, and when (docs/design/balance.md).
 *
 * 1. Load: a worker that goes to sleep marks itself as hungry. A worker that has been busy and had
 *    several actors ready for a while gives a share of them to a hungry worker. It does so only if
 *    the turns of these actors take longer than a message to another worker costs.
 * 2. Talk: each worker takes samples of the mail from other workers. An actor that keeps receiving
 *    mail from one other worker moves there, unless that worker has more to do than the worker of
 *    the actor.
 *
 * An actor that has moved stays at its new worker for at least TR_MOVED_STAYS_NS.
 */
#ifndef ACTOR_SYSTEM_BALANCE_H
#define ACTOR_SYSTEM_BALANCE_H

#include "actor/cell/worker.h"
#include "base/assert.h"

struct cell;
struct worker;

/** Gives ready actors to hungry workers. Called at the beginning of a round. Worker only. */
void tr__balance_round(struct worker *worker);

/**
 * Takes a sample. balance_post calls this only when a sample is due. Returns what balance_post
 * returns. Worker only.
 */
bool tr__balance_sample(struct worker *worker, struct cell *cell);

/**
 * Takes a sample of a post. If the actor gets much mail from another worker, moves the actor there.
 * Called when an actor of this worker was posted, and its mail is still in its inbox. Returns true
 * if the actor has moved; then the caller must not touch it. Worker only.
 */
static inline bool balance_post(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct balance *balance = &worker->balance;
    if (__builtin_expect(--balance->sample_in > 0 && worker->loop.now_ns < balance->sample_ns, 1))
        return false;
    return tr__balance_sample(worker, cell);
}

/**
 * Notes that an actor has arrived from another worker. It stays here for at least
 * TR_MOVED_STAYS_NS. Worker only.
 */
void tr__balance_arrived(struct worker *worker, const struct cell *cell);

/** Marks the worker as hungry, because it has nothing to do and is about to sleep. Worker only. */
void tr__balance_rest(struct worker *worker);
/** Removes the mark of tr__balance_rest, because the worker is awake again. Worker only. */
void tr__balance_rise(struct worker *worker);

#endif
