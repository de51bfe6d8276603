/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How long turns take, by handler: a sample of one turn for each round of a worker, at most two thousand in a second, while
 * somebody looks (tr_system.samples).
 *
 * Nothing is done for each message. A round begins with a look at the clock; if turns are to be timed, it replaces the
 * hooks of the loop for one run, and that run handles one message, with a look at the clock before and behind it. A turn
 * that waits is not timed.
 */
#ifndef ACTOR_TURN_SAMPLES_H
#define ACTOR_TURN_SAMPLES_H

#include "actor/cell/worker.h"

/** Times the first turn of the next run. Worker only. */
void tr__samples_arm(struct worker *worker);
/** Frees the table. The worker does not run any more. */
void tr__samples_free(struct worker *worker);

#endif
