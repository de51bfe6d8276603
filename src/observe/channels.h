/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verbs for listeners, connections and other channels. No worker and no actor is asked: any
 * thread may read the state of a channel (net/glance.h), and the kernel counts its bytes.
 */
#ifndef OBSERVE_CHANNELS_H
#define OBSERVE_CHANNELS_H

#include "observe/visitor.h"

void tr__verb_channels(struct visitor *visitor, const struct control_request *request);

#endif
