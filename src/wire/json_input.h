/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A document of JSON (RFC 8259) that is being read: spaces, texts, numbers, and values to skip.
 *
 * Rule 1: no byte at or behind `end` is looked at.
 * Rule 2: a text or number is scanned once, with all that can be wrong with it; then it is decoded.
 *
 * For json_read.c, which puts it into messages.
 */
#ifndef WIRE_JSON_INPUT_H
#define WIRE_JSON_INPUT_H

#include "wire/fill.h"

typedef const unsigned char *json_place;

struct json_input {
    json_place begin;
    json_place end;
    tr_wire_error *error;
    struct fill *fill;
};

/** A text that was scanned: between its quotes, and decoded. */
struct json_text {
    json_place begin;
    json_place end;
    size_t size;   /* of the decoded text, in bytes */
    bool is_plain; /* without escapes: it is its own decoded text */
};

/** A number that was scanned. */
struct json_number {
    json_place begin;
    json_place end;
    bool is_integer; /* has neither fraction nor exponent */
};

static inline size_t json_offset(const struct json_input *in, json_place at)
{
    return (size_t)(at - in->begin);
}

/** The byte at a place, or 0, which JSON has nowhere, at the end of the document. */
static inline unsigned json_byte(const struct json_input *in, json_place at)
{
    return at < in->end ? *at : 0;
}

/** The next place that is no space. */
static inline json_place json_space(const struct json_input *in, json_place at)
{
    while (at < in->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

__attribute__((__cold__)) void tr__json_expected(struct json_input *in, json_place at,
                                                 const char *expected);
/** Something else is expected than what is at `at`. NULL, as all faults are. */
#define JSON_EXPECTED(in, at, expected) (tr__json_expected(in, at, expected), NULL)

/** Passes a word: true, false, null. */
json_place tr__json_word(struct json_input *in, json_place at, const char *word);

/** Scans a text, whose quote is at `at`. */
json_place tr__json_text(struct json_input *in, json_place at, struct json_text *text);

/** Decodes the next character of a text; returns the place behind it. */
json_place tr__json_character(json_place at, uint32_t *character);

/** Writes the decoded bytes of a text, all text->size of them. */
void tr__json_decode(const struct json_text *text, char *to);

/** Scans a number. */
json_place tr__json_number(struct json_input *in, json_place at, struct json_number *number);

/** Skips one value, which may hold others `depth` deep. */
json_place tr__json_skip(struct json_input *in, json_place at, unsigned depth);

/** Counts the items of an array, whose bracket is at `at`, and returns the place behind it. */
json_place tr__json_count(struct json_input *in, json_place at, unsigned depth, size_t *count);

#endif
