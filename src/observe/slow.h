/* SPDX-License-Identifier: Apache-2.0 */
/** The verb slow: the slowest of the turns that were timed in the last minute. */
#ifndef OBSERVE_SLOW_H
#define OBSERVE_SLOW_H

#include "observe/visitor.h"

void tr__verb_slow(struct visitor *visitor, const struct control_request *request);

#endif
