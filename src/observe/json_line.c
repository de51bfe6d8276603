/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/json_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/utf8.h"

void tr__json_line_init(struct json_line *text, const struct memory_source *source)
{
    *text = (struct json_line){.source = source};
}

void tr__json_line_free(struct json_line *text)
{
    source_resize(text->source, text->data, 0);
    *text = (struct json_line){.source = text->source};
}

void tr__json_line_drop(struct json_line *text, size_t size)
{
    memmove(text->data, text->data + size, text->length - size);
    text->length -= size;
}

/* Makes space for `more` bytes. Returns false if there is no memory. */
static bool text_reserve(struct json_line *text, size_t more)
{
    if (text->has_failed)
        return false;
    if (text->capacity - text->length >= more)
        return true;
    size_t capacity = text->capacity ? text->capacity : 1024;
    while (capacity - text->length < more)
        capacity *= 2;
    char *data = source_resize(text->source, text->data, capacity);
    text->has_failed = !data;
    if (!data)
        return false;
    text->data = data;
    text->capacity = capacity;
    return true;
}

void tr__json_put(struct json_line *text, const char *piece, size_t length)
{
    if (!length || !text_reserve(text, length))
        return;
    memcpy(text->data + text->length, piece, length);
    text->length += length;
}

void tr__json_printf(struct json_line *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0 || !text_reserve(text, (size_t)length + 1))
        return;
    va_start(list, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, list);
    va_end(list);
    text->length += (size_t)length;
}

/* Writes a string with its quotes. */
static void put_quoted(struct json_line *text, const char *value)
{
    size_t size = strlen(value);
    tr__json_put(text, "\"", 1);
    for (size_t i = 0; i < size;) {
        unsigned char byte = (unsigned char)value[i];
        size_t good = tr__utf8_character((const unsigned char *)value + i, size - i);
        if (byte < 0x20 || byte == 0x7f)
            tr__json_printf(text, "\\u%04x", byte);
        else if (byte == '"' || byte == '\\')
            tr__json_printf(text, "\\%c", byte);
        else if (!good)
            tr__json_put(text, "?", 1);
        else
            tr__json_put(text, value + i, good);
        i += good ? good : 1;
    }
    tr__json_put(text, "\"", 1);
}

/* Begins a member of an object. If `name` is NULL, begins an item of an array. */
static void put_name(struct json_line *text, const char *name)
{
    if (text->needs_comma)
        tr__json_put(text, ",", 1);
    if (name)
        tr__json_printf(text, "\"%s\":", name);
    text->needs_comma = true;
}

void tr__json_open(struct json_line *text, const char *name, char bracket)
{
    put_name(text, name);
    tr__json_put(text, &bracket, 1);
    text->needs_comma = false;
}

void tr__json_close(struct json_line *text, char bracket)
{
    tr__json_put(text, &bracket, 1);
    text->needs_comma = true;
}

void tr__json_string(struct json_line *text, const char *name, const char *value)
{
    put_name(text, name);
    if (value)
        put_quoted(text, value);
    else
        tr__json_put(text, "null", 4);
}

void tr__json_unsigned(struct json_line *text, const char *name, uint64_t value)
{
    put_name(text, name);
    tr__json_printf(text, "%" PRIu64, value);
}

void tr__json_signed(struct json_line *text, const char *name, int64_t value)
{
    put_name(text, name);
    tr__json_printf(text, "%" PRId64, value);
}

void tr__json_bool(struct json_line *text, const char *name, bool value)
{
    put_name(text, name);
    tr__json_printf(text, "%s", value ? "true" : "false");
}

void tr__json_ref(struct json_line *text, const char *name, tr_ref ref)
{
    put_name(text, name);
    tr__json_printf(text, ref.bits ? "\"0x%" PRIx64 "\"" : "null", ref.bits);
}

void tr__json_raw(struct json_line *text, const char *name, const char *json)
{
    put_name(text, name);
    tr__json_put(text, json, strlen(json));
}
