/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures how long turns take, by handler. Times one turn in each round of a worker, at most two
 * thousand in a second, and only while somebody looks (tr_system.samples).
 *
 * Nothing is done for each message. A round begins with a look at the clock. If turns are to be
 * timed, the round replaces the hooks of the loop for one run. That run handles one message, and
 * reads the clock before and after it. A turn that waits is not timed.
 */
#ifndef ACTOR_TURN_SAMPLES_H
#define ACTOR_TURN_SAMPLES_H

#include "actor/cell/worker.h"

/** Times the first turn of the next run. Worker only. */
void tr__samples_arm(struct worker *worker);
/** Frees the table. The worker does not run any more. */
void tr__samples_free(struct worker *worker);

#endif
