/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reading MessagePack, with the fields that the type of the message does not have.
 */
#ifndef WIRE_MSGPACK_READ_H
#define WIRE_MSGPACK_READ_H

#include <troupe/wire.h>

#include "wire/tail.h"

/** As tr_unpack. *tail has the fields that were skipped; its bytes are in the document. */
TR_MUST_CHECK tr_status tr__unpack_tail(const tr_type *type, tr_bytes document, void **message,
                                        struct tail *tail, tr_wire_error *error);

#endif
