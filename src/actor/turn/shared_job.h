/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions on helper threads that several turns wait for, and that each of them may leave: look-ups of names.
 *
 * Turns that ask with the same key while the function runs share one call of it. A function that hangs holds neither a
 * turn, which leaves when its time is over, nor the other helpers: at most TR_LOOKUPS_MAX run at once, and less than
 * there may be helpers; the others wait in a line of their own.
 *
 * Rules:
 *   1. A shared job is in blocking.shared until its function has returned. Its own blocking_job, which has no turn, is in
 *      the queue of the pool or runs, or `is_in_line`.
 *   2. A turn that waits is in `waiting` and its job counts as queued, until it leaves or the function has returned. From
 *      then on the turn waits for its envelope, which is on its way. So the result can be copied to its stack.
 *   3. A shared job that no turn waits for is freed: at once if it has not begun, else by its helper.
 */
#ifndef ACTOR_TURN_SHARED_JOB_H
#define ACTOR_TURN_SHARED_JOB_H

#include "actor/turn/blocking.h"

struct memory_source;

/** Must be the first member of what the caller allocates. */
struct shared_job {
    struct blocking_job job; /* of the pool */
    struct list link;        /* in blocking.shared, the oldest first */
    struct list waiting;     /* of struct blocking_job: the turns that wait */
    const char *key;         /* in the same memory */
    uint64_t hash;           /* of the key */
    bool is_in_line;         /* as many as may run do */
    tr_status failure;       /* it could not be begun: TR_NO_MEMORY, TR_LIMIT; TR_OK: it was */
    /** Copies the result for a turn. After a failure it copies that. Any thread. */
    void (*copy)(const struct shared_job *shared, void *result);
};

/** Initializes a shared job. `function` gets it. */
void tr__shared_init(struct shared_job *shared, const char *key, void (*function)(void *shared),
                     void (*copy)(const struct shared_job *shared, void *result));

/**
 * Waits until the shared job with the key of `fresh` is done; `fresh` is begun if there is none. It is taken in any case. TR_OK:
 * `result` is filled in. TR_WOULD_BLOCK: the turn was woken before, and has left. TR_CANCELLED, TR_NOT_IN_A_TURN,
 * TR_NO_MEMORY. Owner only.
 */
TR_MUST_CHECK tr_status tr__shared_await(struct tr_self *self, struct shared_job *fresh,
                                         void *result);

/** What the pool calls: a turn that awaits a shared job is parked. Owner only. */
void tr__shared_submit(struct tr_self *self);
/** What the pool calls: the function of a shared job has returned. It is freed. Any thread. */
void tr__shared_done(struct blocking *blocking, struct shared_job *shared);
/**
 * What the pool calls: a job of a turn leaves its shared job. Returns one that nobody wants any more, for
 * tr__shared_drop; NULL: none. Under the lock.
 */
struct shared_job *tr__shared_leave(struct blocking *blocking, struct blocking_job *job);
/** Frees a shared job that nobody wants, and lets the next in line begin. NULL does nothing. Not under the lock. */
void tr__shared_drop(struct blocking *blocking, struct shared_job *unwanted);

#endif
