/* SPDX-License-Identifier: Apache-2.0 */
/** UTF-8 as in the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef WIRE_UTF8_H
#define WIRE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * Returns the size of the character at `text`, or 0 if the character is malformed. The text has
 * `size` bytes, at least one.
 */
size_t tr__utf8_character(const unsigned char *text, size_t size);

/**
 * Returns the number of bytes before the first malformed character or NUL, or `size` if there is
 * none.
 */
size_t tr__utf8_span_slow(const unsigned char *text, size_t size);

/** As tr__utf8_span_slow, but fast for ASCII. */
static inline size_t utf8_span(const unsigned char *text, size_t size)
{
    const uint64_t highs = UINT64_C(0x8080808080808080);
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    /* the high bit of a byte is set if that byte of the text is NUL or not ASCII */
    uint64_t odd = 0;
    if (size >= sizeof(word)) {
        size_t at = 0;
        do { /* most texts have at most 16 bytes, which two overlapping words cover */
            memcpy(&word, text + at, sizeof(word));
            odd |= word | (word - ones);
            at += sizeof(word);
        } while (__builtin_expect(at + sizeof(word) < size, 0));
        memcpy(&word, text + size - sizeof(word), sizeof(word));
        odd |= word | (word - ones);
    } else {
        for (size_t at = 0; at < size; at++)
            odd |= text[at] | (text[at] - UINT64_C(1));
    }
    return (odd & highs) == 0 ? size : tr__utf8_span_slow(text, size);
}

/**
 * Checks a text that comes in portions. *state is 0 before the first portion. It is 0 again after
 * each portion that ends with a whole character. A NUL is allowed here. Returns false if the
 * portion has a byte that is not valid where it stands. *state is then undefined.
 */
bool tr__utf8_portion(unsigned char *state, const unsigned char *text, size_t size);

#endif
