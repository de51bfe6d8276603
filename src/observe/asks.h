/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb asks: lists actors that wait for an answer, with the actor that owes it and how long
 * they have waited. Also lists the actors that owe an answer.
 */
#ifndef OBSERVE_ASKS_H
#define OBSERVE_ASKS_H

#include "observe/visitor.h"

void tr__verb_asks(struct visitor *visitor, const struct control_request *request);

#endif
