/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures how long turns take, by handler. Times one turn in each round of a worker, at most two
 * thousand in a second, and only while somebody looks (tr_system.samples).
 *
 * Nothing is done for each message. A round begins with a look at the clock. If turns are to be
 * timed, it replaces the hooks of the loop until one of the next runs, chosen at random. That run
 * handles one message, and reads the clock before and after it. So all runs are equally likely to
 * be timed. What is found in a run stands for all messages that it would have handled: that is the
 * weight of a sample. While somebody asks for flows, the sender of that message is noted too. A
 * turn that waits is counted and not timed. If nobody has looked for ten minutes, the next look
 * starts the figures from zero.
 */
#ifndef ACTOR_TURN_SAMPLES_H
#define ACTOR_TURN_SAMPLES_H

#include "actor/cell/worker.h"

/** Times the first turn of the next run. Worker only. */
void tr__samples_arm(struct worker *worker);
/**
 * Notes who sent the message of a turn that begins, if it is the one that is timed. Called only while somebody follows turns:
 * the plain functions that call handlers do not look at senders. Worker only.
 */
void tr__samples_sender(struct tr_self *self);
/** Frees the tables. The worker does not run any more. */
void tr__samples_free(struct worker *worker);

#endif
