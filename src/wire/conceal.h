/* SPDX-License-Identifier: Apache-2.0 */
/** Removes the values of secret fields (TR_SECRET) from a message. */
#ifndef WIRE_CONCEAL_H
#define WIRE_CONCEAL_H

#include <troupe/message.h>

/**
 * Sets all secret fields of a message to zero, also in the messages inside it. The message must be
 * in a block that only the caller uses.
 */
void tr__conceal(const tr_type *type, void *message);

#endif
