/* SPDX-License-Identifier: Apache-2.0 */
/**
 * When slow turns are followed (actor/cell/follow.h: trials): for a while after each request that asks for them.
 *
 * While somebody follows, each turn costs one more look at a table. So the time depends on how many messages the program
 * handles: a program with little to do is watched all the time between two requests, one at full load for a small part of it.
 */
#ifndef OBSERVE_TRIALS_H
#define OBSERVE_TRIALS_H

#include "observe/observer.h"

/** Follows slow turns from now on for a while. Returns TR_OK or TR_NO_MEMORY. The thread of the socket only. */
TR_MUST_CHECK tr_status tr__trials_begin(struct observer *observer);
/** Ends what is over. Returns the milliseconds until the next call, or -1. The thread of the socket only. */
int tr__trials_look(struct observer *observer);
/** Ends following at once. The thread of the socket only. */
void tr__trials_end(struct observer *observer);

#endif
