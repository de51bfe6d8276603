/* SPDX-License-Identifier: Apache-2.0 */
/** Error texts for MessagePack documents with faults, and skipping of values. */
#include "wire/msgpack_input.h"

#include <inttypes.h>

void tr__pack_cut_short(struct pack_input *in, pack_place at)
{
    tr__fault_set(in->error, TR_BAD_DATA, offset_of(in, at), "unexpected end of the document");
}

static const char *name_of_tag(unsigned tag)
{
    if (tag <= PACK_FIX_INT_MAX || tag >= PACK_NEGATIVE_FIX_INT ||
        (tag >= PACK_U8 && tag <= PACK_I64))
        return "an integer";
    if (tag < PACK_FIX_ARRAY || tag >= PACK_MAP16)
        return "a map";
    if (tag < PACK_FIX_STR || tag == PACK_ARRAY16 || tag == PACK_ARRAY32)
        return "an array";
    if (tag < PACK_NIL || tag >= PACK_STR8)
        return "a str";
    if (tag == PACK_NIL)
        return "nil";
    if (tag == PACK_NEVER_USED)
        return "a byte that is invalid in MessagePack";
    if (tag <= PACK_TRUE)
        return "a bool";
    if (tag < PACK_EXT8)
        return "bin";
    return tag == PACK_F32 || tag == PACK_F64 ? "a float" : "ext";
}

void tr__pack_wrong_type(struct pack_input *in, pack_place at, const char *expected)
{
    tr__fault_set(in->error,
                  TR_BAD_DATA,
                  offset_of(in, at),
                  "%s is expected, not %s",
                  expected,
                  name_of_tag(*at));
}

void tr__pack_announced(struct pack_input *in, pack_place at, uint64_t count, const char *what)
{
    tr__fault_set(in->error,
                  TR_BAD_DATA,
                  offset_of(in, at),
                  "%" PRIu64 " %s announced, but only %zu bytes are left",
                  count,
                  what,
                  left_of(in, at));
}

pack_place tr__pack_read_wide(struct pack_input *in, pack_place at, unsigned width, uint64_t *value)
{
    size_t size = (size_t)1 << width;
    if (left_of(in, at) < size)
        return CUT_SHORT(in, at);
    uint64_t read = 0;
    for (size_t i = 0; i < size; i++)
        read = read << 8 | at[i];
    *value = read;
    return at + size;
}

/* Skips the content of a value whose head was read, with the values inside it. */
static pack_place skip_inside(struct pack_input *in, pack_place at, unsigned tag, unsigned depth)
{
    uint64_t size = 0;
    if (tag <= PACK_FIX_INT_MAX || tag >= PACK_NEGATIVE_FIX_INT || tag == PACK_NIL ||
        tag == PACK_FALSE || tag == PACK_TRUE)
        return at;
    if (tag < PACK_FIX_ARRAY)
        return tr__pack_skip(in, at, 2 * (tag & 0x0f), depth);
    if (tag < PACK_FIX_STR)
        return tr__pack_skip(in, at, tag & 0x0f, depth);
    if (tag < PACK_NIL)
        return read_span(in, at, tag & 0x1f);
    if (tag == PACK_NEVER_USED)
        return WRONG_TYPE(in, at - 1, "a value");
    if (tag == PACK_F32 || tag == PACK_F64)
        return read_wide(in, at, tag - PACK_F32 + 2, &size);
    if (tag >= PACK_U8 && tag <= PACK_I64)
        return read_wide(in, at, (tag - PACK_U8) & 3, &size);
    if (tag >= PACK_FIX_EXT1 && tag <= PACK_FIX_EXT16)
        return read_span(in, at, ((uint64_t)1 << (tag - PACK_FIX_EXT1)) + 1);
    if (tag >= PACK_ARRAY16) {
        at = read_wide(in, at, (tag & 1) + 1, &size);
        bool is_map = tag >= PACK_MAP16;
        return at == NULL ? NULL : tr__pack_skip(in, at, is_map ? 2 * size : size, depth);
    }
    bool is_ext = tag >= PACK_EXT8 && tag < PACK_F32;
    unsigned first = tag >= PACK_STR8 ? PACK_STR8 : is_ext ? PACK_EXT8 : PACK_BIN8;
    at = read_wide(in, at, tag - first, &size);
    return at == NULL ? NULL : read_span(in, at, size + is_ext);
}

pack_place tr__pack_skip(struct pack_input *in, pack_place at, uint64_t count, unsigned depth)
{
    if (count > left_of(in, at))
        return ANNOUNCED(in, at, count, "items");
    if (count > 0 && depth > TR_DEPTH_MAX)
        return FAULT(in->error, TR_TOO_DEEP, offset_of(in, at), "values are nested too deep");
    for (; count > 0 && at != NULL; count--) {
        unsigned tag = 0;
        at = read_tag(in, at, &tag);
        if (at != NULL)
            at = skip_inside(in, at, tag, depth + 1);
    }
    return at;
}
