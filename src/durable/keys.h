/* SPDX-License-Identifier: Apache-2.0 */
/** Finds durable actors by their keys, as troupe/keys.h declares. */
#ifndef DURABLE_KEYS_H
#define DURABLE_KEYS_H

#include <troupe/behavior.h>

/** Handles tr_durable_remove: destroys the actor. */
tr_next tr__durable_remove(tr_self *self, void *state, const void *message);

#endif
