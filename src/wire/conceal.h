/* SPDX-License-Identifier: Apache-2.0 */
/** Removes the values of secret fields (TR_SECRET) from a message. */
#ifndef WIRE_CONCEAL_H
#define WIRE_CONCEAL_H

#include <troupe/message.h>

/** Sets all secret fields of a message, and of the messages in it, to zero. It must be a block of the caller's own. */
void tr__conceal(const tr_type *type, void *message);

#endif
