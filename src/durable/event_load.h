/* SPDX-License-Identifier: Apache-2.0 */
/** Recovers the state of an actor with events from its snapshots and events. */
#ifndef DURABLE_EVENT_LOAD_H
#define DURABLE_EVENT_LOAD_H

#include "durable/actor.h"

struct store_state;

/**
 * Makes the state of a generation from what is stored. `stored` is NULL if the store has nothing of
 * the actor.
 */
tr_next tr__events_load(tr_self *self, struct durable_actor *actor, void *state,
                        const struct store_state *stored);

#endif
