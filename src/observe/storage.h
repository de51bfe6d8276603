/* SPDX-License-Identifier: Apache-2.0 */
/** Verbs about durable actors and their store that need no read from the disk. */
#ifndef OBSERVE_STORAGE_H
#define OBSERVE_STORAGE_H

#include "observe/visitor.h"

void tr__verb_store(struct visitor *visitor, const struct control_request *request);

#endif
