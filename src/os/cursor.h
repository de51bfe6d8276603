/* SPDX-License-Identifier: Apache-2.0 */
/** Reads numbers and texts of the debug information of a program (DWARF), never beyond the end of its bytes. */
#ifndef OS_CURSOR_H
#define OS_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const unsigned char *at;
    const unsigned char *end;
    bool is_bad; /* a read went beyond the end; from then on all reads return 0 */
};

static inline uint64_t cursor_number(struct cursor *cursor, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < size) {
        cursor->is_bad = true;
        cursor->at = cursor->end;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)cursor->at[i]
                 << (8 * i); /* little endian, as on all supported processors */
    cursor->at += size;
    return value;
}

static inline uint64_t cursor_uleb(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = cursor_number(cursor, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

static inline int64_t cursor_sleb(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        uint64_t byte = cursor_number(cursor, 1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if (byte & 0x40 && shift < 64)
            value |= ~UINT64_C(0) << shift;
        break;
    }
    return (int64_t)value;
}

static inline void cursor_skip(struct cursor *cursor, uint64_t size)
{
    if (size > (uint64_t)(cursor->end - cursor->at)) {
        cursor->is_bad = true;
        cursor->at = cursor->end;
        return;
    }
    cursor->at += size;
}

static inline const char *cursor_string(struct cursor *cursor)
{
    const unsigned char *text = cursor->at;
    const unsigned char *zero = memchr(text, 0, (size_t)(cursor->end - text));
    if (!zero) {
        cursor->is_bad = true;
        cursor->at = cursor->end;
        return "";
    }
    cursor->at = zero + 1;
    return (const char *)text;
}

#endif
