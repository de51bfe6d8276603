/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the state of an actor with events is recovered from its snapshots and events.
 */
#ifndef DURABLE_EVENT_LOAD_H
#define DURABLE_EVENT_LOAD_H

#include "durable/actor.h"

struct store_state;

/**
 * Makes the state of a generation from the stored data. `stored` is NULL if the store has nothing
 * of the actor.
 */
tr_next tr__events_load(tr_self *self, struct durable_actor *actor, void *state,
                        const struct store_state *stored);

#endif
