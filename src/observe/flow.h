/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb flow. It says how many messages each behavior sends to each other behavior, in the whole
 * program.
 */
#ifndef OBSERVE_FLOW_H
#define OBSERVE_FLOW_H

#include "observe/visitor.h"

void tr__verb_flow(struct visitor *visitor, const struct control_request *request);

#endif
