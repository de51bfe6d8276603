/* SPDX-License-Identifier: Apache-2.0 */
/** Checks for what RFC 9112 and RFC 9110 forbid in a head. Pure functions. */
#ifndef HTTP_CHECK_H
#define HTTP_CHECK_H

#include <string.h>

#include "http/head.h"

/** For each byte that may be in a token: the byte in lower case. For all other bytes: 0. */
extern const unsigned char tr__http_token[256];

/*
 * Whether eight bytes are all at least 0x20 and not DEL. False may be wrong: then the caller must
 * check the bytes one by one.
 */
static inline bool http_word_is_clean(const char *text)
{
    static const uint64_t ones = 0x0101010101010101;
    static const uint64_t highs = 0x8080808080808080;
    uint64_t word;
    memcpy(&word, text, sizeof word);
    /* a high bit in has_low marks a byte below 0x20, and perhaps another byte */
    uint64_t has_low = (word - 0x20 * ones) & ~word;
    uint64_t other = word ^ 0x7f * ones;
    uint64_t has_delete = (other - ones) & ~other;
    return !((has_low | has_delete) & highs);
}

/** Whether the value of a field has no control characters except tabs: RFC 9110, 5.5. */
static inline bool http_value_is_clean(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        if (size - at >= 8 && http_word_is_clean(text + at)) {
            at += 8;
            continue;
        }
        unsigned char c = (unsigned char)text[at++];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/**
 * Checks the first line, given without its line end, and divides it into its parts. Changes `line`.
 * Returns 0, or the status with which the request is refused.
 */
int tr__http_check_line(char *line, size_t size, struct http_head *head);
/**
 * Checks a field, given without its line end, and adds it to the head. Changes `line`. Returns 0,
 * or the status with which the request is refused.
 */
int tr__http_check_field(char *line, size_t size, struct http_head *head);
/**
 * Checks that the fields of a head agree with each other. Returns 0, or the status with which the
 * request is refused.
 */
int tr__http_check_whole(struct http_head *head);

#endif
