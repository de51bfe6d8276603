/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Outcomes of asks, for the layers above.
 */
#ifndef ACTOR_ASK_AWAIT_H
#define ACTOR_ASK_AWAIT_H

#include <stdbool.h>
#include <troupe/message.h>

struct tr_self;

/**
 * Whether an ask of this turn has ended with TR_STOPPED before a handler has seen its request, so
 * that the request can be sent again. Owner only.
 */
bool tr__ask_is_unbegun(const struct tr_self *self, tr_pending pending);

#endif
