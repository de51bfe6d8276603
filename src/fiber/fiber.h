/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fibers: flows of control with their own stacks, which run one at a time on a host.
 *
 * A host is the ordinary stack of a worker's thread. The host resumes a fiber, on which the
 * worker's loop runs. The host gets control back when that fiber, or a fiber that has taken its
 * place, yields or ends. Until then the running fiber may
 * - replace itself: control continues on a fresh stack, and the old stack returns to the pool
 *   together with its frames. This is how a verb ends a turn from any depth; nothing is unwound;
 * - switch to another fiber, which switches back later. This is how a turn waits for a reply while
 *   the loop continues on another fiber;
 * - pass control to another fiber and end.
 *
 *     struct fiber *loop;
 *     status = tr__fiber_new(&pool, worker_loop, worker, &loop);
 *     while (loop)
 *         loop = tr__fiber_resume(&host, loop);
 *
 * Only one thread at a time uses a host, its pool and its fibers. After each resume this may be
 * another thread. Compilers may keep the address of errno and of thread-local variables across a
 * switch. So a fiber that was left in the middle of a function must continue on the same thread. A
 * loop that uses neither errno nor thread-local variables may yield between two turns and be
 * resumed on another thread.
 */
#ifndef FIBER_FIBER_H
#define FIBER_FIBER_H

#include "fiber/pool.h"

struct fiber_host {
    struct fiber *current; /* the fiber that runs; NULL while code runs on the thread's own stack */
    struct fiber *yielded; /* the fiber whose yield has ended the last resume */
    /*
     * a fiber that has ended; the code that runs after the switch gives its stack back to the pool
     */
    struct fiber *ended;
    /*
     * the side that the switch has left, if side_arrive has work to do for that side
     * (side_needs_care); else NULL
     */
    struct fiber_side *leaver;
    struct fiber_side side; /* where the thread's own stack continues; valid while a fiber runs */
};

void tr__fiber_host_init(struct fiber_host *host);

/**
 * Makes a fiber that will call main(context) at its first run. The fiber ends when main returns. The stack of the fiber
 * counts as lent by the pool until the fiber ends, is replaced, or is discarded. Returns TR_OK or TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__fiber_new(struct fiber_pool *pool, void (*main)(void *context),
                                      void *context, struct fiber **fiber);

/**
 * Makes the next run of a fiber begin with main(context) at the top of its stack. Drops the frames of the fiber, which
 * must not be running.
 */
void tr__fiber_prepare(struct fiber *fiber, void (*main)(void *context), void *context);

/** Drops a fiber that is not running, with its frames. NULL does nothing. */
void tr__fiber_discard(struct fiber *fiber);

/**
 * Resets the stack of the running fiber, whose frames were dropped because of a fault in user code. The fiber continues
 * from the top of its stack. If the fault was an overflow into the guard, the stack no longer counts as overflowed.
 */
void tr__fiber_wipe(struct fiber *fiber);

/**
 * Runs a fiber until control returns to the host. Returns the fiber that has yielded, which is to
 * be resumed next time, or NULL if the fiber has ended. Must not be called on a fiber of the same
 * host.
 */
TR_MUST_CHECK struct fiber *tr__fiber_resume(struct fiber_host *host, struct fiber *fiber);

/** Gives control back to the host. The call returns at the next resume of this fiber. On a fiber only. */
void tr__fiber_yield(struct fiber_host *host);

/**
 * Ends this fiber and continues with main(context) on a fresh stack. `pool` is the pool of this fiber. Never fails,
 * because the pool keeps a spare stack for this. On a fiber only.
 */
TR_NO_RETURN void tr__fiber_replace(struct fiber_host *host, struct fiber_pool *pool,
                                    void (*main)(void *context), void *context);

/** Ends this fiber and runs `next`, or the host if `next` is NULL. On a fiber only. */
TR_NO_RETURN void tr__fiber_end(struct fiber_host *host, struct fiber *next);

#endif
