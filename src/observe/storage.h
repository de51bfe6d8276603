/* SPDX-License-Identifier: Apache-2.0 */
/** Verbs about durable actors and their store, as far as they need no disk. */
#ifndef OBSERVE_STORAGE_H
#define OBSERVE_STORAGE_H

#include "observe/visitor.h"

void tr__verb_store(struct visitor *visitor, const struct control_request *request);

#endif
