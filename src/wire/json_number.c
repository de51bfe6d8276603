/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads numbers. Common numbers are read in one pass, all others with the scanner of json_input.h.
 */
#include "wire/json_number.h"

#include "wire/fault.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* A number of this many digits cannot overflow 64 bits. */
#define DIGITS_SAFE 18

/* Parses the digits of an integer, after its sign. Returns false if it needs more than 64 bits. */
static bool parse_digits(json_place at, json_place end, uint64_t *value)
{
    *value = 0;
    for (; at < end; at++) {
        unsigned digit = *at - '0';
        if (*value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

/* Sets the fault that an integer does not fit the field. The error text names the range of the
 * field's kind. */
static json_place out_of_range(struct json_input *in, json_place at, unsigned kind)
{
    struct integer_range range = integer_range_of(kind);
    return FAULT(in->error,
                 TR_BAD_DATA,
                 json_offset(in, at),
                 "an integer from %" PRId64 " to %" PRIu64 " is expected",
                 range.least,
                 range.greatest);
}

static NO_INLINE json_place read_integer(struct json_input *in, json_place at,
                                         const tr_field *field, char *to)
{
    struct json_number number;
    /* A 64-bit integer may come as a text, because the numbers of some languages have fewer
     * bits. */
    bool is_quoted = field->item_size == sizeof(uint64_t) && json_byte(in, at) == '"';
    unsigned first = json_byte(in, at + is_quoted);
    if (first != '-' && (first < '0' || first > '9'))
        /* Place the fault at the quote, not at the number behind it. */
        return JSON_EXPECTED(in, at, "an integer");
    json_place next = tr__json_number(in, at + is_quoted, &number);
    if (next == NULL)
        return NULL;
    if (is_quoted && json_byte(in, next) != '"')
        return JSON_EXPECTED(in, at, "an integer");
    if (!number.is_integer)
        return FAULT(in->error,
                     TR_BAD_DATA,
                     json_offset(in, at),
                     "an integer is expected, without a fraction or an exponent");
    bool has_minus = *number.begin == '-';
    uint64_t bits;
    bool fits = parse_digits(number.begin + has_minus, number.end, &bits);
    bool is_negative = has_minus && bits > 0;
    fits = fits && (!is_negative || bits <= (uint64_t)INT64_MAX + 1);
    bits = is_negative ? 0 - bits : bits;
    if (!fits || !integer_fits(field->kind, bits, is_negative))
        return out_of_range(in, at, field->kind);
    integer_store(to, field->item_size, bits);
    return next + is_quoted;
}

/* Uses strtod_l with the C locale, because strtod expects the decimal point of the current
 * locale. */
static bool parse_float(const struct json_number *number, double *value)
{
    char text[TR_JSON_NUMBER_MAX + 1];
    size_t length = (size_t)(number->end - number->begin);
    memcpy(text, number->begin, length);
    text[length] = '\0';
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return false;
    *value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return true;
}

static NO_INLINE json_place read_float(struct json_input *in, json_place at, const tr_field *field,
                                       char *to)
{
    struct json_number number;
    json_place next = tr__json_number(in, at, &number);
    if (next == NULL)
        return NULL;
    if (next - at > TR_JSON_NUMBER_MAX)
        return FAULT(in->error,
                     TR_TOO_LARGE,
                     json_offset(in, at),
                     "a number has more than %d characters",
                     TR_JSON_NUMBER_MAX);
    double value;
    if (!parse_float(&number, &value))
        return FAULT(in->error, TR_NO_MEMORY, json_offset(in, at), "no memory for a locale");
    float narrow = (float)value;
    bool is_narrow = field->kind == TR_KIND_F32;
    if (isinf(is_narrow ? (double)narrow : value))
        return FAULT(
            in->error, TR_BAD_DATA, json_offset(in, at), "the number is too large for its field");
    if (to != NULL && is_narrow)
        memcpy(to, &narrow, sizeof(narrow));
    else if (to != NULL)
        memcpy(to, &value, sizeof(value));
    return next;
}

/* Reads up to `most` digits, and appends them to the decimal number *value. Returns the place after
 * the last digit. */
static INLINE json_place pass_digits(const struct json_input *in, json_place at, size_t most,
                                     uint64_t *value)
{
    json_place end = (size_t)(in->end - at) < most ? in->end : at + most;
    uint64_t sum = *value;
    for (; at < end; at++) {
        unsigned digit = *at - '0';
        if (digit > 9)
            break;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return at;
}

/* Whether the digits before a decimal point are valid in JSON. There must be at least one digit. If
 * there are several, the first must not be zero. */
static INLINE bool is_whole_good(json_place digits, json_place end)
{
    return end > digits && (*digits != '0' || end == digits + 1);
}

/* Whether this byte, which stands behind the digits that pass_digits has read, still belongs to the
 * number. If it does, the general reader (read_integer, read_float) must read the number. */
static INLINE bool goes_on(unsigned byte)
{
    return byte == '.' || (byte | 0x20) == 'e' || (byte >= '0' && byte <= '9');
}

json_place tr__json_integer(struct json_input *in, json_place at, const tr_field *field, char *to)
{
    bool has_minus = json_byte(in, at) == '-';
    uint64_t bits = 0;
    json_place digits = at + has_minus;
    json_place end = pass_digits(in, digits, DIGITS_SAFE, &bits);
    if (!is_whole_good(digits, end) || goes_on(json_byte(in, end)))
        return read_integer(in, at, field, to);
    bool is_negative = has_minus && bits > 0;
    bits = is_negative ? 0 - bits : bits;
    if (!integer_fits(field->kind, bits, is_negative))
        return out_of_range(in, at, field->kind);
    integer_store(to, field->item_size, bits);
    return end;
}

/* Powers of ten that a double represents exactly. */
static const double powers[] = {1e0,
                                1e1,
                                1e2,
                                1e3,
                                1e4,
                                1e5,
                                1e6,
                                1e7,
                                1e8,
                                1e9,
                                1e10,
                                1e11,
                                1e12,
                                1e13,
                                1e14,
                                1e15,
                                1e16,
                                1e17,
                                1e18};

/* Reads the digits as one integer, and divides it by a power of ten. If the integer is at most
 * 2^53, a double represents the integer and the power of ten exactly. Only the quotient is rounded
 * then, so it is the nearest double. All other numbers are read by read_float. */
json_place tr__json_float(struct json_input *in, json_place at, const tr_field *field, char *to)
{
    bool has_minus = json_byte(in, at) == '-';
    uint64_t whole = 0;
    json_place digits = at + has_minus;
    json_place end = pass_digits(in, digits, DIGITS_SAFE, &whole);
    size_t places = 0;
    if (!is_whole_good(digits, end))
        return read_float(in, at, field, to);
    if (json_byte(in, end) == '.') {
        json_place fraction = end + 1;
        end = pass_digits(in, fraction, DIGITS_SAFE - (size_t)(end - digits), &whole);
        places = (size_t)(end - fraction);
        if (places == 0)
            return read_float(in, at, field, to);
    }
    if (FLT_EVAL_METHOD != 0 || whole > UINT64_C(1) << 53 || goes_on(json_byte(in, end)))
        return read_float(in, at, field, to);
    double value = (double)whole / powers[places];
    value = has_minus ? -value : value;
    float narrow = (float)value;
    if (to != NULL && field->kind == TR_KIND_F32)
        memcpy(to, &narrow, sizeof(narrow));
    else if (to != NULL)
        memcpy(to, &value, sizeof(value));
    return end;
}
