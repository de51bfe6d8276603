/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/shape.h"

#include "base/hash.h"
#include "wire/msgpack.h"
#include "wire/type.h"

#include <stdio.h>
#include <string.h>

/* ---- From a type. ---- */

struct shape_writer {
    char *text;
    size_t size;
    size_t length;
    bool has_failed;
};

static const char *const kind_names[] = {
    [TR_KIND_BOOL] = "bool",
    [TR_KIND_I8] = "i8",
    [TR_KIND_I16] = "i16",
    [TR_KIND_I32] = "i32",
    [TR_KIND_I64] = "i64",
    [TR_KIND_U8] = "u8",
    [TR_KIND_U16] = "u16",
    [TR_KIND_U32] = "u32",
    [TR_KIND_U64] = "u64",
    [TR_KIND_F32] = "f32",
    [TR_KIND_F64] = "f64",
    [TR_KIND_STR] = "str",
    [TR_KIND_BYTES] = "bytes",
    [TR_KIND_BUFFER] = "buffer",
    [TR_KIND_REF] = "ref",
};

static void shape_put(struct shape_writer *w, const char *text, size_t size)
{
    if (size > SHAPE_TEXT_MAX - w->length) {
        w->has_failed = true;
        return;
    }
    for (size_t i = 0; i < size && w->length + i < w->size; i++)
        w->text[w->length + i] = text[i];
    w->length += size;
}

static void put_name(struct shape_writer *w, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)name[i] <= ' ' || strchr("{}[]:,*?", name[i]))
            w->has_failed = true;
    }
    shape_put(w, name, size);
}

static void put_message(struct shape_writer *w, const tr_type *type, unsigned depth);

static void put_type(struct shape_writer *w, const tr_field *field, unsigned depth)
{
    char count[16];
    bool is_many = field->shape == TR_SHAPE_LIST || field->shape == TR_SHAPE_ARRAY;
    if (is_many)
        shape_put(w, "[", 1);
    if (field->shape == TR_SHAPE_OPTIONAL)
        shape_put(w, "?", 1);
    if (field->kind == TR_KIND_MESSAGE)
        put_message(w, field->message, depth + 1);
    else
        shape_put(w, kind_names[field->kind], strlen(kind_names[field->kind]));
    if (field->shape == TR_SHAPE_ARRAY)
        shape_put(w, count, (size_t)snprintf(count, sizeof count, "*%u", field->count));
    if (is_many)
        shape_put(w, "]", 1);
}

static void put_message(struct shape_writer *w, const tr_type *type, unsigned depth)
{
    if (depth > TR_DEPTH_MAX)
        w->has_failed = true;
    shape_put(w, "{", 1);
    for (size_t i = 0; i < type->field_count && !w->has_failed; i++) {
        const tr_field *field = tr__type_field(type, i);
        if (i)
            shape_put(w, ",", 1);
        put_name(w, field->name);
        shape_put(w, ":", 1);
        put_type(w, field, depth);
    }
    shape_put(w, "}", 1);
}

size_t tr__shape_write(const tr_type *type, char *text, size_t size)
{
    struct shape_writer w = {.text = text, .size = size};
    put_message(&w, type, 0);
    return w.has_failed ? 0 : w.length;
}

uint64_t tr__shape_hash(tr_bytes text)
{
    static const struct hash_key key = {0, 0};
    uint64_t hash = hash_bytes(key, text.data, text.size) & ((UINT64_C(1) << 56) - 1);
    return hash ? hash : 1;
}

/* ---- Comparing two shapes. ---- */

struct shape_reader {
    const char *at;
    const char *end;
};

struct comparison {
    struct shape_reader first;
    struct shape_reader second;
    unsigned fit;
};

static char shape_peek(const struct shape_reader *r)
{
    if (r->at >= r->end)
        return '\0';
    return *r->at;
}

static bool shape_take(struct shape_reader *r, char c)
{
    bool is_there = r->at < r->end && *r->at == c;
    r->at += is_there;
    return is_there;
}

/* Takes the characters up to the next one that has a meaning in shapes, such as a brace or a
 * comma. */
static tr_bytes take_word(struct shape_reader *r)
{
    const char *begin = r->at;
    static const char marks[8] = {'{', '}', '[', ']', ':', ',', '*', '?'};
    while (r->at < r->end && !memchr(marks, *r->at, sizeof marks))
        r->at++;
    return (tr_bytes){begin, (size_t)(r->at - begin)};
}

/* Skips the character `what` in each shape in which it comes next. Returns true if both shapes have
 * it or neither has it. Sets *is_there to whether the first shape has it. */
static bool take_both(struct comparison *c, char what, bool *is_there)
{
    *is_there = shape_take(&c->first, what);
    return shape_take(&c->second, what) == *is_there;
}

static bool take_words(struct comparison *c)
{
    tr_bytes first = take_word(&c->first);
    tr_bytes second = take_word(&c->second);
    return first.size > 0 && first.size == second.size &&
           memcmp(first.data, second.data, first.size) == 0;
}

/* Skips the rest of the fields, up to the closing brace. Returns false if there is no closing brace. */
static bool skip_fields(struct shape_reader *r)
{
    for (size_t depth = 0; r->at < r->end; r->at++) {
        if (*r->at == '{')
            depth++;
        if (*r->at == '}' && depth-- == 0)
            return true;
    }
    return false;
}

static bool compare_fields(struct comparison *c, unsigned depth);

static bool compare_types(struct comparison *c, unsigned depth)
{
    bool is_there, is_list;
    if (!take_both(c, '[', &is_list) || !take_both(c, '?', &is_there) || (is_list && is_there))
        return false;
    bool is_message = shape_peek(&c->first) == '{';
    if (!(is_message ? compare_fields(c, depth + 1) : take_words(c)))
        return false;
    if (!is_list)
        return true;
    if (!take_both(c, '*', &is_there) || (is_there && !take_words(c)))
        return false;
    return take_both(c, ']', &is_there) && is_there;
}

/* Compares the braces and everything between them. */
static bool compare_fields(struct comparison *c, unsigned depth)
{
    bool is_there;
    if (depth > TR_DEPTH_MAX || !take_both(c, '{', &is_there) || !is_there)
        return false;
    for (bool is_next = false;; is_next = true) {
        struct comparison begin = *c;
        bool has_first = shape_peek(&c->first) != '}';
        bool has_second = shape_peek(&c->second) != '}';
        if (!has_first || !has_second) {
            c->fit |= has_first ? SHAPE_FIRST_LONGER : has_second ? SHAPE_SECOND_LONGER : 0;
            return skip_fields(&c->first) && skip_fields(&c->second) &&
                   take_both(c, '}', &is_there) && is_there;
        }
        bool is_good = !is_next || (take_both(c, ',', &is_there) && is_there);
        if (is_good)
            begin = *c;
        is_good = is_good && take_words(c) && take_both(c, ':', &is_there) && is_there;
        if (is_good && compare_types(c, depth))
            continue;
        if (!(c->fit & SHAPE_DIFFERENT)) {
            /* Keep the place of the difference that was found first. Its field is the innermost
             * one, because the comparison of nested fields returns before that of the fields around
             * them. */
            c->first = begin.first;
            c->second = begin.second;
        }
        c->fit |= SHAPE_DIFFERENT;
        return false;
    }
}

/* Returns the text of the field that begins here. */
static tr_bytes field_at(struct shape_reader r)
{
    const char *begin = r.at;
    size_t depth = 0;
    for (; r.at < r.end; r.at++) {
        if (*r.at == '{')
            depth++;
        if (depth == 0 && (*r.at == ',' || *r.at == '}'))
            break;
        if (*r.at == '}')
            depth--;
    }
    return (tr_bytes){begin, (size_t)(r.at - begin)};
}

unsigned tr__shape_compare(tr_bytes first, tr_bytes second, struct shape_place *place)
{
    struct comparison c = {
        .first = {first.data, (const char *)first.data + first.size},
        .second = {second.data, (const char *)second.data + second.size},
    };
    bool is_good = compare_fields(&c, 0);
    if (is_good && c.first.at == c.first.end && c.second.at == c.second.end)
        return c.fit;
    if (place)
        *place = (struct shape_place){field_at(c.first), field_at(c.second)};
    return SHAPE_DIFFERENT;
}

/* ---- The header in front of packed data: the hash of its shape. ---- */

void tr__shape_front_write(unsigned char *to, uint64_t hash)
{
    to[0] = PACK_NEVER_USED; /* No document begins with this byte. */
    for (int i = 1; i < SHAPE_FRONT; i++, hash >>= 8)
        to[i] = (unsigned char)hash;
}

tr_bytes tr__shape_front_read(tr_bytes bytes, uint64_t *hash)
{
    const unsigned char *from = bytes.data;
    *hash = 0;
    if (bytes.size < SHAPE_FRONT || from[0] != PACK_NEVER_USED)
        return bytes;
    for (int i = SHAPE_FRONT - 1; i > 0; i--)
        *hash = *hash << 8 | from[i];
    return (tr_bytes){from + SHAPE_FRONT, bytes.size - SHAPE_FRONT};
}
