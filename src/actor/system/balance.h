/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Balance: who moves to which worker, and when (docs/design/balance.md).
 *
 * Two rules. *Load*: a worker that goes to sleep says that it is hungry. One that has not rested for a
 * whole round and has several actors ready gives it a share of them, if what they do is worth more
 * than the way. *Talk*: mail from elsewhere is sampled; an actor that keeps getting it from one
 * worker goes there, unless that worker has more to do than its own. Who has moved stays for a while.
 */
#ifndef ACTOR_SYSTEM_BALANCE_H
#define ACTOR_SYSTEM_BALANCE_H

#include "actor/cell/worker.h"

struct cell;
struct worker;

/** A round of a worker begins. Worker only. */
void tr__balance_round(struct worker *worker);

/** As balance_post, when it is time for a sample. */
bool tr__balance_sample(struct worker *worker, struct cell *cell);

/**
 * An actor of this worker was posted, and its mail is still behind the door. True when it has moved
 * instead, and is gone. Worker only.
 */
static inline bool balance_post(struct worker *worker, struct cell *cell)
{
    struct balance *balance = &worker->balance;
    if (__builtin_expect(--balance->sample_in > 0 && worker->loop.now_ns < balance->sample_ns, 1))
        return false;
    return tr__balance_sample(worker, cell);
}

/** An actor has arrived from another worker. Worker only. */
void tr__balance_arrived(struct worker *worker, const struct cell *cell);

/** Nothing to do: the worker is about to sleep. Worker only. */
void tr__balance_rest(struct worker *worker);
/** It is up again. Worker only. */
void tr__balance_rise(struct worker *worker);

#endif
