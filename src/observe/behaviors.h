/* SPDX-License-Identifier: Apache-2.0 */
/** The verb behaviors. For each behavior it lists actors, mail, failures and times of turns. */
#ifndef OBSERVE_BEHAVIORS_H
#define OBSERVE_BEHAVIORS_H

#include "observe/visitor.h"

void tr__verb_behaviors(struct visitor *visitor, const struct control_request *request);

#endif
