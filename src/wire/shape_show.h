/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A packed message as JSON by its shape (wire/shape.h), for people: for what was stored by another program, or by another
 * version of this one, whose descriptors are not here.
 */
#ifndef WIRE_SHAPE_SHOW_H
#define WIRE_SHAPE_SHOW_H

#include <troupe/message.h>

/** Takes a part of the text. */
typedef void shape_show_put(void *context, const char *text, size_t size);

struct shape_show {
    tr_bytes shape;
    tr_bytes document; /* MessagePack */
    /*
     * What is known of the message; NULL: nothing. A field is shown if the type has a field of that name which is not
     * secret (TR_SECRET). All others are "...".
     */
    const tr_type *known;
    bool shows_all; /* secret fields too, and those that are not known */
    shape_show_put *put;
    void *context;
};

/** Writes the message. Returns false if the bytes do not fit the shape; then a part was written. Any thread. */
bool tr__shape_show(const struct shape_show *show);

#endif
