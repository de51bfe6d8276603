/* SPDX-License-Identifier: Apache-2.0 */
/** Writes base64 (RFC 4648, section 4), with padding. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/** The length of the base64 text for `size` bytes, without a NUL. */
#define BASE64_SIZE(size) (((size) + 2) / 3 * 4)

/**
 * Writes BASE64_SIZE(size) characters and no NUL. Returns a pointer to the end of these characters.
 */
static inline char *base64_write(char *to, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t count = size - i < 3 ? size - i : 3;
        uint32_t bits = (uint32_t)bytes[i] << 16;
        bits |= count > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= count > 2 ? bytes[i + 2] : 0;
        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = (char)(count > 1 ? digits[bits >> 6 & 63] : '=');
        *to++ = (char)(count > 2 ? digits[bits & 63] : '=');
    }
    return to;
}

#endif
