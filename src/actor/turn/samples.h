/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures how long turns take, by handler. Times some turns of each worker, and only while somebody
 * looks (tr_system.samples).
 *
 * Nothing is done for each message. Some rounds of a worker are open: in these, other hooks of the
 * loop count runs, and one run of about `odds` handles one message, with a look at the clock before
 * and behind it. The odds are the same at the beginning of each open round and double after some samples. After a
 * round with many runs, a random number of rounds is left out. Both depend on what was before, never
 * on what comes, so that each run is as likely to be timed as its weight says: a sample stands for
 * all messages that its run would have handled, for the runs of the odds, and for the rounds that
 * were left out. The first runs of a round are always those of timers and of news from outside,
 * so it must not be them alone. While somebody asks for flows, the sender is noted too. A turn that
 * waits is counted and not timed. When somebody looks after nobody has for ten minutes, figures
 * start from zero.
 */
#ifndef ACTOR_TURN_SAMPLES_H
#define ACTOR_TURN_SAMPLES_H

#include "actor/cell/worker.h"

/** At the beginning of a round: closes the round before, if it was open, and opens this one if it is its turn. Worker only. */
void tr__samples_arm(struct worker *worker);
/**
 * Notes who sent the message of a turn that begins, if it is the one that is timed. Called only while somebody follows turns:
 * the plain functions that call handlers do not look at senders. Worker only.
 */
void tr__samples_sender(struct tr_self *self);
/** Frees the tables. The worker does not run any more. */
void tr__samples_free(struct worker *worker);

#endif
