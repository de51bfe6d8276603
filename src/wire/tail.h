/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fields of MessagePack that the reader does not know. What a later program has added at the end of
 * a message is kept unchanged, and written again after the known fields.
 */
#ifndef WIRE_TAIL_H
#define WIRE_TAIL_H

#include <troupe/message.h>

/** Fields at the end of a message that its type does not have. */
struct tail {
    tr_bytes bytes;      /* packed, as in the document */
    size_t count;        /* number of fields */
    size_t message_size; /* size of the block of the message that was read */
    bool is_nested;      /* a nested message has such fields too, which are not in `bytes` */
};

#endif
