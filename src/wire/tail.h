/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tail of a message in MessagePack: the fields at its end that the reader does not know,
 * because a later program has added them. A reader keeps these fields unchanged. When the message
 * is written again, they follow the known fields.
 */
#ifndef WIRE_TAIL_H
#define WIRE_TAIL_H

#include <troupe/message.h>

/** The fields at the end of a message that its type does not have. */
struct tail {
    tr_bytes bytes;      /* the packed fields, unchanged from the document */
    size_t count;        /* number of fields */
    size_t message_size; /* how many bytes the message uses in its block */
    bool is_nested;      /* a nested message has unknown fields; they are not in `bytes` */
};

#endif
