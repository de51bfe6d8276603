/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads MessagePack. Keeps fields at the end of a message that its type does not have
 * (wire/tail.h).
 */
#ifndef WIRE_MSGPACK_READ_H
#define WIRE_MSGPACK_READ_H

#include <troupe/wire.h>

#include "wire/tail.h"

/**
 * As tr_unpack. Also sets *tail to the fields that were skipped. The bytes of *tail point into the
 * document.
 */
TR_MUST_CHECK tr_status tr__unpack_tail(const tr_type *type, tr_bytes document, void **message,
                                        struct tail *tail, tr_wire_error *error);

#endif
