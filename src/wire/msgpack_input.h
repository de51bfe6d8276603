/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A MessagePack document that is being read. The functions take its next bytes, and set faults.
 * msgpack_read.c uses them.
 *
 * Rules:
 * 1. A value is read only after its bytes are known to exist.
 * 2. A count is at most the number of bytes that are left, because each value takes at least one
 *    byte.
 * 3. If texts are read in place, the NUL of a text stands where the first byte of the next value
 *    was. The reader writes the NUL only after it has read that byte.
 */
#ifndef WIRE_MSGPACK_INPUT_H
#define WIRE_MSGPACK_INPUT_H

#include "wire/fault.h"
#include "wire/fill.h"
#include "wire/msgpack.h"

typedef const unsigned char *pack_place;

struct pack_input {
    pack_place begin;
    pack_place end;
    unsigned char *text_end; /* the byte to which rule 3 writes a NUL next; NULL: none */
    tr_wire_error *error;
    struct fill *fill;
    struct tail *tail; /* gets the unknown fields that were skipped; NULL: they are not needed */
    bool is_in_place;
};

static inline size_t left_of(const struct pack_input *in, pack_place at)
{
    return (size_t)(in->end - at);
}

static inline size_t offset_of(const struct pack_input *in, pack_place at)
{
    return (size_t)(at - in->begin);
}

__attribute__((__cold__)) void tr__pack_cut_short(struct pack_input *in, pack_place at);
__attribute__((__cold__)) void tr__pack_wrong_type(struct pack_input *in, pack_place at,
                                                   const char *expected);
__attribute__((__cold__)) void tr__pack_announced(struct pack_input *in, pack_place at,
                                                  uint64_t count, const char *what);

/**
 * Sets the fault that the document ends inside the value at `at`. The value of the macro is NULL.
 */
#define CUT_SHORT(in, at) (tr__pack_cut_short(in, at), NULL)
/**
 * Sets the fault that the value at `at` has another type than `expected`. The document must have a
 * byte at `at`. The value of the macro is NULL.
 */
#define WRONG_TYPE(in, at, expected) (tr__pack_wrong_type(in, at, expected), NULL)
/**
 * Sets the fault that a head before `at` announces `count` bytes or items, and the document has
 * fewer. `what` is "bytes" or "items". The value of the macro is NULL.
 */
#define ANNOUNCED(in, at, count, what) (tr__pack_announced(in, at, count, what), NULL)

/**
 * Skips `count` values, which belong to fields that this program does not know. `depth` is the
 * nesting depth of these values: one more than that of the message that has these fields.
 */
pack_place tr__pack_skip(struct pack_input *in, pack_place at, uint64_t count, unsigned depth);

/** Reads the first byte of the next value. Returns the place after it. */
static INLINE pack_place read_tag(struct pack_input *in, pack_place at, unsigned *tag)
{
    if (UNLIKELY(at == in->end))
        return CUT_SHORT(in, at);
    *tag = *at;
    if (UNLIKELY(in->text_end != NULL)) {
        *in->text_end = '\0';
        in->text_end = NULL;
    }
    return at + 1;
}

/** Reads a number of 1 << width bytes: 1, 2, 4 or 8. */
pack_place tr__pack_read_wide(struct pack_input *in, pack_place at, unsigned width,
                              uint64_t *value);

/**
 * As tr__pack_read_wide, but inline and with a branch for each width. The processor predicts the
 * branch, and so begins with the next value at once. If the next place were computed from the
 * width, the processor would have to wait for the width.
 */
static INLINE pack_place read_wide(struct pack_input *in, pack_place at, unsigned width,
                                   uint64_t *value)
{
    if (UNLIKELY(left_of(in, at) < sizeof(uint64_t))) {
        uint64_t wide = 0;
        at = tr__pack_read_wide(in, at, width, &wide);
        *value = wide;
        return at;
    }
    if (width == 3) {
        *value = load64(at);
        return at + 8;
    }
    if (width == 2) {
        *value = load32(at);
        return at + 4;
    }
    if (width == 0) {
        *value = at[0];
        return at + 1;
    }
    *value = load16(at);
    return at + 2;
}

/** Skips the bytes that a head has announced. */
static INLINE pack_place read_span(struct pack_input *in, pack_place at, uint64_t size)
{
    if (UNLIKELY(size > left_of(in, at)))
        return ANNOUNCED(in, at, size, "bytes");
    return at + size;
}

#endif
