/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The first bytes (tags) of values in MessagePack, and big-endian numbers.
 *
 *     https://github.com/msgpack/msgpack/blob/master/spec.md
 */
#ifndef WIRE_MSGPACK_H
#define WIRE_MSGPACK_H

#include <stdint.h>
#include <string.h>

enum {
    PACK_FIX_INT_MAX = 0x7f,
    PACK_FIX_MAP = 0x80,
    PACK_FIX_ARRAY = 0x90,
    PACK_FIX_STR = 0xa0,
    PACK_NIL = 0xc0,
    PACK_NEVER_USED = 0xc1,
    PACK_FALSE = 0xc2,
    PACK_TRUE = 0xc3,
    PACK_BIN8 = 0xc4, /* 16, 32 follow */
    PACK_EXT8 = 0xc7, /* 16, 32 follow */
    PACK_F32 = 0xca,
    PACK_F64 = 0xcb,
    PACK_U8 = 0xcc, /* 16, 32, 64 follow */
    PACK_U64 = 0xcf,
    PACK_I8 = 0xd0, /* 16, 32, 64 follow */
    PACK_I64 = 0xd3,
    PACK_FIX_EXT1 = 0xd4, /* 2, 4, 8, 16 follow */
    PACK_FIX_EXT8 = 0xd7,
    PACK_FIX_EXT16 = 0xd8,
    PACK_STR8 = 0xd9, /* 16, 32 follow */
    PACK_STR32 = 0xdb,
    PACK_ARRAY16 = 0xdc,
    PACK_ARRAY32 = 0xdd,
    PACK_MAP16 = 0xde,
    PACK_MAP32 = 0xdf,
    PACK_NEGATIVE_FIX_INT = 0xe0
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PACK_SWAP(bits, value) __builtin_bswap##bits(value)
#else
#define PACK_SWAP(bits, value) (value)
#endif

static inline uint16_t load16(const unsigned char *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof(value));
    return PACK_SWAP(16, value);
}

static inline uint32_t load32(const unsigned char *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof(value));
    return PACK_SWAP(32, value);
}

static inline uint64_t load64(const unsigned char *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof(value));
    return PACK_SWAP(64, value);
}

/* The next functions store the lowest 16, 32 or 64 bits of a value, the highest byte first. */
static inline void store16(unsigned char *to, uint64_t value)
{
    uint16_t swapped = PACK_SWAP(16, (uint16_t)value);
    memcpy(to, &swapped, sizeof(swapped));
}

static inline void store32(unsigned char *to, uint64_t value)
{
    uint32_t swapped = PACK_SWAP(32, (uint32_t)value);
    memcpy(to, &swapped, sizeof(swapped));
}

static inline void store64(unsigned char *to, uint64_t value)
{
    uint64_t swapped = PACK_SWAP(64, value);
    memcpy(to, &swapped, sizeof(swapped));
}

#endif
