/* SPDX-License-Identifier: Apache-2.0 */
/** The verb asks: lists the actors that wait for an answer, for whose and since when, and the actors that owe one. */
#ifndef OBSERVE_ASKS_H
#define OBSERVE_ASKS_H

#include "observe/visitor.h"

void tr__verb_asks(struct visitor *visitor, const struct control_request *request);

#endif
