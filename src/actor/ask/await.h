/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the modules above actor, such as durable, need to know about the outcome of an ask.
 */
#ifndef ACTOR_ASK_AWAIT_H
#define ACTOR_ASK_AWAIT_H

#include <stdbool.h>
#include <troupe/message.h>

struct tr_self;

/**
 * Whether an ask of this turn has ended with TR_STOPPED before any handler saw its request. Then
 * the caller can send the request again. Owner only.
 */
bool tr__ask_is_unbegun(const struct tr_self *self, tr_pending pending);

#endif
