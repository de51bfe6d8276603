/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shape of a message: the names and types of its fields as a text. It is stored in addition to
 * packed messages, so that a change of the fields is noticed and no field is misread.
 *
 *     {owner:str,cents:u64,lines:[{id:u64,name:str}],point:[f64*3],note:?str}
 *
 * A message has its fields in braces; a list is in brackets; an array has its length after a star;
 * an optional value begins with a question mark. Names of messages are left out, because packed
 * messages do not have them either.
 *
 * Two shapes fit if messages that were packed with one can be read with the other: their fields
 * have the same names and types in the same order, and one of them may have more fields at its end.
 * The same rule applies to nested messages.
 */
#ifndef WIRE_SHAPE_H
#define WIRE_SHAPE_H

#include <troupe/message.h>

enum {
    /* Bytes of a shape at most, far more than in practice. A type whose shape would be longer has
     * no shape. */
    SHAPE_TEXT_MAX = 64 * 1024,
    /* Bytes in front of a packed message that identify its shape. */
    SHAPE_FRONT = 8,
};

/**
 * Writes the shape of a type, without a NUL, and returns its length. Cuts the text at `size`; if
 * that is 0, `text` may be NULL. Returns 0 if the type has no shape: it nests too deep, the shape
 * is longer than SHAPE_TEXT_MAX, or a name contains a character with a meaning here.
 */
size_t tr__shape_write(const tr_type *type, char *text, size_t size);

/** Returns a hash of a text. It has 56 bits, is the same on every machine, and is never 0. */
uint64_t tr__shape_hash(tr_bytes text);

/** The result of comparing two shapes; bits. */
enum shape_fit {
    SHAPE_EQUAL = 0,
    SHAPE_FIRST_LONGER = 1,  /* the first has fields that the second does not know */
    SHAPE_SECOND_LONGER = 2, /* the second has fields that the first does not know */
    SHAPE_DIFFERENT = 4,     /* the shapes do not fit */
};

/** Where two shapes first differ: the field in each text, or the rest of a text. */
struct shape_place {
    tr_bytes first;
    tr_bytes second;
};

/**
 * Compares two shapes. Returns bits of enum shape_fit. A text that is no shape differs from all
 * others. If the shapes differ, sets *place, unless `place` is NULL.
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
