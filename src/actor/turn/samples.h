/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures how long turns take, for each handler. Times some turns of each worker, and only while a
 * tool looks (tr_system.samples).
 *
 * Nothing is done for each message. Some rounds of a worker are open. In an open round other hooks
 * of the loop count the runs, and about one of `odds` runs is timed: such a run handles only one
 * message, and the clock is read before and after it. Each open round begins with the same odds,
 * and doubles them after some samples. After an open round with many runs, a random number of
 * rounds is skipped.
 *
 * A sample stands for more turns than the one that was timed: for all messages that its run would
 * have handled, for the runs that were not timed, and for the rounds that were skipped. Their
 * number is the weight of the sample. Which run is timed depends only on earlier runs, so each run
 * is as likely to be timed as its weight says. It would be wrong to time only the first runs of a
 * round, because timers and mail from outside always come first.
 *
 * While a tool asks for flows, the sender of a timed message is noted too. A turn that waits is
 * counted, but not timed. If no tool has looked for ten minutes, the figures start from zero at the
 * next look.
 */
#ifndef ACTOR_TURN_SAMPLES_H
#define ACTOR_TURN_SAMPLES_H

#include "actor/cell/worker.h"
#include "os/atomic.h"
#include "os/lock.h"

/** The timing of turns for tools. */
struct system_samples {
    /* turns are timed until this time of the monotonic clock; 0: nobody has asked */
    atom64 until_ns;
    /*
     * the first request after a pause increments this number, and all figures start from zero
     */
    atom32 generation;
    atom64 since_ns; /* when `generation` was incremented last */
    /* Members of observe/observer.h: */
    struct lock lock;    /* protects worker_samples.awake */
    atom64 is_looked_at; /* 1: the observer has looked at the mailboxes at least once */
    /*
     * The observer looks at the fullest mailboxes. This is when it first saw the oldest message of
     * these mailboxes. 0: all of them are empty.
     */
    atom64 oldest_ns;
};

/**
 * Called at the beginning of a round. Closes the previous round if it was open. Opens this round,
 * unless it is one that is skipped. Worker only.
 */
void tr__samples_arm(struct worker *worker);
/**
 * If the turn that begins is the timed one, notes the sender of its message. Called only while
 * turns are followed, because the plain functions that call handlers do not look at senders. Worker
 * only.
 */
void tr__samples_sender(struct tr_self *self);
/**
 * Whether the turn that begins is the timed one, and its handler has before been as slow as the
 * slowest turns that are kept. Worker only.
 */
bool tr__samples_may_be_slow(struct tr_self *self);
/**
 * Notes that the timed turn is followed. `record` is the number of the first record of this turn
 * (actor/cell/follow.h), or a lower number. Worker only.
 */
void tr__samples_followed(struct tr_self *self, uint64_t record);
/** Frees the tables. The worker does not run any more. */
void tr__samples_free(struct worker *worker);

#endif
