/* SPDX-License-Identifier: Apache-2.0 */
/** Reads numbers and texts of a program's debug information (DWARF). Never reads beyond the end of the given bytes. */
#ifndef OS_DWARF_H
#define OS_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dwarf_bytes {
    const unsigned char *at;
    const unsigned char *end;
    bool is_bad; /* a read went beyond the end; from then on all reads return 0 */
};

static inline uint64_t dwarf_number(struct dwarf_bytes *in, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(in->end - in->at) < size) {
        in->is_bad = true;
        in->at = in->end;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)in->at[i] << (8 * i); /* little endian, as on all supported processors */
    in->at += size;
    return value;
}

static inline uint64_t dwarf_uleb(struct dwarf_bytes *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = dwarf_number(in, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

static inline int64_t dwarf_sleb(struct dwarf_bytes *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        uint64_t byte = dwarf_number(in, 1);
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

static inline void dwarf_skip(struct dwarf_bytes *in, uint64_t size)
{
    if (size > (uint64_t)(in->end - in->at)) {
        in->is_bad = true;
        in->at = in->end;
        return;
    }
    in->at += size;
}

static inline const char *dwarf_string(struct dwarf_bytes *in)
{
    const unsigned char *text = in->at;
    const unsigned char *zero = memchr(text, 0, (size_t)(in->end - text));
    if (!zero) {
        in->is_bad = true;
        in->at = in->end;
        return "";
    }
    in->at = zero + 1;
    return (const char *)text;
}

#endif
