/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions on helper threads for which several turns can wait, and for which each turn can stop
 * waiting: look-ups of names.
 *
 * Turns that ask with the same key while the function runs share one call of it. A function that
 * hangs does not hold up a turn, because a turn leaves when its time is over. Nor does it hold up
 * all helpers: at most TR_LOOKUPS_MAX shared jobs run at once, and fewer than there may be helpers.
 * The other shared jobs wait in a line of their own.
 *
 * Rules:
 *   1. A shared job is in blocking.shared until its function has returned. Its own blocking_job has
 *      no turn. It is in the queue of the pool, or runs, or waits in line (`is_in_line`).
 *   2. The job of a waiting turn is in `waiting` and counts as queued, until the turn leaves or the
 *      function has returned. After the function has returned, the turn waits for its envelope,
 *      which is on its way. So the result can be copied to the stack of the turn.
 *   3. When no turn waits for a shared job any more, it is freed: at once if it has not started,
 *      otherwise by its helper.
 */
#ifndef ACTOR_TURN_SHARED_JOB_H
#define ACTOR_TURN_SHARED_JOB_H

#include "actor/turn/blocking.h"

struct memory_source;

/** A shared job. Must be the first member of the struct that the caller allocates. */
struct shared_job {
    struct blocking_job job; /* the job that the pool runs */
    struct list link;        /* in blocking.shared, the oldest first */
    struct list waiting;     /* a list of struct blocking_job: those of the turns that wait */
    const char *key;         /* in the same memory as this struct */
    uint64_t hash;           /* of the key */
    bool is_in_line;         /* the job waits, because as many shared jobs run as may */
    /* why the job could not be begun: TR_NO_MEMORY, TR_LIMIT; otherwise TR_OK */
    tr_status failure;
    /** Copies the result for a turn; after a failure, the failure. Any thread. */
    void (*copy)(const struct shared_job *shared, void *result);
};

/** Initializes a shared job. The pool calls `function` with `shared`. */
void tr__shared_init(struct shared_job *shared, const char *key, void (*function)(void *shared),
                     void (*copy)(const struct shared_job *shared, void *result));

/**
 * Waits until the shared job with the key of `fresh` is done. If there is none with that key,
 * begins `fresh`. Takes `fresh` in any case. Returns TR_OK when `result` is filled in.
 * TR_WOULD_BLOCK: the turn was woken before that, and has left. Also TR_CANCELLED,
 * TR_NOT_IN_A_TURN, TR_NO_MEMORY. Owner only.
 */
TR_MUST_CHECK tr_status tr__shared_await(struct tr_self *self, struct shared_job *fresh,
                                         void *result);

/**
 * Called by the pool when a turn that awaits a shared job is parked: adds the turn to the shared
 * job, and begins it if it is new. Owner only.
 */
void tr__shared_submit(struct tr_self *self);
/**
 * Called by the pool when the function of a shared job has returned: passes the result to the turns
 * that wait, and frees the job. Any thread.
 */
void tr__shared_done(struct blocking *blocking, struct shared_job *shared);
/**
 * Called by the pool: removes the job of a turn from its shared job. If no turn waits for the
 * shared job any more, returns it for tr__shared_drop; otherwise NULL. Under the lock.
 */
struct shared_job *tr__shared_leave(struct blocking *blocking, struct blocking_job *job);
/**
 * Frees a shared job that no turn waits for, and begins the next one in line. NULL does nothing.
 * Not under the lock.
 */
void tr__shared_drop(struct blocking *blocking, struct shared_job *unwanted);

#endif
