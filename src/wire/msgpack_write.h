/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes MessagePack. Writes unknown fields that a reader has kept (wire/tail.h) behind the fields
 * of the message's type.
 */
#ifndef WIRE_MSGPACK_WRITE_H
#define WIRE_MSGPACK_WRITE_H

#include <troupe/wire.h>

#include "wire/tail.h"

/** As tr_pack. Also writes the fields of *tail behind the fields of the message. */
size_t tr__pack_tail(const tr_type *type, const void *message, const struct tail *tail,
                     void *buffer, size_t size, tr_wire_error *error);

#endif
