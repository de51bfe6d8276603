/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exports durable actors as lines of JSON, and imports them again.
 *
 *     {"kind":"cart","key":"user-42","version":1,"whole":true,"state":{...},"rows":{"kv":[...],...}}
 *
 * The state is JSON, written by its descriptor. If another version of the program has stored the state, it is packed
 * instead ("state64"). All other rows are packed as in the store. A kind may have secret fields (TR_SECRET) in its
 * state or in a message that it handles. If the request does not ask for secrets, the actors of such a kind are
 * exported without these fields and without rows. Their lines have "whole":false and cannot be imported.
 */
#ifndef OBSERVE_DURABLE_EXPORT_H
#define OBSERVE_DURABLE_EXPORT_H

#include "observe/visitor.h"

void tr__verb_durable_export(struct visitor *visitor, const struct control_request *request);
void tr__verb_durable_import(struct visitor *visitor, const struct control_request *request);

#endif
