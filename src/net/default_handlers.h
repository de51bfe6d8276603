/* SPDX-License-Identifier: Apache-2.0 */
/** The handlers of events of channels for which actors have no handler. */
#ifndef NET_DEFAULT_HANDLERS_H
#define NET_DEFAULT_HANDLERS_H

#include "mem/envelope.h"

#include <troupe/behavior.h>

/**
 * Returns the handler of an event: the handler of the channel's protocol, else `any`, which is the
 * actor's own handler for any message, else the default handler. If there is none, returns NULL,
 * and the event is unhandled. Owner only.
 */
const tr_handler *tr__default_handler(struct tr_self *self, const struct envelope *envelope,
                                      const tr_handler *any);

#endif
