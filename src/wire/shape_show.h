/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes a packed message as JSON for people. The shape of the message (wire/shape.h) gives the
 * names of its fields. This is for stored messages whose descriptors this program does not have,
 * because another program or another version of this program has stored them.
 */
#ifndef WIRE_SHAPE_SHOW_H
#define WIRE_SHAPE_SHOW_H

#include <troupe/message.h>

/** Called with each part of the text that tr__shape_show writes. */
typedef void shape_show_put(void *context, const char *text, size_t size);

struct shape_show {
    tr_bytes shape;
    tr_bytes document; /* MessagePack */
    /*
     * The type that the message has in this program, or NULL if this program does not have the
     * type. A field is shown if the type has a field of that name that is not secret (TR_SECRET).
     * All other fields are shown as "...".
     */
    const tr_type *known;
    bool shows_all; /* also show secret fields, and fields that `known` does not have */
    shape_show_put *put;
    void *context;
};

/**
 * Writes the message. Returns false if the bytes do not fit the shape; the function may have
 * written a part of the message before. Any thread.
 */
bool tr__shape_show(const struct shape_show *show);

#endif
