/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commits: what a durable actor stores, and when.
 *
 * A *commit* is what one part of a turn stores. A part lasts from the beginning of the turn, or from the end of a wait,
 * to the next wait or to the end of the turn. A commit has at most one batch of the store: the state if it has changed,
 * and the keys, alarms, queue items, events and tables that this part of the turn has changed.
 *
 * The *open commit* belongs to the part of a turn that runs now. It has no record of its own. Its batch is
 * durable_actor.batch, and its messages are held back in durable_actor.outbox. An actor has at most one, because it runs
 * at most one turn at a time. tr__commit_end closes it: it is submitted to the store, or finished and stored later
 * (TR_SAVE_INTERVAL, TR_SAVE_ON_DEMAND), or has nothing to store.
 *
 * A *submitted commit* is a struct commit. It waits until the store's thread has synced its batch, or has failed to.
 *
 * 1. Submitted commits are in durable_actor.commits, oldest first. The store answers in this order, each with one
 *    ENVELOPE_STORED (tr__commit_stored).
 * 2. The messages of a commit leave after its batch is on disk. If the batch fails they are dropped.
 * 3. While an actor has submitted commits, its cell neither ends nor restarts.
 */
#ifndef DURABLE_COMMIT_H
#define DURABLE_COMMIT_H

#include "actor/mail/outbox.h"
#include "sleep/wake_locks.h"

struct cell;
struct durable_actor;
struct store_batch;

/** A commit whose changes are on their way to the disk. */
struct commit {
    struct list link; /* of its actor, oldest first */
    struct durable_actor *actor;
    struct outbox outbox; /* what it sent */
    struct store_batch *batch;
    struct envelope *envelope; /* how its end is told */
    struct list savers;        /* of struct durable_frame: turns in tr_save */
    uint64_t number;
    tr_time alarm_ns; /* the earliest alarm that it has set, else TR_NEVER */
    bool has_shapes;  /* its batch has those of its kind */
    struct wake_lock
        wake_lock;    /* raised while there are messages to the actor itself in the outbox */
    tr_status status; /* written by the store's thread before the envelope is sent */
};

/** The batch of the commit that runs, made if need be. NULL: no memory. */
struct store_batch *tr__commit_batch(struct durable_actor *actor);
/**
 * The commit that runs is over. If it changed something, and it is time for that or `must`, that is
 * submitted; what it sent waits for all that was. Else what it sent leaves. Not TR_OK: nothing of it leaves.
 */
TR_MUST_CHECK tr_status tr__commit_end(struct worker *worker, struct durable_actor *actor,
                                       bool must);
/** The batch becomes a commit, with what is in the outbox. */
TR_MUST_CHECK tr_status tr__commit_submit(struct worker *worker, struct durable_actor *actor);
/** The commit failed, and the actor starts again: what ended before it and was to be stored later is submitted. */
void tr__commit_fail(struct worker *worker, struct durable_actor *actor, tr_status reason);
/** Nothing is kept of it, nor of what was to be stored later. */
void tr__commit_drop(struct worker *worker, struct durable_actor *actor, tr_status reason);
/** The actor is to begin anew, because of this. */
void tr__durable_break(struct worker *worker, struct durable_actor *actor, tr_status why);
void tr__commit_stored(struct worker *worker, struct cell *cell, struct envelope *envelope);

#endif
