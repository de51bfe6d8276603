/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb asks. It lists actors that wait for an answer, with the actor that owes the answer and
 * how long they have waited. It also lists actors that owe an answer.
 */
#ifndef OBSERVE_ASKS_H
#define OBSERVE_ASKS_H

#include "observe/visitor.h"

void tr__verb_asks(struct visitor *visitor, const struct control_request *request);

#endif
