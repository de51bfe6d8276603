/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A document of MessagePack that is being read: its next bytes, and what can be wrong with them.
 *
 * Rule 1: a value is looked at only after its bytes are known to be there.
 * Rule 2: a count is at most the bytes that are left, since each value takes one.
 * Rule 3 (in place): the byte behind a text becomes NUL when it is not needed any more, which is
 * after the first byte of the next value was read.
 *
 * For msgpack_read.c, which puts it into messages; skipping needs no message and is apart.
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
    unsigned char *text_end; /* of rule 3; NULL for none */
    tr_wire_error *error;
    struct fill *fill;
    struct tail *tail; /* what was skipped; NULL: nobody wants to know */
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

/** The document ends inside the value at `at`. NULL, as all faults are. */
#define CUT_SHORT(in, at) (tr__pack_cut_short(in, at), NULL)
/** The value at `at`, whose first byte is there, is of another type. */
#define WRONG_TYPE(in, at, expected) (tr__pack_wrong_type(in, at, expected), NULL)
/** A head before `at` announces more than there is: `what` is "bytes" or "items". */
#define ANNOUNCED(in, at, count, what) (tr__pack_announced(in, at, count, what), NULL)

/** Skips values of fields that this program does not know, in messages that are `depth` deep. */
pack_place tr__pack_skip(struct pack_input *in, pack_place at, uint64_t count, unsigned depth);

/** The first byte of the next value; the place stays behind it. */
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

/** A number of 1, 2, 4 or 8 bytes: 1 << width. */
pack_place tr__pack_read_wide(struct pack_input *in, pack_place at, unsigned width,
                              uint64_t *value);

/**
 * The same, by branches: a processor guesses them and goes on to the next value, where it would
 * wait for a place that is computed from the width.
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

/** Passes bytes that a head announced. */
static INLINE pack_place read_span(struct pack_input *in, pack_place at, uint64_t size)
{
    if (UNLIKELY(size > left_of(in, at)))
        return ANNOUNCED(in, at, size, "bytes");
    return at + size;
}

#endif
