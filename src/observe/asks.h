/* SPDX-License-Identifier: Apache-2.0 */
/** The verb asks: which actors wait for an answer, of whom and since when, and which owe one. */
#ifndef OBSERVE_ASKS_H
#define OBSERVE_ASKS_H

#include "observe/visitor.h"

void tr__verb_asks(struct visitor *visitor, const struct control_request *request);

#endif
