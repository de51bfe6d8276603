/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_state_changed: a call of the application at the end of a turn that has changed the state.
 */
#ifndef DURABLE_CHANGED_H
#define DURABLE_CHANGED_H

#include "durable/actor.h"

/** The state as it is now is known to the application. False: no memory. */
TR_MUST_CHECK bool tr__durable_show(struct worker *worker, struct durable_actor *actor);
/**
 * The handler of a turn has returned `next`, and its last commit is still open: calls that of
 * tr_state_changed if there is one and the state has changed. Gives what becomes of the turn.
 */
tr_next tr__durable_changed(struct tr_self *self, struct tr_self *verb, struct durable_actor *actor,
                            tr_next next);
void tr__durable_show_drop(struct worker *worker, struct durable_actor *actor);

#endif
