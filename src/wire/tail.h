/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tail of a message in MessagePack: fields that the reader does not know, because a later
 * program has added them at the end. They are kept unchanged, and written again after the known
 * fields.
 */
#ifndef WIRE_TAIL_H
#define WIRE_TAIL_H

#include <troupe/message.h>

/** Fields at the end of a message that its type does not have. */
struct tail {
    tr_bytes bytes;      /* the packed fields, unchanged from the document */
    size_t count;        /* number of fields */
    size_t message_size; /* size of the block that has the message */
    bool is_nested;      /* a nested message has unknown fields too; these are not in `bytes` */
};

#endif
