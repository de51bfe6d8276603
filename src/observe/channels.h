/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs for listeners, connections and other channels. They ask no worker and no actor. Any
 * thread may read the state of a channel (net/glance.h), and the kernel counts the bytes of its
 * socket.
 */
#ifndef OBSERVE_CHANNELS_H
#define OBSERVE_CHANNELS_H

#include "observe/visitor.h"

void tr__verb_channels(struct visitor *visitor, const struct control_request *request);

#endif
