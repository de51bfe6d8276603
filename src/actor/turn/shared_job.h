/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions on helper threads that several turns can wait for. Each turn can stop waiting at any
 * time. The only such functions are look-ups of names.
 *
 * While the function runs, all turns that ask with the same key share this one call. A function
 * that hangs does not hold up a turn, because a turn leaves when its time is over. It does not hold
 * up all helpers either: at most TR_LOOKUPS_MAX shared jobs run at once, and if there may be
 * several helpers, one of them is left for other functions. The other shared jobs wait in a line of
 * their own.
 *
 * Rules:
 *   1. A shared job is in blocking.shared until its function has returned. Its own blocking_job has
 *      no turn. It is in the queue of the pool, or runs, or waits in line (`is_in_line`).
 *   2. The job of a waiting turn is in `waiting` and counts as queued, until the turn leaves or the
 *      function has returned. After the function has returned, the turn cannot leave, and waits for
 *      its envelope, which is on its way. So the result can be copied to the stack of the turn.
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
    struct list waiting;     /* the struct blocking_job of each turn that waits */
    const char *key;         /* the key is in the same allocation as this struct */
    uint64_t hash;           /* hash of the key */
    /* the job waits in line, because as many shared jobs run as are allowed */
    bool is_in_line;
    /* if the job could not begin, the reason: TR_NO_MEMORY or TR_LIMIT; otherwise TR_OK */
    tr_status failure;
    /** Copies the result for a turn. If the job has failed, copies the failure. Any thread. */
    void (*copy)(const struct shared_job *shared, void *result);
};

/** Initializes a shared job. The pool calls `function` with `shared`. */
void tr__shared_init(struct shared_job *shared, const char *key, void (*function)(void *shared),
                     void (*copy)(const struct shared_job *shared, void *result));

/**
 * Waits until the shared job with the key of `fresh` is done. If there is no shared job with that
 * key, begins `fresh`. Takes `fresh` in any case. Returns TR_OK when `result` is filled in. Returns
 * TR_WOULD_BLOCK if the turn was woken before the shared job was done; then the turn has left the
 * shared job. May also return TR_CANCELLED, TR_NOT_IN_A_TURN or TR_NO_MEMORY. Owner only.
 */
TR_MUST_CHECK tr_status tr__shared_await(struct tr_self *self, struct shared_job *fresh,
                                         void *result);

/**
 * The pool calls this when a turn that awaits a shared job is parked. Adds the turn to the shared
 * job. If the shared job is new, begins it. Owner only.
 */
void tr__shared_submit(struct tr_self *self);
/**
 * The pool calls this when the function of a shared job has returned. Passes the result to the
 * turns that wait, and frees the shared job. Any thread.
 */
void tr__shared_done(struct blocking *blocking, struct shared_job *shared);
/**
 * The pool calls this. Removes the job of a turn from its shared job. If no turn waits for the
 * shared job any more, returns the shared job, which the caller then passes to tr__shared_drop.
 * Otherwise returns NULL. Under the lock.
 */
struct shared_job *tr__shared_leave(struct blocking *blocking, struct blocking_job *job);
/**
 * Frees a shared job for which no turn waits, and begins the next shared job in line. NULL does
 * nothing. Not under the lock.
 */
void tr__shared_drop(struct blocking *blocking, struct shared_job *unwanted);

#endif
