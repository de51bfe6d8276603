/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes messages as text for people, in logs, dead letters and debuggers.
 *
 *     deposit{amount=5, memo="rent", to=ref(0x100000002), tags=["a", "b"], at=null}
 */
#include "wire/type.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes of a `bytes` value are shown at most. */
#define BYTES_SHOWN_MAX 16
/* The longest text of a number, in bytes. */
#define NUMBER_MAX 40

/* The text that is being written. When the buffer is full, further text is only counted. */
struct text {
    char *buffer;
    size_t size;
    size_t length;
};

static void print_put(struct text *text, const char *piece, size_t length)
{
    if (text->length < text->size) {
        size_t space = text->size - text->length;
        memcpy(text->buffer + text->length, piece, length < space ? length : space);
    }
    text->length += length;
}

static void put_string(struct text *text, const char *piece)
{
    print_put(text, piece, strlen(piece));
}

__attribute__((__format__(__printf__, 2, 3))) static void put_number(struct text *text,
                                                                     const char *format, ...)
{
    char number[NUMBER_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(number, sizeof(number), format, arguments);
    va_end(arguments);
    put_string(text, number);
}

static void put_quoted(struct text *text, const char *string)
{
    if (string == NULL) {
        put_string(text, "null");
        return;
    }
    put_string(text, "\"");
    for (; *string != '\0'; string++) {
        unsigned char byte = (unsigned char)*string;
        if (byte == '"' || byte == '\\')
            put_number(text, "\\%c", byte);
        else if (byte == '\n')
            put_string(text, "\\n");
        else if (byte < 0x20 || byte == 0x7f)
            put_number(text, "\\x%02x", byte);
        else
            print_put(text, string, 1);
    }
    put_string(text, "\"");
}

/* Writes a number with `digits` digits if that text reads back as the same number, and with
 * `digits_exact` digits otherwise. Writes a point even if the locale has a decimal comma. */
static void put_float(struct text *text, double value, int digits, int digits_exact)
{
    char number[NUMBER_MAX];
    snprintf(number, sizeof(number), "%.*g", digits, value);
    double back = strtod(number, NULL);
    if (digits_exact < 10 ? (float)back != (float)value : back != value)
        snprintf(number, sizeof(number), "%.*g", digits_exact, value);
    for (char *c = number; *c != '\0'; c++) {
        if (*c == ',')
            *c = '.';
    }
    put_string(text, number);
}

static void put_bytes(struct text *text, tr_bytes bytes)
{
    put_number(text, "bytes(%zu", bytes.size);
    const unsigned char *data = bytes.data;
    size_t shown = data == NULL ? 0 : bytes.size;
    if (shown > BYTES_SHOWN_MAX)
        shown = BYTES_SHOWN_MAX;
    for (size_t i = 0; i < shown; i++)
        put_number(text, i == 0 ? ": %02x" : " %02x", data[i]);
    put_string(text, shown < bytes.size ? " ...)" : ")");
}

static void put_buffer(struct text *text, const tr_buffer *buffer)
{
    if (buffer == NULL)
        put_string(text, "null");
    else
        put_number(text, "buffer(%zu)", tr_buffer_size(buffer));
}

static void put_ref(struct text *text, uint64_t bits)
{
    if (bits == 0)
        put_string(text, "nobody");
    else
        put_number(text, "ref(0x%" PRIx64 ")", bits);
}

static void put_message(struct text *text, const tr_type *type, const void *message,
                        unsigned depth);

/* The value of this type at the address `value`, which need not be aligned. */
#define VALUE(type) (*(type *)memcpy(&(type){0}, value, sizeof(type)))

static void put_signed(struct text *text, const void *value, size_t size)
{
    int64_t number = size == 1   ? VALUE(int8_t)
                     : size == 2 ? VALUE(int16_t)
                     : size == 4 ? VALUE(int32_t)
                                 : VALUE(int64_t);
    put_number(text, "%" PRId64, number);
}

static void put_unsigned(struct text *text, const void *value, size_t size)
{
    uint64_t number = size == 1   ? VALUE(uint8_t)
                      : size == 2 ? VALUE(uint16_t)
                      : size == 4 ? VALUE(uint32_t)
                                  : VALUE(uint64_t);
    put_number(text, "%" PRIu64, number);
}

static void put_value(struct text *text, const tr_field *field, const void *value, unsigned depth)
{
    switch ((tr_kind)field->kind) {
    case TR_KIND_BOOL:
        put_string(text, VALUE(unsigned char) ? "true" : "false");
        break;
    case TR_KIND_I8:
    case TR_KIND_I16:
    case TR_KIND_I32:
    case TR_KIND_I64:
        put_signed(text, value, field->item_size);
        break;
    case TR_KIND_U8:
    case TR_KIND_U16:
    case TR_KIND_U32:
    case TR_KIND_U64:
        put_unsigned(text, value, field->item_size);
        break;
    case TR_KIND_F32:
        put_float(text, (double)VALUE(float), 6, 9);
        break;
    case TR_KIND_F64:
        put_float(text, VALUE(double), 15, 17);
        break;
    case TR_KIND_STR:
        put_quoted(text, VALUE(const char *));
        break;
    case TR_KIND_BYTES:
        put_bytes(text, VALUE(tr_bytes));
        break;
    case TR_KIND_BUFFER:
        put_buffer(text, VALUE(tr_buffer *));
        break;
    case TR_KIND_REF:
        put_ref(text, VALUE(uint64_t));
        break;
    case TR_KIND_MESSAGE:
        put_message(text, field->message, value, depth + 1);
        break;
    }
}

static void put_field(struct text *text, const tr_field *field, const void *message, unsigned depth)
{
    struct field_values values = tr__field_values(field, message);
    bool is_many = field->shape == TR_SHAPE_ARRAY || field->shape == TR_SHAPE_LIST;

    put_string(text, field->name);
    put_string(text, "=");
    if ((!is_many && values.count == 0) || (values.items == NULL && values.count > 0)) {
        put_string(text, "null");
        return;
    }
    put_string(text, is_many ? "[" : "");
    for (size_t i = 0; i < values.count; i++) {
        put_string(text, i == 0 ? "" : ", ");
        put_value(text, field, values.items + i * field->item_size, depth);
    }
    put_string(text, is_many ? "]" : "");
}

static void put_message(struct text *text, const tr_type *type, const void *message, unsigned depth)
{
    if (depth > TR_DEPTH_MAX) {
        put_string(text, "...");
        return;
    }
    put_string(text, type->name);
    put_string(text, "{");
    for (size_t i = 0; i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        put_string(text, i == 0 ? "" : ", ");
        if (tr__field_is_secret(type, field)) {
            put_string(text, field->name);
            put_string(text, "=...");
        } else {
            put_field(text, field, message, depth);
        }
    }
    put_string(text, "}");
}

size_t tr_type_print(const tr_type *type, const void *message, char *buffer, size_t size)
{
    struct text text = {buffer, buffer == NULL ? 0 : size, 0};
    if (type == NULL || message == NULL)
        put_string(&text, "(null)");
    else
        put_message(&text, type, message, 0);
    if (text.size > 0)
        buffer[text.length < text.size ? text.length : text.size - 1] = '\0';
    return text.length;
}
