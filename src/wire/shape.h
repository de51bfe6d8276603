/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shape of a message: the names and types of its fields as a text. It is stored in addition to
 * packed messages, so that a change of the fields is noticed and no field is misread.
 *
 *     {owner:str,cents:u64,lines:[{id:u64,name:str}],point:[f64*3],note:?str}
 *
 * The fields of a message are in braces, and the items of a list or an array in brackets. The
 * length of an array comes after a star. An optional value begins with a question mark. Names of
 * messages are left out, because packed messages do not have them either.
 *
 * Two shapes fit if messages that were packed with one can be read with the other: their fields
 * have the same names and types in the same order, and one of them may have more fields at its end.
 * The same rule applies to nested messages.
 */
#ifndef WIRE_SHAPE_H
#define WIRE_SHAPE_H

#include <troupe/message.h>

enum {
    /* The longest shape, in bytes. Shapes in practice are far shorter. A type whose shape would be
     * longer has no shape. */
    SHAPE_TEXT_MAX = 64 * 1024,
    /* The size of the front, which is before a packed message and identifies its shape. */
    SHAPE_FRONT = 8,
};

/**
 * Writes the shape of a type, without a NUL, and returns its length. Cuts the text at `size`. If
 * `size` is 0, `text` may be NULL. Returns 0 if the type has no shape. That is so if the type nests
 * too deep, if the shape would be longer than SHAPE_TEXT_MAX, or if a name contains a character
 * that has a meaning in shapes.
 */
size_t tr__shape_write(const tr_type *type, char *text, size_t size);

/** Returns a hash of a text. The hash has 56 bits, is the same on every machine, and is never 0. */
uint64_t tr__shape_hash(tr_bytes text);

/** The result of comparing two shapes, as bits. */
enum shape_fit {
    SHAPE_EQUAL = 0,
    SHAPE_FIRST_LONGER = 1,  /* the first shape has fields that the second does not have */
    SHAPE_SECOND_LONGER = 2, /* the second shape has fields that the first does not have */
    SHAPE_DIFFERENT = 4,     /* the shapes do not fit */
};

/**
 * The first field in which two shapes differ: its text in the first shape, and its text in the
 * second shape. If a shape has no field there, the rest of its text.
 */
struct shape_place {
    tr_bytes first;
    tr_bytes second;
};

/**
 * Compares two shapes. Returns bits of enum shape_fit. A text that is not a shape differs from all
 * others. If the shapes differ and `place` is not NULL, sets *place.
 */
unsigned tr__shape_compare(tr_bytes first, tr_bytes second, struct shape_place *place);

/** Writes the front of a packed message: SHAPE_FRONT bytes with the hash of its shape. */
void tr__shape_front_write(unsigned char *to, uint64_t hash);
/**
 * Returns the bytes after the front, and sets *hash to the hash in it. If there is no front,
 * returns all bytes, and sets *hash to 0.
 */
tr_bytes tr__shape_front_read(tr_bytes bytes, uint64_t *hash);

#endif
