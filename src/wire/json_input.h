/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A JSON document (RFC 8259) that is being read. The functions read spaces, texts and numbers, and
 * skip values. json_read.c uses them.
 *
 * Rules:
 * 1. No byte at or after `end` is read.
 * 2. A text or number is first scanned, which finds all its faults, and then decoded.
 */
#ifndef WIRE_JSON_INPUT_H
#define WIRE_JSON_INPUT_H

#include "base/hash.h"
#include "wire/fill.h"

typedef const unsigned char *json_place;

struct json_input {
    json_place begin;
    json_place end;
    tr_wire_error *error;
    struct fill *fill;
};

/** A scanned text: the place between its quotes, and the size of its decoded form. */
struct json_text {
    json_place begin;
    json_place end;
    size_t size;   /* size of the decoded text, in bytes */
    bool is_plain; /* the text has no escapes, so its decoded form has the same bytes */
};

/** A number that was scanned. */
struct json_number {
    json_place begin;
    json_place end;
    bool is_integer; /* the number has neither fraction nor exponent */
};

static inline size_t json_offset(const struct json_input *in, json_place at)
{
    return (size_t)(at - in->begin);
}

/**
 * Returns the byte at a place, or 0 at the end of the document. Valid JSON has no bytes that are 0.
 */
static inline unsigned json_byte(const struct json_input *in, json_place at)
{
    return at < in->end ? *at : 0;
}

/** Returns the place of the next byte that is no white space. */
static inline json_place json_space(const struct json_input *in, json_place at)
{
    if (__builtin_expect(at<in->end && * at> ' ', 1))
        return at;
    while (at < in->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/**
 * Looks in a word of eight bytes, whose first byte is the lowest, for the first byte that is not a
 * plain character. Not plain are a quote, a backslash, a control character and a byte that is not
 * ASCII. The lowest bit that is set in the result is the high bit of that byte. Higher bits of the
 * result have no meaning. Returns 0 if all bytes are plain.
 */
static inline uint64_t json_special(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = ones * 0x80;
    uint64_t quote = word ^ ones * '"';
    uint64_t slash = word ^ ones * '\\';
    return (((quote - ones) & ~quote) | ((slash - ones) & ~slash) | (word - ones * 0x20) | word) &
           highs;
}

/** Returns how many plain characters a text of `size` bytes has at its beginning. */
static inline size_t json_plain_span(const unsigned char *text, size_t size)
{
    size_t at = 0;
    for (; size - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
        uint64_t special = json_special(hash_load(text + at, sizeof(uint64_t)));
        if (special != 0)
            return at + (size_t)__builtin_ctzll(special) / 8;
    }
    while (at < size && text[at] >= 0x20 && text[at] < 0x80 && text[at] != '"' && text[at] != '\\')
        at++;
    return at;
}

__attribute__((__cold__)) void tr__json_expected(struct json_input *in, json_place at,
                                                 const char *expected);
/** Sets the fault that `expected` is missing at `at`. The value of the macro is NULL. */
#define JSON_EXPECTED(in, at, expected) (tr__json_expected(in, at, expected), NULL)

/** Whether the next four bytes at `at` exist and equal `four`. */
static inline bool json_has_four(const struct json_input *in, json_place at, const char *four)
{
    return in->end - at >= 4 && memcmp(at, four, 4) == 0;
}

/** Skips `word`, which is true, false or null. Returns NULL after a fault. */
json_place tr__json_word(struct json_input *in, json_place at, const char *word);

/** Scans a text whose opening quote is at `at`. */
json_place tr__json_text(struct json_input *in, json_place at, struct json_text *text);

/** Decodes the next character of a text. Returns the place after the character. */
json_place tr__json_character(json_place at, uint32_t *character);

/** Writes the decoded bytes of a text to `to`, which must have space for text->size bytes. */
void tr__json_decode(const struct json_text *text, char *to);

/** Scans a number. */
json_place tr__json_number(struct json_input *in, json_place at, struct json_number *number);

/** Skips one value, which may nest up to `depth` levels. */
json_place tr__json_skip(struct json_input *in, json_place at, unsigned depth);

/** Counts the items of an array whose bracket is at `at`. Returns the place after the array. */
json_place tr__json_count(struct json_input *in, json_place at, unsigned depth, size_t *count);

#endif
