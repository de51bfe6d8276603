/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writing MessagePack, with the fields that the type of the message does not have.
 */
#ifndef WIRE_MSGPACK_WRITE_H
#define WIRE_MSGPACK_WRITE_H

#include <troupe/wire.h>

#include "wire/tail.h"

/** As tr_pack, with the fields of *tail after those of the message. */
size_t tr__pack_tail(const tr_type *type, const void *message, const struct tail *tail,
                     void *buffer, size_t size, tr_wire_error *error);

#endif
