/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes messages as JSON, without spaces.
 *
 *     {"amount":5,"memo":"rent","to":"0x100000002","raw":"AQI=","tags":["a","b"],"at":null}
 */
#include "wire/json_write.h"

#include "base/assert.h"
#include "base/base64.h"
#include "wire/fault.h"
#include "wire/fill.h"
#include "wire/json_input.h"
#include "wire/utf8.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The longest text of a number, in bytes. */
#define NUMBER_MAX 40

/* The text that is being written. When the buffer is full, further text is only counted. */
struct text {
    char *buffer;
    size_t size;
    size_t length;
    /* upper bound for the bytes that a copy of the message needs behind its struct */
    size_t behind;
    tr_wire_error *error;
    bool is_shown; /* the text is for a person, so secret values are left out */
};

/* Returns space for `count` bytes, all of which the caller must write. Returns NULL if the bytes do
 * not fit. */
static INLINE char *json_take(struct text *text, size_t count)
{
    size_t end = text->length + count;
    if (UNLIKELY(end > text->size || text->buffer == NULL))
        return NULL;
    char *place = text->buffer + text->length;
    text->length = end;
    return place;
}

static void json_put(struct text *text, const void *piece, size_t length)
{
    if (text->length < text->size && text->buffer != NULL) {
        size_t space = text->size - text->length;
        memcpy(text->buffer + text->length, piece, length < space ? length : space);
    }
    text->length += length;
}

static void put_string(struct text *text, const char *piece)
{
    json_put(text, piece, strlen(piece));
}

static INLINE size_t count_digits(uint64_t value)
{
    size_t count = 1;
    for (; value >= 10000; value /= 10000)
        count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes a number that has `count` digits, two at a time from its end. */
static INLINE void write_digits(char *to, uint64_t value, size_t count)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536"
        "37383940414243444546474849505152535455565758596061626364656667686970717273"
        "7475767778798081828384858687888990919293949596979899";
    while (count > 2) {
        count -= 2;
        memcpy(to + count, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (count == 2)
        memcpy(to, pairs + value * 2, 2);
    else
        *to = (char)('0' + value);
}

static void put_number(struct text *text, bool is_negative, uint64_t value)
{
    char number[NUMBER_MAX];
    size_t digits = count_digits(value);
    char *place = json_take(text, is_negative + digits);
    char *to = place != NULL ? place : number;
    *to = '-';
    write_digits(to + is_negative, value, digits);
    if (place == NULL)
        json_put(text, number, is_negative + digits);
}

static void put_signed(struct text *text, int64_t value)
{
    put_number(text, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void put_unsigned(struct text *text, uint64_t value)
{
    put_number(text, false, value);
}

/* Writes a number that snprintf has made, with a point in place of the decimal point of the locale.
 * The decimal point of a locale may be any text. */
static void put_with_point(struct text *text, const char *number)
{
    static const char plain[] = "0123456789+-e";
    size_t whole = strspn(number, plain);
    json_put(text, number, whole);
    number += whole;
    bool has_point = *number != '\0';
    if (has_point) {
        put_string(text, ".");
        number += strcspn(number, plain);
        put_string(text, number);
    }
    /* Add a point. Without it other readers would read an integer, and minus zero would lose its
     * sign. */
    if (!has_point && strchr(number - whole, 'e') == NULL)
        put_string(text, ".0");
}

/* Powers of ten, up to the most decimal places that write_short tries. */
static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
#define PLACES_MAX (sizeof(powers) / sizeof(*powers) - 1)

/* Writes a number that has few decimal places, as most numbers have, without searching for its
 * shortest form. Returns the length of the text, or 0 if the number has too many decimal places.
 *
 * Two different decimal numbers of up to `digits` digits never round to the same float or double.
 * So the first text that reads back as `value` is the shortest one. To find out what a text reads
 * back as, the function divides the numerator by a power of ten. A double represents both exactly,
 * so a reader gets the same quotient. */
static size_t write_short(char *to, double value, int digits)
{
    double size = fabs(value);
    size_t sign = signbit(value) ? 1 : 0;
    bool is_narrow = digits < 10;
    double limit = is_narrow ? 1e6 : 1e15;
    if (FLT_EVAL_METHOD != 0 || size >= limit || (size < 1e-4 && size > 0))
        return 0;
    for (size_t places = 0; places <= PLACES_MAX; places++) {
        double scaled = size * powers[places] + 0.5;
        if (scaled >= limit)
            return 0;
        uint64_t numerator = (uint64_t)scaled;
        double back = (double)numerator / powers[places];
        if (is_narrow ? (float)back != (float)size : back != size)
            continue;
        uint64_t power = (uint64_t)powers[places];
        uint64_t whole = numerator / power;
        size_t length = count_digits(whole);
        to[0] = '-';
        write_digits(to + sign, whole, length);
        length += sign;
        to[length++] = '.';
        /* The digits of power + fraction are a 1, which is not copied, and then the digits of the
         * fraction with its leading zeros. */
        char fraction[NUMBER_MAX];
        write_digits(fraction, power + numerator % power, places + 1);
        if (places == 0)
            fraction[1] = '0';
        size_t shown = places == 0 ? 1 : places;
        memcpy(to + length, fraction + 1, shown);
        return length + shown;
    }
    return 0;
}

/* Writes the shortest text that reads back as the same number. If the number is NaN or infinite,
 * sets a fault and returns false. */
static bool put_float(struct text *text, double value, int digits, int digits_exact)
{
    char number[NUMBER_MAX];
    if (!isfinite(value))
        return FAULT(text->error, TR_BAD_DATA, text->length, "JSON has no NaN and no infinity");
    size_t length = write_short(number, value, digits);
    if (length > 0) {
        json_put(text, number, length);
        return true;
    }
    for (; digits <= digits_exact; digits++) {
        snprintf(number, sizeof(number), "%.*g", digits, value);
        double back = strtod(number, NULL);
        if (digits_exact < 10 ? (float)back == (float)value : back == value)
            break;
    }
    put_with_point(text, number);
    return true;
}

static void put_escaped(struct text *text, unsigned char byte)
{
    /* The letters of the escapes for the bytes 0x08 to 0x0d. There is no letter for 0x0b. */
    static const char letters[] = "btn.fr";
    char escape[8];
    if (byte == '"' || byte == '\\')
        snprintf(escape, sizeof(escape), "\\%c", byte);
    else if (byte >= 0x08 && byte <= 0x0d && byte != 0x0b)
        snprintf(escape, sizeof(escape), "\\%c", letters[byte - 0x08]);
    else
        snprintf(escape, sizeof(escape), "\\u%04x", byte);
    put_string(text, escape);
}

static bool put_quoted(struct text *text, const char *string)
{
    if (string == NULL) {
        put_string(text, "null");
        return true;
    }
    size_t size = strnlen(string, TR_PAYLOAD_MAX);
    if (size >= TR_PAYLOAD_MAX)
        return FAULT(text->error, TR_TOO_LARGE, text->length, "a str is too long");
    text->behind += size + 1;
    if (json_plain_span((const unsigned char *)string, size) == size) {
        char *place = json_take(text, size + 2);
        if (place != NULL) {
            place[0] = '"';
            copy_short(place + 1, string, size);
            place[size + 1] = '"';
            return true;
        }
    }
    size_t good = utf8_span((const unsigned char *)string, size);
    if (good != size)
        return FAULT(
            text->error, TR_BAD_DATA, text->length, "byte %zu of a str is not UTF-8", good);
    put_string(text, "\"");
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)string[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        json_put(text, string + from, i - from);
        put_escaped(text, byte);
        from = i + 1;
    }
    json_put(text, string + from, size - from);
    put_string(text, "\"");
    return true;
}

static bool put_base64(struct text *text, const void *data, size_t size)
{
    if (size > TR_PAYLOAD_MAX)
        return FAULT(text->error, TR_TOO_LARGE, text->length, "a bytes value is too long");
    if (size > 0 && data == NULL)
        return FAULT(text->error,
                     TR_BAD_DATA,
                     text->length,
                     "a bytes value has size %zu but a NULL pointer",
                     size);
    const unsigned char *bytes = data;
    put_string(text, "\"");
    text->behind += size + COPY_ALIGNMENT;
    char *place = json_take(text, BASE64_SIZE(size));
    if (place != NULL && size > 0)
        (void)base64_write(place, bytes, size);
    for (size_t i = 0; i < size && place == NULL; i += 3) {
        char group[4];
        (void)base64_write(group, bytes + i, size - i < 3 ? size - i : 3);
        json_put(text, group, sizeof(group));
    }
    put_string(text, "\"");
    return true;
}

static void put_ref(struct text *text, uint64_t bits)
{
    char ref[NUMBER_MAX];
    snprintf(ref, sizeof(ref), bits == 0 ? "null" : "\"0x%" PRIx64 "\"", bits);
    put_string(text, ref);
}

static bool put_message(struct text *text, const tr_type *type, const char *message,
                        unsigned depth);

/* The value of this type at the address `value`, which need not be aligned. */
#define VALUE(type) (*(type *)memcpy(&(type){0}, value, sizeof(type)))

static void put_integer(struct text *text, const tr_field *field, const char *value)
{
    size_t size = field->item_size;
    if (field->kind >= TR_KIND_U8)
        put_unsigned(text,
                     size == 1   ? VALUE(uint8_t)
                     : size == 2 ? VALUE(uint16_t)
                     : size == 4 ? VALUE(uint32_t)
                                 : VALUE(uint64_t));
    else
        put_signed(text,
                   size == 1   ? VALUE(int8_t)
                   : size == 2 ? VALUE(int16_t)
                   : size == 4 ? VALUE(int32_t)
                               : VALUE(int64_t));
}

static bool put_value(struct text *text, const tr_field *field, const char *value, unsigned depth)
{
    switch ((tr_kind)field->kind) {
    case TR_KIND_BOOL:
        json_put(text, VALUE(unsigned char) ? "true" : "false", VALUE(unsigned char) ? 4 : 5);
        return true;
    case TR_KIND_I8:
    case TR_KIND_I16:
    case TR_KIND_I32:
    case TR_KIND_I64:
    case TR_KIND_U8:
    case TR_KIND_U16:
    case TR_KIND_U32:
    case TR_KIND_U64:
        put_integer(text, field, value);
        return true;
    case TR_KIND_F32:
        return put_float(text, (double)VALUE(float), 6, 9);
    case TR_KIND_F64:
        return put_float(text, VALUE(double), 15, 17);
    case TR_KIND_STR:
        return put_quoted(text, VALUE(const char *));
    case TR_KIND_BYTES:
        return put_base64(text, VALUE(tr_bytes).data, VALUE(tr_bytes).size);
    case TR_KIND_BUFFER: {
        tr_buffer *buffer = VALUE(tr_buffer *);
        if (buffer != NULL)
            return put_base64(text, tr_buffer_data(buffer), tr_buffer_size(buffer));
        put_string(text, "null");
        return true;
    }
    case TR_KIND_REF:
        put_ref(text, VALUE(uint64_t));
        return true;
    case TR_KIND_MESSAGE:
        return put_message(text, field->message, value, depth + 1);
    }
    TR_NOT_REACHED("a field of an unknown kind");
}

/* Writes arrays and lists. */
static bool put_values(struct text *text, const tr_field *field, struct field_values values,
                       unsigned depth)
{
    if (values.items == NULL && values.count > 0)
        return FAULT(text->error,
                     TR_BAD_DATA,
                     text->length,
                     "a list has %zu items but a NULL pointer",
                     values.count);
    if (values.count > TR_PAYLOAD_MAX / field->item_size)
        return FAULT(text->error, TR_TOO_LARGE, text->length, "a list is too long");
    text->behind += values.count * field->item_size + COPY_ALIGNMENT;
    json_put(text, "[", 1);
    for (size_t i = 0; i < values.count; i++) {
        if (i > 0)
            json_put(text, ",", 1);
        if (!put_value(text, field, values.items + i * field->item_size, depth))
            return FAULT_IN_ITEM(text->error, i);
    }
    put_string(text, "]");
    return true;
}

static bool put_field(struct text *text, const tr_field *field, const char *message, unsigned depth)
{
    if (LIKELY(field->shape == TR_SHAPE_ONE))
        return put_value(text, field, message + field->offset, depth);
    struct field_values values = tr__field_values(field, message);
    if (field->shape == TR_SHAPE_ARRAY || field->shape == TR_SHAPE_LIST)
        return put_values(text, field, values, depth);
    if (values.count == 0) {
        put_string(text, "null");
        return true;
    }
    if (field->shape == TR_SHAPE_OPTIONAL && value_is_nil(field, values.items)) {
        put_string(text, "[null]");
        return true;
    }
    return put_value(text, field, values.items, depth);
}

/* Writes the name of a field and a colon. Writes a comma before the name, unless the field is the
 * first. */
static void put_name(struct text *text, const char *name, bool is_first)
{
    size_t size = strlen(name);
    char *place = json_take(text, size + (is_first ? 3 : 4));
    if (LIKELY(place != NULL)) {
        if (!is_first)
            *place++ = ',';
        place[0] = '"';
        copy_short(place + 1, name, size);
        place[size + 1] = '"';
        place[size + 2] = ':';
        return;
    }
    put_string(text, is_first ? "\"" : ",\"");
    put_string(text, name);
    put_string(text, "\":");
}

static bool put_message(struct text *text, const tr_type *type, const char *message, unsigned depth)
{
    if (depth > TR_DEPTH_MAX)
        return FAULT(text->error, TR_TOO_DEEP, text->length, "messages are nested too deep");
    json_put(text, "{", 1);
    for (size_t i = 0; i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        put_name(text, field->name, i == 0);
        if (text->is_shown && tr__field_is_secret(type, field)) {
            json_put(text, "\"...\"", 5);
            continue;
        }
        if (!put_field(text, field, message, depth))
            return FAULT_IN_FIELD(text->error, field->name);
    }
    put_string(text, "}");
    return true;
}

static bool write_document(struct text *text, const tr_type *type, const void *message)
{
    if (type == NULL || message == NULL || type->abi != TR_ABI ||
        (text->buffer == NULL && text->size > 0))
        return FAULT(text->error,
                     TR_INVALID_ARGUMENT,
                     0,
                     "invalid argument: NULL, or an unknown descriptor");
    TR_ASSERT_SLOW(tr__type_is_valid(type, NULL));
    if (!put_message(text, type, message, 0))
        return false;
    /* Measure the message only if it may be too large, because measuring costs time. */
    bool may_be_large = text->behind + type->size > TR_PAYLOAD_MAX;
    if (text->length > TR_PAYLOAD_MAX || (may_be_large && tr__copy_size(type, message) == SIZE_MAX))
        return FAULT(text->error, TR_TOO_LARGE, text->length, "the message is too large");
    return true;
}

static size_t json_write(struct text *text, const tr_type *type, const void *message)
{
    if (!write_document(text, type, message))
        text->length = 0;
    if (text->buffer != NULL && text->size > 0)
        text->buffer[text->length < text->size ? text->length : text->size - 1] = '\0';
    return text->length;
}

size_t tr_json_write(const tr_type *type, const void *message, char *buffer, size_t size,
                     tr_wire_error *error)
{
    tr_wire_error unasked;
    struct text text = {.buffer = buffer, .size = size, .error = error == NULL ? &unasked : error};
    return json_write(&text, type, message);
}

size_t tr__json_show(const tr_type *type, const void *message, char *buffer, size_t size)
{
    tr_wire_error unasked;
    struct text text = {.buffer = buffer, .size = size, .error = &unasked, .is_shown = true};
    return json_write(&text, type, message);
}
