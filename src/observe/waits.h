/* SPDX-License-Identifier: Apache-2.0 */
/** The verb waits. It lists what an actor waits for, and which actors wait for it. */
#ifndef OBSERVE_WAITS_H
#define OBSERVE_WAITS_H

#include "observe/visitor.h"

void tr__verb_waits(struct visitor *visitor, const struct control_request *request);

#endif
