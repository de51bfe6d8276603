/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/shape_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <troupe/wire.h>

#include "base/base64.h"
#include "wire/msgpack.h"
#include "wire/type.h"
#include "wire/utf8.h"

/* A shape and a packed message of this shape, which are read in parallel. */
struct reading {
    const struct shape_show *show;
    const char *shape;
    const char *shape_end;
    const unsigned char *at;
    const unsigned char *end;
    unsigned hidden; /* above 0: values are read, but not written */
};

static void put(struct reading *r, const char *text, size_t size)
{
    if (!r->hidden)
        r->show->put(r->show->context, text, size);
}

/* ---- The shape. ---- */

static bool take(struct reading *r, char c)
{
    bool is_there = r->shape < r->shape_end && *r->shape == c;
    r->shape += is_there;
    return is_there;
}

static tr_bytes take_word(struct reading *r)
{
    const char *begin = r->shape;
    while (r->shape < r->shape_end && !(*r->shape && strchr("{}[]:,*?", *r->shape)))
        r->shape++;
    return (tr_bytes){begin, (size_t)(r->shape - begin)};
}

/* Skips the shape of one value. */
static bool skip_shape(struct reading *r)
{
    size_t depth = 0;
    for (; r->shape < r->shape_end; r->shape++) {
        char c = *r->shape;
        if (depth == 0 && (c == ',' || c == '}' || c == ']' || c == '*'))
            return true;
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']')
            depth--;
    }
    return depth == 0;
}

/* ---- The document. ---- */

static bool has(const struct reading *r, uint64_t size)
{
    return size <= (uint64_t)(r->end - r->at);
}

/* Reads a number of `width` bytes, the highest byte first. */
static bool read_wide(struct reading *r, unsigned width, uint64_t *value)
{
    if (!has(r, width))
        return false;
    *value = 0;
    for (unsigned i = 0; i < width; i++)
        *value = *value << 8 | *r->at++;
    return true;
}

/* Reads the head of an array. Returns false if the value is not an array. */
static bool read_array(struct reading *r, uint64_t *count)
{
    if (!has(r, 1))
        return false;
    unsigned tag = *r->at++;
    if (tag >= PACK_FIX_ARRAY && tag < PACK_FIX_STR) {
        *count = tag & 15;
        return true;
    }
    if (tag != PACK_ARRAY16 && tag != PACK_ARRAY32)
        return false;
    return read_wide(r, tag == PACK_ARRAY16 ? 2 : 4, count) && *count <= (uint64_t)(r->end - r->at);
}

static void put_text(struct reading *r, const unsigned char *text, size_t size)
{
    put(r, "\"", 1);
    for (size_t i = 0; i < size;) {
        char escaped[8];
        size_t good = tr__utf8_character(text + i, size - i);
        if (text[i] < 0x20 || text[i] == 0x7f)
            put(r, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", text[i]));
        else if (text[i] == '"' || text[i] == '\\')
            put(r, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\%c", text[i]));
        else
            put(r, good ? (const char *)text + i : "?", good ? good : 1);
        i += good ? good : 1;
    }
    put(r, "\"", 1);
}

static void put_base64(struct reading *r, const unsigned char *bytes, size_t size)
{
    enum { PART = 300 }; /* a multiple of 3 */
    char text[BASE64_SIZE(PART)];
    put(r, "\"", 1);
    for (size_t i = 0; i < size; i += PART) {
        size_t count = size - i < PART ? size - i : PART;
        put(r, text, (size_t)(base64_write(text, bytes + i, count) - text));
    }
    put(r, "\"", 1);
}

static void put_number(struct reading *r, unsigned tag, uint64_t value)
{
    char text[40];
    int length;
    if (tag == PACK_F32 || tag == PACK_F64) {
        uint32_t narrow = (uint32_t)value;
        float single;
        double real;
        memcpy(&single, &narrow, sizeof single);
        memcpy(&real, &value, sizeof real);
        real = tag == PACK_F32 ? (double)single : real;
        bool is_finite = real - real == 0;
        length = snprintf(text, sizeof text, tag == PACK_F32 ? "%.9g" : "%.17g", real);
        if (!is_finite)
            length = snprintf(text, sizeof text, "null");
    } else if (tag >= PACK_I8 && tag <= PACK_I64) {
        unsigned shift = 64 - (8u << (tag - PACK_I8));
        length = snprintf(text, sizeof text, "%" PRId64, (int64_t)(value << shift) >> shift);
    } else {
        length = snprintf(text, sizeof text, "%" PRIu64, value);
    }
    put(r, text, (size_t)length);
}

/* Shows a text, bytes or an extension (ext) of `size` bytes. The caller has read its head. */
static bool show_span(struct reading *r, unsigned tag, uint64_t size)
{
    bool is_ext = (tag >= PACK_EXT8 && tag < PACK_EXT8 + 3) ||
                  (tag >= PACK_FIX_EXT1 && tag <= PACK_FIX_EXT16);
    if (is_ext && (!has(r, 1) || !has(r, size + 1)))
        return false;
    unsigned type = is_ext ? *r->at++ : 0;
    if (!has(r, size))
        return false;
    const unsigned char *bytes = r->at;
    r->at += size;
    if (is_ext && type == TR_WIRE_REF && size == 8) {
        char text[32];
        put(r, text, (size_t)snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", load64(bytes)));
    } else if (is_ext || (tag >= PACK_BIN8 && tag < PACK_BIN8 + 3)) {
        put_base64(r, bytes, (size_t)size);
    } else {
        put_text(r, bytes, (size_t)size);
    }
    return true;
}

/* Shows a value that is neither an array nor a map. */
static bool show_plain(struct reading *r)
{
    uint64_t value = 0;
    if (!has(r, 1))
        return false;
    unsigned tag = *r->at++;
    if (tag <= PACK_FIX_INT_MAX) {
        put_number(r, PACK_U8, tag);
    } else if (tag >= PACK_NEGATIVE_FIX_INT) {
        put_number(r, PACK_I8, tag);
    } else if (tag == PACK_NIL) {
        put(r, "null", 4);
    } else if (tag == PACK_FALSE || tag == PACK_TRUE) {
        put(r, tag == PACK_TRUE ? "true" : "false", tag == PACK_TRUE ? 4 : 5);
    } else if (tag >= PACK_FIX_STR && tag < PACK_NIL) {
        return show_span(r, PACK_STR8, tag & 31);
    } else if (tag >= PACK_BIN8 && tag < PACK_F32) {
        unsigned step = tag < PACK_EXT8 ? tag - PACK_BIN8 : tag - PACK_EXT8;
        return read_wide(r, 1u << step, &value) && show_span(r, tag, value);
    } else if (tag >= PACK_STR8 && tag <= PACK_STR32) {
        return read_wide(r, 1u << (tag - PACK_STR8), &value) && show_span(r, tag, value);
    } else if (tag >= PACK_FIX_EXT1 && tag <= PACK_FIX_EXT16) {
        return show_span(r, tag, UINT64_C(1) << (tag - PACK_FIX_EXT1));
    } else if (tag >= PACK_F32 && tag <= PACK_I64) {
        unsigned step =
            tag == PACK_F32 || tag == PACK_F64 ? 2 + (tag - PACK_F32) : (tag - PACK_U8) & 3;
        if (!read_wide(r, 1u << step, &value))
            return false;
        put_number(r, tag, value);
    } else {
        return false;
    }
    return true;
}

/* ---- Both. ---- */

static bool show_message(struct reading *r, const tr_type *known, unsigned depth);

static bool show_value(struct reading *r, const tr_type *known, unsigned depth)
{
    if (take(r, '?')) {
        /* An optional value that is present but nil is packed as an array that contains only
         * nil. */
        bool is_nil = has(r, 2) && r->at[0] == (PACK_FIX_ARRAY | 1) && r->at[1] == PACK_NIL;
        if (is_nil || (has(r, 1) && *r->at == PACK_NIL)) {
            r->at += is_nil ? 2 : 1;
            put(r, "null", 4);
            return skip_shape(r);
        }
    }
    if (r->shape < r->shape_end && *r->shape == '{')
        return show_message(r, known, depth + 1);
    return take_word(r).size > 0 && show_plain(r);
}

static bool show_list(struct reading *r, const tr_type *known, unsigned depth)
{
    const char *item = r->shape;
    uint64_t count;
    if (!read_array(r, &count))
        return false;
    put(r, "[", 1);
    for (uint64_t i = 0; i < count; i++) {
        r->shape = item;
        if (i)
            put(r, ",", 1);
        if (!show_value(r, known, depth))
            return false;
    }
    put(r, "]", 1);
    r->shape = item;
    if (!skip_shape(r))
        return false;
    if (take(r, '*'))
        (void)take_word(r);
    return take(r, ']');
}

/* Finds the field with this name in a type. Returns NULL if `known` is NULL or has no such
 * field. */
static const tr_field *field_find(const tr_type *known, tr_bytes name)
{
    for (size_t i = 0; known && i < known->field_count; i++) {
        const tr_field *field = tr__type_field(known, i);
        if (strlen(field->name) == name.size && memcmp(field->name, name.data, name.size) == 0)
            return field;
    }
    return NULL;
}

static bool show_field(struct reading *r, const tr_type *known, unsigned depth)
{
    tr_bytes name = take_word(r);
    const tr_field *field = field_find(known, name);
    bool is_shown = r->show->shows_all || (field && !tr__field_is_secret(known, field));
    const tr_type *inner = field ? field->message : NULL;
    if (!name.size || !take(r, ':'))
        return false;
    put_text(r, name.data, name.size);
    put(r, ":", 1);
    if (!is_shown)
        put(r, "\"...\"", 5);
    r->hidden += !is_shown;
    bool is_good = take(r, '[') ? show_list(r, inner, depth) : show_value(r, inner, depth);
    r->hidden -= !is_shown;
    return is_good;
}

static bool show_message(struct reading *r, const tr_type *known, unsigned depth)
{
    uint64_t count;
    if (depth > TR_DEPTH_MAX || !take(r, '{') || !read_array(r, &count))
        return false;
    put(r, "{", 1);
    for (uint64_t i = 0; !take(r, '}'); i++) {
        if (i && !take(r, ','))
            return false;
        if (i >=
            count) { /* An earlier program has packed the message, and its type had fewer fields. */
            (void)take_word(r);
            if (!take(r, ':') || !skip_shape(r))
                return false;
            continue;
        }
        if (i)
            put(r, ",", 1);
        if (!show_field(r, known, depth))
            return false;
    }
    put(r, "}", 1);
    return true;
}

bool tr__shape_show(const struct shape_show *show)
{
    struct reading reading = {.show = show,
                              .shape = show->shape.data,
                              .shape_end = (const char *)show->shape.data + show->shape.size,
                              .at = show->document.data,
                              .end =
                                  (const unsigned char *)show->document.data + show->document.size};
    return show_message(&reading, show->known, 0) && reading.at == reading.end;
}
