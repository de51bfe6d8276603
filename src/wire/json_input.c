/* SPDX-License-Identifier: Apache-2.0 */
/** The tokens of JSON: texts, numbers, words, and values that are skipped. */
#include "wire/json_input.h"

#include "wire/fault.h"
#include "wire/utf8.h"

static bool is_digit(unsigned byte)
{
    return byte >= '0' && byte <= '9';
}

static const char *name_of_value(unsigned byte)
{
    switch (byte) {
    case '{':
        return "an object";
    case '[':
        return "an array";
    case '"':
        return "a string";
    case 't':
    case 'f':
        return "a bool";
    case 'n':
        return "null";
    default:
        return byte == '-' || is_digit(byte) ? "a number" : NULL;
    }
}

/* Sets a fault whose text says that the byte at `at` is unexpected and that `expected` should be
 * there. */
static void expected_byte(struct json_input *in, json_place at, const char *expected)
{
    size_t offset = json_offset(in, at);
    unsigned byte = json_byte(in, at);
    if (at >= in->end)
        tr__fault_set(in->error, TR_BAD_DATA, offset, "unexpected end of the document");
    else if (byte > 0x20 && byte < 0x7f)
        tr__fault_set(in->error, TR_BAD_DATA, offset, "%s is expected, not '%c'", expected, byte);
    else
        tr__fault_set(
            in->error, TR_BAD_DATA, offset, "%s is expected, not byte 0x%02x", expected, byte);
}

void tr__json_expected(struct json_input *in, json_place at, const char *expected)
{
    const char *name = at < in->end ? name_of_value(json_byte(in, at)) : NULL;
    if (name == NULL)
        expected_byte(in, at, expected);
    else
        tr__fault_set(
            in->error, TR_BAD_DATA, json_offset(in, at), "%s is expected, not %s", expected, name);
}

json_place tr__json_word(struct json_input *in, json_place at, const char *word)
{
    size_t length = strlen(word);
    size_t left = (size_t)(in->end - at);
    for (size_t i = 0; i < length; i++) {
        if (i == left || at[i] != (unsigned char)word[i]) {
            expected_byte(in, at + i, word);
            return NULL;
        }
    }
    return at + length;
}

static unsigned hex_value(unsigned byte)
{
    if (is_digit(byte))
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : 16;
}

/* Returns the value of four hexadecimal digits. Returns more than 0xffff if a byte is not a
 * hexadecimal digit. The document must have four bytes at `at`. */
static uint32_t hex_unit(json_place at)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = hex_value(at[i]);
        if (digit > 15)
            return UINT32_MAX;
        unit = unit << 4 | digit;
    }
    return unit;
}

static bool is_high_surrogate(uint32_t unit)
{
    return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low_surrogate(uint32_t unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

/* Scans the escape whose backslash is at `at`, and adds to *size how many bytes its character has
 * in UTF-8. */
static json_place scan_escape(struct json_input *in, json_place at, size_t *size)
{
    size_t left = (size_t)(in->end - at);
    unsigned letter = json_byte(in, at + 1);
    if (letter != 'u') {
        if (letter == 0 || strchr("\"\\/bfnrt", (int)letter) == NULL)
            return at + 1 < in->end
                       ? FAULT(
                             in->error, TR_BAD_DATA, json_offset(in, at), "unknown escape sequence")
                       : JSON_EXPECTED(in, at + 1, "an escape");
        *size += 1;
        return at + 2;
    }
    uint32_t unit = left < 6 ? UINT32_MAX : hex_unit(at + 2);
    if (unit > UINT16_MAX)
        return FAULT(
            in->error, TR_BAD_DATA, json_offset(in, at), "\\u needs four hexadecimal digits");
    if (unit == 0)
        return FAULT(in->error, TR_BAD_DATA, json_offset(in, at), "a string contains a NUL");
    if (is_high_surrogate(unit) && left >= 12 && at[6] == '\\' && at[7] == 'u' &&
        is_low_surrogate(hex_unit(at + 8))) {
        *size += 4;
        return at + 12;
    }
    if (is_high_surrogate(unit) || is_low_surrogate(unit))
        return FAULT(
            in->error, TR_BAD_DATA, json_offset(in, at), "one half of a surrogate pair is missing");
    *size += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    return at + 6;
}

json_place tr__json_text(struct json_input *in, json_place at, struct json_text *text)
{
    if (json_byte(in, at) != '"')
        return JSON_EXPECTED(in, at, "a string");
    at++;
    size_t plain = json_plain_span(at, (size_t)(in->end - at));
    *text = (struct json_text){.begin = at, .end = at + plain, .size = plain, .is_plain = true};
    at += plain;
    if (__builtin_expect(at < in->end && *at == '"', 1))
        return at + 1;
    while (at < in->end && *at != '"') {
        if (*at == '\\') {
            text->is_plain = false;
            at = scan_escape(in, at, &text->size);
            if (at == NULL)
                return NULL;
            continue;
        }
        size_t length = *at < 0x20 ? 0 : tr__utf8_character(at, (size_t)(in->end - at));
        if (length == 0)
            return FAULT(in->error,
                         TR_BAD_DATA,
                         json_offset(in, at),
                         *at < 0x20 ? "a string contains a control character" : "not UTF-8");
        text->size += length;
        at += length;
    }
    if (at == in->end)
        return JSON_EXPECTED(in, at, "the end of a string");
    text->end = at;
    return at + 1;
}

json_place tr__json_character(json_place at, uint32_t *character)
{
    if (*at != '\\') {
        *character = *at;
        return at + 1;
    }
    switch (at[1]) {
    case 'b':
        *character = '\b';
        break;
    case 'f':
        *character = '\f';
        break;
    case 'n':
        *character = '\n';
        break;
    case 'r':
        *character = '\r';
        break;
    case 't':
        *character = '\t';
        break;
    case 'u': {
        uint32_t unit = hex_unit(at + 2);
        *character = unit;
        if (!is_high_surrogate(unit))
            return at + 6;
        uint32_t low = hex_unit(at + 8);
        *character = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        return at + 12;
    }
    default:
        *character = at[1];
        break;
    }
    return at + 2;
}

static size_t json_encode(uint32_t character, char *to)
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (character & 0x3f));
        character >>= 6;
    }
    to[0] = (char)(heads[length] | character);
    return length;
}

void tr__json_decode(const struct json_text *text, char *to)
{
    if (text->is_plain) {
        copy_short(to, text->begin, text->size);
        return;
    }
    for (json_place at = text->begin; at < text->end;) {
        uint32_t character;
        bool is_escape = *at == '\\';
        at = tr__json_character(at, &character);
        if (is_escape)
            to += json_encode(character, to);
        else
            *to++ = (char)character; /* A byte of UTF-8 is copied unchanged. */
    }
}

/* Scans at least one digit. */
static json_place scan_digits(struct json_input *in, json_place at)
{
    if (!is_digit(json_byte(in, at)))
        return JSON_EXPECTED(in, at, "a digit");
    while (is_digit(json_byte(in, at)))
        at++;
    return at;
}

json_place tr__json_number(struct json_input *in, json_place at, struct json_number *number)
{
    *number = (struct json_number){.begin = at, .is_integer = true};
    unsigned first = json_byte(in, at);
    if (first != '-' && !is_digit(first))
        return JSON_EXPECTED(in, at, "a number");
    at += first == '-';
    bool is_zero = json_byte(in, at) == '0';
    at = scan_digits(in, at);
    if (at == NULL)
        return NULL;
    if (is_zero && at - number->begin > (first == '-' ? 2 : 1))
        return FAULT(in->error, TR_BAD_DATA, json_offset(in, number->begin), "a leading zero");
    if (json_byte(in, at) == '.') {
        number->is_integer = false;
        at = scan_digits(in, at + 1);
        if (at == NULL)
            return NULL;
    }
    if ((json_byte(in, at) | 0x20) == 'e') {
        number->is_integer = false;
        at++;
        at += json_byte(in, at) == '+' || json_byte(in, at) == '-';
        at = scan_digits(in, at);
        if (at == NULL)
            return NULL;
    }
    number->end = at;
    return at;
}

/* Skips the comma after an item. If the end of the array or object comes instead, skips that and
 * sets *is_last. */
static json_place skip_comma(struct json_input *in, json_place at, unsigned char close,
                             bool *is_last)
{
    at = json_space(in, at);
    unsigned byte = json_byte(in, at);
    *is_last = byte == close;
    if (byte != ',' && byte != close)
        return JSON_EXPECTED(in, at, close == ']' ? "',' or ']'" : "',' or '}'");
    return *is_last ? at + 1 : json_space(in, at + 1);
}

static json_place skip_object(struct json_input *in, json_place at, unsigned depth)
{
    bool is_last = false;
    at = json_space(in, at + 1);
    if (json_byte(in, at) == '}')
        return at + 1;
    while (at != NULL && !is_last) {
        struct json_text name;
        at = tr__json_text(in, at, &name);
        if (at == NULL)
            return NULL;
        at = json_space(in, at);
        if (json_byte(in, at) != ':')
            return JSON_EXPECTED(in, at, "':'");
        at = tr__json_skip(in, json_space(in, at + 1), depth);
        if (at != NULL)
            at = skip_comma(in, at, '}', &is_last);
    }
    return at;
}

json_place tr__json_count(struct json_input *in, json_place at, unsigned depth, size_t *count)
{
    bool is_last = false;
    *count = 0;
    at = json_space(in, at + 1);
    if (json_byte(in, at) == ']')
        return at + 1;
    while (at != NULL && !is_last) {
        *count += 1;
        at = tr__json_skip(in, at, depth);
        if (at != NULL)
            at = skip_comma(in, at, ']', &is_last);
    }
    return at;
}

json_place tr__json_skip(struct json_input *in, json_place at, unsigned depth)
{
    struct json_text text;
    struct json_number number;
    size_t count;
    unsigned byte = json_byte(in, at);
    if ((byte == '{' || byte == '[') && depth == 0)
        return FAULT(in->error, TR_TOO_DEEP, json_offset(in, at), "values are nested too deep");
    switch (byte) {
    case '{':
        return skip_object(in, at, depth - 1);
    case '[':
        return tr__json_count(in, at, depth - 1, &count);
    case '"':
        return tr__json_text(in, at, &text);
    case 't':
        return tr__json_word(in, at, "true");
    case 'f':
        return tr__json_word(in, at, "false");
    case 'n':
        return tr__json_word(in, at, "null");
    default:
        if (byte != '-' && !is_digit(byte))
            return JSON_EXPECTED(in, at, "a value");
        return tr__json_number(in, at, &number);
    }
}
