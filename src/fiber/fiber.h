/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fibers: flows of control with stacks of their own, which run one at a time on a host.
 *
 * A host is what stands on an ordinary thread's stack: a worker. It resumes a fiber, on which the
 * worker's loop runs, and gets control back when that fiber, or whichever has taken its place by
 * then, yields or ends. On the way fibers may
 *   - replace themselves: a fresh stack goes on, the old one returns to the pool with whatever
 *     frames it holds. So a verb ends a turn from any depth; nothing is unwound.
 *   - switch to another fiber and be switched back to later: so a turn waits for a reply while the
 *     loop goes on elsewhere.
 *   - pass control to another fiber and end.
 *
 *     struct fiber *loop;
 *     status = tr__fiber_new(&pool, worker_loop, worker, &loop);
 *     while (loop)
 *         loop = tr__fiber_resume(&host, loop);
 *
 * A host, its pool and its fibers are used by one thread at a time; the thread may change between
 * two resumes. Compilers keep the address of errno and of thread-local variables over a switch, so
 * a fiber that was left in the middle of a function goes on only on the thread where that was
 * (yielding between two turns and resuming elsewhere is safe in code that uses neither).
 */
#ifndef FIBER_FIBER_H
#define FIBER_FIBER_H

#include "fiber/pool.h"

struct fiber_host {
    struct fiber *current;     /* what runs; NULL while the thread's own stack does */
    struct fiber *yielded;     /* what the last resume was left by */
    struct fiber *ended;       /* left for good: the next arrival gives its stack back */
    struct fiber_side *leaver; /* whom the next arrival must look at, NULL for nobody */
    struct fiber_side side;    /* the thread's own stack, while a fiber runs */
};

void tr__fiber_host_init(struct fiber_host *host);

/**
 * Makes a fiber that will call main(context) at its first run. When main returns the fiber ends.
 * TR_NO_MEMORY. The fiber is on the pool until it ends, is replaced, or is discarded.
 */
TR_MUST_CHECK tr_status tr__fiber_new(struct fiber_pool *pool, void (*main)(void *context),
                                      void *context, struct fiber **fiber);

/** What its next run begins with, at the top of its stack. For a fiber that does not run and whose frames are not needed. */
void tr__fiber_prepare(struct fiber *fiber, void (*main)(void *context), void *context);

/** Drops a fiber that does not run, with whatever frames it holds. NULL does nothing. */
void tr__fiber_discard(struct fiber *fiber);

/**
 * The frames of the fiber that runs were dropped by somebody who trapped a fault of its user code, and
 * it goes on from the top of its stack: an overflow that was stopped by the guard is forgotten.
 */
void tr__fiber_wipe(struct fiber *fiber);

/**
 * Runs a fiber. Returns when control comes back to the host: gives the fiber that yielded, to be
 * resumed next time, or NULL when one ended. Not on a fiber of the same host.
 */
TR_MUST_CHECK struct fiber *tr__fiber_resume(struct fiber_host *host, struct fiber *fiber);

/** Goes back to the host; returns at the next resume of this fiber. On a fiber only. */
void tr__fiber_yield(struct fiber_host *host);

/**
 * Ends this fiber where it stands and goes on with main(context) on a fresh stack of `pool`, the
 * one it came from. Never fails: the pool keeps a spare for this. On a fiber only.
 */
TR_NO_RETURN void tr__fiber_replace(struct fiber_host *host, struct fiber_pool *pool,
                                    void (*main)(void *context), void *context);

/** Ends this fiber and runs `next`, or the host when it is NULL. On a fiber only. */
TR_NO_RETURN void tr__fiber_end(struct fiber_host *host, struct fiber *next);

#endif
