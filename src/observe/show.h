/* SPDX-License-Identifier: Apache-2.0 */
/** The verb show. It writes all about one actor. Most of it comes from the actor's worker. */
#ifndef OBSERVE_SHOW_H
#define OBSERVE_SHOW_H

#include "observe/visitor.h"

void tr__verb_show(struct visitor *visitor, const struct control_request *request);

#endif
