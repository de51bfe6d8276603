/* SPDX-License-Identifier: Apache-2.0 */
/** tr_state_changed: a handler of the application that is called at the end of a turn that has changed the state. */
#ifndef DURABLE_CHANGED_H
#define DURABLE_CHANGED_H

#include "durable/actor.h"

/**
 * Notes the present state as the one that the application has seen last. Returns false if there is
 * no memory.
 */
TR_MUST_CHECK bool tr__durable_show(struct worker *worker, struct durable_actor *actor);
/**
 * Call when the handler of a turn has returned `next` and the last commit of the turn is still open. Calls the handler
 * of tr_state_changed if there is one and the state has changed. Returns the result of the turn.
 */
tr_next tr__durable_changed(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                            tr_next next);
void tr__durable_show_drop(struct worker *worker, struct durable_actor *actor);

#endif
