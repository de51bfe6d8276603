/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures how long turns take, by handler. Times some turns of each worker, and only while somebody
 * looks (tr_system.samples).
 *
 * Nothing is done for each message. Some rounds of a worker are open. In an open round other hooks
 * of the loop count the runs, and about one of `odds` runs is timed: it handles one message, and
 * the clock is read before and after it. Each open round begins with the same odds, and doubles
 * them after some samples. After an open round with many runs, a random number of rounds is left
 * out.
 *
 * A sample counts for all messages that its run would have handled, for the runs that were not
 * timed, and for the rounds that were left out: that is its weight. Which run is timed depends only
 * on earlier runs, so each run is as likely to be timed as its weight says. Timers and mail from
 * outside always run first in a round, so timing only the first runs would show only them.
 *
 * While somebody asks for flows, the sender is noted too. A turn that waits is counted and not
 * timed. If nobody has looked for ten minutes, the figures start from zero at the next look.
 */
#ifndef ACTOR_TURN_SAMPLES_H
#define ACTOR_TURN_SAMPLES_H

#include "actor/cell/worker.h"

/**
 * Called at the beginning of a round. Closes the previous round if that was open, and opens this one if it is not to be left
 * out. Worker only.
 */
void tr__samples_arm(struct worker *worker);
/**
 * Notes who sent the message of a turn that begins, if it is the one that is timed. Called only while somebody follows turns:
 * the plain functions that call handlers do not look at senders. Worker only.
 */
void tr__samples_sender(struct tr_self *self);
/**
 * Whether a turn that begins is the one that is timed, and its handler has been as slow as the
 * slowest turns that are kept. Worker only.
 */
bool tr__samples_may_be_slow(struct tr_self *self);
/** Notes that the turn that is timed is followed: its first record has this number, or one above. Worker only. */
void tr__samples_followed(struct tr_self *self, uint64_t record);
/** Frees the tables. The worker does not run any more. */
void tr__samples_free(struct worker *worker);

#endif
