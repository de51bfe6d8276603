/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors as lines of JSON, and back.
 *
 *     {"kind":"cart","key":"user-42","version":1,"whole":true,"state":{...},"rows":{"kv":[...],...}}
 *
 * The state is written as JSON by its descriptor, or packed ("state64") if another version of the
 * program has stored it. All other rows are packed as in the store. A kind may have secret fields
 * (TR_SECRET) in its state or in a message that it handles. Unless secrets are wanted, its actors
 * are exported without these fields and without rows. Such a line has "whole":false and cannot be
 * imported.
 */
#ifndef OBSERVE_DURABLE_EXPORT_H
#define OBSERVE_DURABLE_EXPORT_H

#include "observe/visitor.h"

void tr__verb_durable_export(struct visitor *visitor, const struct control_request *request);
void tr__verb_durable_import(struct visitor *visitor, const struct control_request *request);

#endif
