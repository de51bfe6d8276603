/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decides when slow turns are followed (actor/cell/follow.h: trials). They are followed for a while after each request
 * that asks for it.
 *
 * While turns are followed, each turn costs one more look at a table. So the length of this time depends on how many
 * messages the program handles. A program with little to do is followed all the time between two requests. A program at
 * full load is followed for a small part of that time.
 *
 * Only a few of the causal ids that a request allows are followed at once. Then the records of the
 * slow turns among them are copied (observe/slow_trees.h), before new records replace them. After
 * that the next ids are followed.
 */
#ifndef OBSERVE_TRIALS_H
#define OBSERVE_TRIALS_H

#include "observe/observer.h"

/** Makes workers follow slow turns for a while. Returns TR_OK or TR_NO_MEMORY. The thread of the socket only. */
TR_MUST_CHECK tr_status tr__trials_begin(struct observer *observer);
/**
 * Copies the records of slow turns if it is time for that, and makes workers stop following slow turns if the time is over.
 * Returns the milliseconds until the next call, or -1 if none is needed. The thread of the socket only.
 */
int tr__trials_look(struct observer *observer);
/** Makes workers stop following slow turns. The thread of the socket only. */
void tr__trials_end(struct observer *observer);

#endif
