/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The block that a reader of documents fills, and helpers for values of each kind.
 *
 * The layout is the same as that of a copy (wire/copy.h): the struct, then the data that it points
 * to, in order. When there is no block, or when the block is full, the reader gets NULL as the
 * address of further data. The reader then does not write these data and only counts their size. So
 * the same code measures and fills.
 */
#ifndef WIRE_FILL_H
#define WIRE_FILL_H

#include "wire/copy.h"

#include "base/assert.h"
#include "wire/type.h"

#include <troupe/wire.h>

#include <string.h>

struct fill {
    char *block; /* NULL: the reader only measures */
    size_t size;
    size_t used; /* bytes used so far; above `size` if the block is too small */
};

/**
 * The form of a field: its shape (single, optional, array or list) and its kind in one number. For
 * single values this number equals the kind.
 */
#define FORM(shape, kind) ((unsigned)(shape) << 8 | (kind))
_Static_assert(TR_SHAPE_ONE == 0, "so that a switch over forms is a small table");

/**
 * Takes `count` values of `size` bytes from the block. Returns false if more than TR_PAYLOAD_MAX
 * would be in use. If the block has no space for them, sets *place to NULL and only counts them.
 */
static inline bool fill_take(struct fill *fill, size_t count, size_t size, char **place)
{
    if (count > (TR_PAYLOAD_MAX - fill->used) / size)
        return false;
    size_t at = fill->used;
    fill->used = at + count * size;
    *place = fill->used <= fill->size ? fill->block + at : NULL;
    return true;
}

/**
 * Fills the block of `fill` with a message, and sets fill->used. After a fault returns false, and
 * the block has no buffers that would have to be released.
 */
typedef bool fill_reader(void *context, const tr_type *type, struct fill *fill);

/**
 * Makes a block, and lets `read` fill it from a document of `document_size` bytes. Measures the
 * message first, unless the document is small. On failure returns the status of *error. Any thread.
 */
tr_status tr__fill_new(const tr_type *type, size_t document_size, fill_reader *read, void *context,
                       tr_wire_error *error, void **message);

__attribute__((__cold__)) void tr__fill_refuse(size_t size, tr_wire_error *error);

/** Whether the arguments of a reader are valid. If not, sets *error. */
static inline bool fill_check(const tr_type *type, const void *document, size_t size,
                              const void *result, tr_wire_error *error)
{
    bool is_good =
        type != NULL && type->abi == TR_ABI && result != NULL && (document != NULL || size == 0);
    if (__builtin_expect(is_good && size <= TR_PAYLOAD_MAX, 1)) {
        TR_ASSERT_SLOW(tr__type_is_valid(type, NULL));
        return true;
    }
    tr__fill_refuse(is_good ? size : 0, error);
    return false;
}

/**
 * Aligns the free end of the block for items of a list or for bytes. Returns false if more than
 * TR_PAYLOAD_MAX would be in use.
 */
static inline bool fill_align(struct fill *fill)
{
    fill->used = (fill->used + COPY_ALIGNMENT - 1) & ~(COPY_ALIGNMENT - 1);
    return fill->used <= TR_PAYLOAD_MAX;
}

/** Returns the address `offset` bytes after `place`, or NULL if `place` is NULL. */
static inline char *fill_inside(char *place, size_t offset)
{
    return place == NULL ? NULL : place + offset;
}

/* The next functions copy a few bytes, or set them to zero. Most texts and structs are so small
 * that a call of memcpy or memset would cost more than the work itself. */
/* Copies `size` bytes as two pieces of `piece` bytes, one at the beginning and one at the end. The
 * pieces may overlap. `size` is at least `piece` and at most twice `piece`. */
#define COPY_TWO(piece, to, from, size)                                                            \
    do {                                                                                           \
        char head_[piece];                                                                         \
        char tail_[piece];                                                                         \
        memcpy(head_, from, piece);                                                                \
        memcpy(tail_, (const char *)(from) + (size) - (piece), piece);                             \
        memcpy(to, head_, piece);                                                                  \
        memcpy((char *)(to) + (size) - (piece), tail_, piece);                                     \
    } while (0)

/** Copies as memcpy does. If `size` is 0, the pointers need not be valid. */
static inline void copy_short(void *to, const void *from, size_t size)
{
    if (size > 32)
        memcpy(to, from, size);
    else if (size >= 16)
        COPY_TWO(16, to, from, size);
    else if (size >= 8)
        COPY_TWO(8, to, from, size);
    else if (size >= 4)
        COPY_TWO(4, to, from, size);
    else
        for (size_t i = 0; i < size; i++)
            ((char *)to)[i] = ((const char *)from)[i];
}

/** Sets bytes to zero. */
static inline void zero_short(char *to, size_t size)
{
    if (size >= 32 && size <= 64) {
        memset(to, 0, 32);
        memset(to + size - 32, 0, 32);
    } else if (size > 64 && size <= 128) {
        memset(to, 0, 64);
        memset(to + size - 64, 0, 64);
    } else {
        memset(to, 0, size);
    }
}

/** The smallest and the largest integer of a kind. */
struct integer_range {
    int64_t least;
    uint64_t greatest;
};

static inline struct integer_range integer_range_of(unsigned kind)
{
    static const struct integer_range ranges[] = {
        [TR_KIND_I8] = {INT8_MIN, INT8_MAX},
        [TR_KIND_I16] = {INT16_MIN, INT16_MAX},
        [TR_KIND_I32] = {INT32_MIN, INT32_MAX},
        [TR_KIND_I64] = {INT64_MIN, INT64_MAX},
        [TR_KIND_U8] = {0, UINT8_MAX},
        [TR_KIND_U16] = {0, UINT16_MAX},
        [TR_KIND_U32] = {0, UINT32_MAX},
        [TR_KIND_U64] = {0, UINT64_MAX},
    };
    return ranges[kind];
}

/**
 * Whether an integer fits into a kind. If the integer is negative, `bits` is its two's complement.
 */
static inline bool integer_fits(unsigned kind, uint64_t bits, bool is_negative)
{
    struct integer_range range = integer_range_of(kind);
    return is_negative ? (int64_t)bits >= range.least : bits <= range.greatest;
}

/**
 * Stores an integer in `size` bytes, which must be enough for it. If `to` is NULL, does nothing.
 */
static inline void integer_store(char *to, size_t size, uint64_t bits)
{
    if (to == NULL)
        return;
    if (size == 4) {
        uint32_t value = (uint32_t)bits;
        memcpy(to, &value, sizeof(value));
    } else if (size == 8) {
        memcpy(to, &bits, sizeof(bits));
    } else if (size == 2) {
        uint16_t value = (uint16_t)bits;
        memcpy(to, &value, sizeof(value));
    } else {
        uint8_t value = (uint8_t)bits;
        memcpy(to, &value, sizeof(value));
    }
}

/** Whether a value of a kind can be nil even if its field is not optional. */
static inline bool kind_has_nil(unsigned kind)
{
    return kind == TR_KIND_STR || kind == TR_KIND_BUFFER || kind == TR_KIND_REF;
}

/** Whether a value is nil: a NULL pointer, or a ref to no actor. */
static inline bool value_is_nil(const tr_field *field, const void *value)
{
    static const char zeroes[sizeof(tr_ref)] = {0};
    return kind_has_nil(field->kind) && memcmp(value, zeroes, field->item_size) == 0;
}

#endif
