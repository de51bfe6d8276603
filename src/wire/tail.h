/* SPDX-License-Identifier: Apache-2.0 */
/**
 * MessagePack with the fields that the reader does not know: what a later program has added at the end of a message
 * is kept as it is, and written again behind the fields that are known.
 */
#ifndef WIRE_TAIL_H
#define WIRE_TAIL_H

#include <troupe/message.h>

/** Fields at the end of a message that its type does not have. */
struct tail {
    tr_bytes bytes;      /* as in the document */
    size_t count;        /* of fields; 0: none */
    size_t message_size; /* of the block of the message that was read */
    bool is_nested;      /* a message inside has such fields too, and those are not in `bytes` */
};

#endif
