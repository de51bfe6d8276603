/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Commits. They say what a durable actor stores, and when.
 *
 * A *commit* has all that one part of a turn stores. A part lasts from the beginning of the turn,
 * or from the end of a wait, to the next wait or to the end of the turn. A commit has at most one
 * batch of the store: the state if it has changed, and the keys, alarms, queue items, events and
 * tables that this part of the turn has changed.
 *
 * The *open commit* belongs to the part of a turn that runs now. It has no record of its own. Its
 * batch is durable_actor.batch, and its messages are held back in durable_actor.outbox. An actor
 * has at most one open commit, because it runs at most one turn at a time. tr__commit_end closes
 * the open commit. If the commit has something to store, it is submitted to the store, or becomes a
 * *finished commit*, which is stored later (TR_SAVE_INTERVAL, TR_SAVE_ON_DEMAND).
 *
 * A *submitted commit* is a struct commit. It exists until the store's thread has synced its batch,
 * or has failed to sync it.
 *
 * 1. Submitted commits are in durable_actor.commits, oldest first. The store answers in this order,
 *    each with one ENVELOPE_STORED (tr__commit_stored).
 * 2. The messages of a commit leave after its batch is on disk. If the batch fails, they are
 *    dropped.
 * 3. While an actor has submitted commits, its cell neither ends nor restarts.
 */
#ifndef DURABLE_COMMIT_H
#define DURABLE_COMMIT_H

#include "actor/mail/outbox.h"
#include "sleep/wake_locks.h"

struct cell;
struct durable_actor;
struct store_batch;
struct worker_context;

/** A submitted commit. */
struct commit {
    struct list link; /* link in durable_actor.commits */
    struct durable_actor *actor;
    struct outbox outbox; /* messages that leave when the batch is on disk */
    struct store_batch *batch;
    struct envelope *envelope; /* the ENVELOPE_STORED that reports the end of this commit */
    struct list savers;        /* list of struct durable_frame: turns that wait in tr_save */
    uint64_t number;
    tr_time alarm_ns; /* the earliest alarm that this commit has set, or TR_NEVER */
    bool has_shapes;  /* the batch contains the shapes of the actor's kind */
    /* The batch contains the shapes of some messages that this worker knows: of the first
     * `message_shapes` items of context->messages. */
    const struct worker_context *context;
    uint32_t message_shapes;
    struct wake_lock wake_lock; /* raised while the outbox has messages to the actor itself */
    tr_status status;           /* the store's thread writes it before it sends the envelope */
};

/**
 * Returns the batch of the open commit. The first call makes the batch. Returns NULL if there is no
 * memory.
 */
struct store_batch *tr__commit_batch(struct durable_actor *actor);
/**
 * Closes the open commit. If it has changes that must be stored now, submits it. They must be
 * stored now if `must` is true or the durability of the kind requires it. Otherwise the changes
 * become a finished commit and are stored later. Messages of the commit wait for the last submitted
 * commit, or leave now if there is none. Unless the status is TR_OK, no message leaves.
 */
TR_MUST_CHECK tr_status tr__commit_end(struct worker *worker, struct durable_actor *actor,
                                       bool must);
/** Submits the batch of the open commit, together with the messages in the outbox. */
TR_MUST_CHECK tr_status tr__commit_submit(struct worker *worker, struct durable_actor *actor);
/**
 * Drops the open commit, because it has failed. Submits the finished commits. The actor will
 * restart.
 */
void tr__commit_fail(struct worker *worker, struct durable_actor *actor, tr_status reason);
/** Drops the open commit and the finished commits. */
void tr__commit_drop(struct worker *worker, struct durable_actor *actor, tr_status reason);
/** Makes the actor restart. `why` becomes its status. */
void tr__durable_break(struct worker *worker, struct durable_actor *actor, tr_status why);
void tr__commit_stored(struct worker *worker, struct cell *cell, struct envelope *envelope);

/**
 * Ends a part of a turn with a frame: checks the pointers of the state, and then closes the commit (tr__commit_end).
 *
 * Returns TR_BAD_DATA if the state points into memory that is freed when the turn ends: its message, the replies that it
 * has received, its scratch memory, its stack. Then nothing has changed, and tr__durable_state_why names the field. Such a
 * state is still right now, but each later commit would pack it with whatever is in that memory then. The check reads no
 * text.
 */
TR_MUST_CHECK tr_status tr__stretch_end(struct tr_self *self, struct durable_actor *actor,
                                        bool must);

#endif
