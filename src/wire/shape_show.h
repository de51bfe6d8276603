/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A packed message as JSON by its shape (wire/shape.h), for people: for stored messages whose
 * descriptors this program does not have, because another program or another version of this one
 * has stored them.
 */
#ifndef WIRE_SHAPE_SHOW_H
#define WIRE_SHAPE_SHOW_H

#include <troupe/message.h>

/** Gets a part of the text that tr__shape_show writes. */
typedef void shape_show_put(void *context, const char *text, size_t size);

struct shape_show {
    tr_bytes shape;
    tr_bytes document; /* MessagePack */
    /*
     * The type of the message, if this program has one; NULL: none. A field is shown if the type has a field of that
     * name which is not secret (TR_SECRET). All other fields are shown as "...".
     */
    const tr_type *known;
    bool shows_all; /* also shows secret fields and fields that `known` does not have */
    shape_show_put *put;
    void *context;
};

/** Writes the message. Returns false if the bytes do not fit the shape; then a part was written. Any thread. */
bool tr__shape_show(const struct shape_show *show);

#endif
