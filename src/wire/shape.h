/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shape of a message: the names and types of its fields as a text, which is stored beside what was packed so that
 * other fields are noticed and not misread.
 *
 *     {owner:str,cents:u64,lines:[{id:u64,name:str}],point:[f64*3],note:?str}
 *
 * A message is its fields in braces, a list is in brackets, an array has its length behind a star, an optional value
 * begins with a question mark. Names of messages are left out: they are not in a packed message either.
 *
 * Two shapes fit when one could read what the other has packed: the fields of a message have the same names and types
 * in the same order, and one of both may have more of them at its end. The same holds for messages inside.
 */
#ifndef WIRE_SHAPE_H
#define WIRE_SHAPE_H

#include <troupe/message.h>

enum {
    /* Larger than any shape of a state that has ever been seen; a type beyond it has no shape. */
    SHAPE_TEXT_MAX = 64 * 1024,
    /* Bytes that name the shape, in front of a packed message. */
    SHAPE_FRONT = 8,
};

/**
 * Writes the shape of a type, without a NUL, and gives its length. What is behind `size` is left out; with size 0
 * `text` may be NULL. 0: the type has none. It nests too deep, it is longer than SHAPE_TEXT_MAX, or a name has one of
 * the characters that stand for something here.
 */
size_t tr__shape_write(const tr_type *type, char *text, size_t size);

/** A number of 56 bits for a text, the same on every machine; never 0. */
uint64_t tr__shape_hash(tr_bytes text);

/** How two shapes compare: bits. */
enum shape_fit {
    SHAPE_EQUAL = 0,
    SHAPE_FIRST_LONGER = 1,  /* the first has fields that the second does not know; */
    SHAPE_SECOND_LONGER = 2, /* the other way round */
    SHAPE_DIFFERENT = 4,     /* they do not fit */
};

/** Where two shapes begin to differ: the field in either text, or what is left of the text. */
struct shape_place {
    tr_bytes first;
    tr_bytes second;
};

/**
 * Compares two shapes. A text that is no shape is different from all others. `place` is written if they are different,
 * and may be NULL.
 */
unsigned tr__shape_compare(tr_bytes first, tr_bytes second, struct shape_place *place);

/** Writes the front of a packed message whose shape has this hash: SHAPE_FRONT bytes. */
void tr__shape_front_write(unsigned char *to, uint64_t hash);
/** Gives what is behind the front, and the hash in it; 0: it has none, because it was packed without. */
tr_bytes tr__shape_front_read(tr_bytes bytes, uint64_t *hash);

#endif
