/* SPDX-License-Identifier: Apache-2.0 */
/** The verb durable events. It lists the events of one actor, with the state after each event. */
#ifndef OBSERVE_DURABLE_EVENTS_H
#define OBSERVE_DURABLE_EVENTS_H

#include "observe/visitor.h"

void tr__verb_durable_events(struct visitor *visitor, const struct control_request *request);

#endif
