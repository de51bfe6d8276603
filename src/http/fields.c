/* SPDX-License-Identifier: Apache-2.0 */
#include "http/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tr__http_field_takes_text(const tr_field *field)
{
    if (field->shape != TR_SHAPE_ONE && field->shape != TR_SHAPE_OPTIONAL)
        return false;
    return field->kind <= TR_KIND_STR;
}

/*
 * Reads a number: digits. With `is_signed`, a minus may be before them. Returns false if the text
 * is no number, or if the number is too large.
 */
static bool read_integer(const char *text, bool is_signed, bool *is_negative, uint64_t *value)
{
    *is_negative = is_signed && *text == '-';
    text += *is_negative;
    *value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || *value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

static bool set_integer(const tr_field *field, void *to, const char *text)
{
    bool is_signed = field->kind <= TR_KIND_I64;
    unsigned bits = 8 * (unsigned)field->item_size;
    uint64_t max = is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    bool is_negative;
    uint64_t value;
    if (!read_integer(text, is_signed, &is_negative, &value) || value > max + is_negative)
        return false;
    if (is_negative)
        value = 0 - value;
    /* copy the lowest bytes, which come first on a little-endian processor */
    memcpy(to, &value, field->item_size);
    return true;
}

static bool set_float(const tr_field *field, void *to, const char *text)
{
    static const char digits[] = "0123456789+-.eE";
    char *end;
    if (!*text || strspn(text, digits) != strlen(text))
        return false;
    double value = strtod(text, &end);
    float narrow = (float)value;
    if (*end || !isfinite(value))
        return false;
    if (field->kind == TR_KIND_F64) {
        memcpy(to, &value, sizeof value);
        return true;
    }
    memcpy(to, &narrow, sizeof narrow);
    return isfinite(narrow);
}

static bool set_bool(void *to, const char *text)
{
    bool value = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!value && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
        return false;
    memcpy(to, &value, sizeof value);
    return true;
}

static bool set_value(const tr_field *field, void *to, const char *text, const char **wanted)
{
    switch ((tr_kind)field->kind) {
    case TR_KIND_BOOL:
        *wanted = "true or false";
        return set_bool(to, text);
    case TR_KIND_I8:
    case TR_KIND_I16:
    case TR_KIND_I32:
    case TR_KIND_I64:
        *wanted = "an integer that fits";
        return set_integer(field, to, text);
    case TR_KIND_U8:
    case TR_KIND_U16:
    case TR_KIND_U32:
    case TR_KIND_U64:
        *wanted = "an integer that fits, without a sign";
        return set_integer(field, to, text);
    case TR_KIND_F32:
    case TR_KIND_F64:
        *wanted = "a number";
        return set_float(field, to, text);
    case TR_KIND_STR:
        memcpy(to, &text, sizeof text);
        return true;
    case TR_KIND_BYTES:
    case TR_KIND_BUFFER:
    case TR_KIND_REF:
    case TR_KIND_MESSAGE:
        break;
    }
    *wanted = "given in the body";
    return false;
}

bool tr__http_field_set(const tr_field *field, void *message, const char *text, const char **wanted)
{
    char *member = (char *)message + field->offset;
    *wanted = "given in the body";
    if (!tr__http_field_takes_text(field))
        return false;
    if (field->shape == TR_SHAPE_OPTIONAL) {
        if (!set_value(field, member + field->size - field->item_size, text, wanted))
            return false;
        *(bool *)(void *)member = true;
        return true;
    }
    return set_value(field, member, text, wanted);
}
