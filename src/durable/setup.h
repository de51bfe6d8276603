/* SPDX-License-Identifier: Apache-2.0 */
/** The set-up of a generation, and the end of its memory. */
#ifndef DURABLE_SETUP_H
#define DURABLE_SETUP_H

#include "durable/actor.h"

/** Handles the set-up message of every kind. Makes the actor, enters the store, and reads state, alarms and queues. */
tr_next tr__durable_setup(tr_self *self, void *state, const void *message);
/** Frees the memory of a generation, and leaves the store. */
void tr__durable_drop(struct worker *worker, struct durable_actor *actor);

#endif
