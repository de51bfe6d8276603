/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb asks: lists the actors that wait for an answer, with the actor that has to answer and
 * the time since when they wait. Also lists the actors that owe an answer.
 */
#ifndef OBSERVE_ASKS_H
#define OBSERVE_ASKS_H

#include "observe/visitor.h"

void tr__verb_asks(struct visitor *visitor, const struct control_request *request);

#endif
