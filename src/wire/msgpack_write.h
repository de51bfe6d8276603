/* SPDX-License-Identifier: Apache-2.0 */
/** Writes MessagePack. Writes kept fields behind those of the message's type (wire/tail.h). */
#ifndef WIRE_MSGPACK_WRITE_H
#define WIRE_MSGPACK_WRITE_H

#include <troupe/wire.h>

#include "wire/tail.h"

/** As tr_pack, with the fields of *tail behind the fields of the message. */
size_t tr__pack_tail(const tr_type *type, const void *message, const struct tail *tail,
                     void *buffer, size_t size, tr_wire_error *error);

#endif
