/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures how long turns take, by handler. Times one turn in each round of a worker, at most two
 * thousand in a second, and only while somebody looks (tr_system.samples).
 *
 * Nothing is done for each message. A round begins with a look at the clock; if turns are to be timed, it replaces the
 * hooks of the loop until one of the next runs, chosen at random; that run handles one message, with a look at the clock before
 * and behind it. So each run is as likely as another to be timed, and what is found in it stands for all messages that it would
 * have handled: that is the weight of a sample. A turn that waits is counted and not timed. When somebody looks after nobody
 * has for ten minutes, figures start from zero.
 */
#ifndef ACTOR_TURN_SAMPLES_H
#define ACTOR_TURN_SAMPLES_H

#include "actor/cell/worker.h"

/** Times the first turn of the next run. Worker only. */
void tr__samples_arm(struct worker *worker);
/** Frees the table. The worker does not run any more. */
void tr__samples_free(struct worker *worker);

#endif
