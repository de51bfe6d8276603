/* SPDX-License-Identifier: Apache-2.0 */
/**
 * UTF-8: lengths of characters, by the table of well-formed sequences (Unicode, table 3-7).
 */
#include "wire/utf8.h"

#include <stdbool.h>

static bool is_continued(const unsigned char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return false;
    }
    return true;
}

size_t tr__utf8_character(const unsigned char *text, size_t size)
{
    unsigned char first = text[0];
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length > size)
        return 0;
    /*
     * After some first bytes the range of the second byte is narrower: overlong forms, surrogates,
     * too high.
     */
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < low || text[1] > high)
        return 0;
    return is_continued(text, 2, length) ? length : 0;
}

size_t tr__utf8_span_slow(const unsigned char *text, size_t size)
{
    size_t at = 0;
    while (at < size && text[at] != '\0') {
        size_t length = tr__utf8_character(text + at, size - at);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}
