/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Listeners, connections and other channels. Neither workers nor actors are asked: what a channel is can be seen from any
 * thread (net/glance.h), and the kernel counts its bytes.
 */
#ifndef OBSERVE_CHANNELS_H
#define OBSERVE_CHANNELS_H

#include "observe/visitor.h"

void tr__verb_channels(struct visitor *visitor, const struct control_request *request);

#endif
