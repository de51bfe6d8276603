/* SPDX-License-Identifier: Apache-2.0 */
/**
 * UTF-8: finds the lengths of characters, by the table of well-formed sequences (Unicode, table
 * 3-7).
 */
#include "wire/utf8.h"

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
    /* After some first bytes, fewer second bytes are allowed. This excludes overlong forms,
     * surrogates, and characters above U+10FFFF. */
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

/* The bytes that may come next inside a character, for each state. In the states 1 to 3, that many
 * ordinary continuation bytes must follow. In the other states the second byte of the character
 * must follow. Its range is narrower, which excludes overlong forms, surrogates, and characters
 * above U+10FFFF. */
static const struct {
    unsigned char low;
    unsigned char high;
    unsigned char next;
} steps[] = {
    {0, 0, 0},
    {0x80, 0xbf, 0},
    {0x80, 0xbf, 1},
    {0x80, 0xbf, 2},
    {0xa0, 0xbf, 1} /* E0 */,
    {0x80, 0x9f, 1} /* ED */,
    {0x90, 0xbf, 2} /* F0 */,
    {0x80, 0x8f, 2} /* F4 */,
};

/* Returns the state after the first byte of a character that is not ASCII, or 0 if no character
 * begins with this byte. */
static unsigned char first_step(unsigned char byte)
{
    if (byte < 0xc2 || byte > 0xf4)
        return 0;
    if (byte < 0xe0)
        return 1;
    if (byte < 0xf0)
        return byte == 0xe0 ? 4 : byte == 0xed ? 5 : 2;
    return byte == 0xf0 ? 6 : byte == 0xf4 ? 7 : 3;
}

/* Returns how many bytes at the beginning are ASCII. Checks 16 bytes at a time, then single
 * bytes. */
static size_t ascii_span(const unsigned char *text, size_t size)
{
    const uint64_t highs = UINT64_C(0x8080808080808080);
    size_t at = 0;
    uint64_t words[2];
    for (; size - at >= sizeof(words); at += sizeof(words)) {
        memcpy(words, text + at, sizeof(words));
        if ((words[0] | words[1]) & highs)
            break;
    }
    while (at < size && text[at] < 0x80)
        at++;
    return at;
}

bool tr__utf8_portion(unsigned char *state, const unsigned char *text, size_t size)
{
    unsigned char now = *state;
    for (size_t at = 0; at < size; at++) {
        if (now == 0) {
            at += ascii_span(text + at, size - at);
            if (at == size)
                break;
            now = first_step(text[at]);
            if (now == 0)
                return false;
            continue;
        }
        if (text[at] < steps[now].low || text[at] > steps[now].high)
            return false;
        now = steps[now].next;
    }
    *state = now;
    return true;
}
