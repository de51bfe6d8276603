/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_state_changed. The handler of the application for it is called at the end of a turn that has changed the state.
 */
#ifndef DURABLE_CHANGED_H
#define DURABLE_CHANGED_H

#include "durable/actor.h"

/**
 * Notes the present state as the state that the application has seen last. Returns false if there
 * is no memory.
 */
TR_MUST_CHECK bool tr__durable_show(struct worker *worker, struct durable_actor *actor);
/**
 * If the state has changed and the kind has a handler for tr_state_changed, calls that handler. Returns the result of
 * the turn. Call it when the handler of the turn has returned `next` and the last commit of the turn is still open.
 */
tr_next tr__durable_changed(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                            tr_next next);
void tr__durable_show_drop(struct worker *worker, struct durable_actor *actor);

#endif
