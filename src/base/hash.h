/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hashes: a hash with a key for bytes that may come from outside, and a mixer for the runtime's own
 * numbers.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** A secret key. A person who chooses the bytes to be hashed must not know the key. */
struct hash_key {
    uint64_t low;
    uint64_t high;
};

/** Spreads a number over 64 bits. Different numbers give different results. This is the finaliser of splitmix64. */
static inline uint64_t hash_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

static inline uint64_t hash_rotate(uint64_t bits, int count)
{
    return bits << count | bits >> (64 - count);
}

/* One round of SipHash. */
static inline void hash_round(uint64_t *v)
{
    v[0] += v[1];
    v[1] = hash_rotate(v[1], 13) ^ v[0];
    v[0] = hash_rotate(v[0], 32);
    v[2] += v[3];
    v[3] = hash_rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = hash_rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = hash_rotate(v[1], 17) ^ v[2];
    v[2] = hash_rotate(v[2], 32);
}

/*
 * Returns up to 8 bytes as a number whose lowest byte is the first. The loads have constant sizes.
 * A copy of `count` bytes would call memcpy, which takes as long as all other work of hashing a
 * short text.
 */
static inline uint64_t hash_load(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (count == 8) {
        memcpy(&word, bytes, 8);
    } else if (count >= 4) {
        /* two loads that may overlap; a byte that is in both has the same place in the result */
        uint32_t first, last;
        memcpy(&first, bytes, 4);
        memcpy(&last, bytes + count - 4, 4);
        word = first | (uint64_t)last << (8 * (count - 4));
    } else {
        for (size_t i = 0; i < count; i++)
            word |= (uint64_t)bytes[i] << (8 * i);
    }
#else
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
#endif
    return word;
}

/**
 * SipHash of Aumasson and Bernstein, with `rounds` rounds for each word and `rounds_last` rounds at
 * the end.
 */
static inline uint64_t hash_sip(int rounds, int rounds_last, struct hash_key key,
                                const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    uint64_t v[4] = {
        key.low ^ UINT64_C(0x736f6d6570736575),
        key.high ^ UINT64_C(0x646f72616e646f6d),
        key.low ^ UINT64_C(0x6c7967656e657261),
        key.high ^ UINT64_C(0x7465646279746573),
    };
    size_t left = size;
    for (;; bytes += 8, left -= 8) {
        uint64_t word = left < 8 ? (uint64_t)size << 56 : 0;
        if (left > 0)
            word |= hash_load(bytes, left < 8 ? left : 8);
        v[3] ^= word;
        for (int i = 0; i < rounds; i++)
            hash_round(v);
        v[0] ^= word;
        if (left < 8)
            break;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < rounds_last; i++)
        hash_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/**
 * SipHash-1-3, which Rust, Python and Ruby use for their tables. `memory` may be NULL if `size` is
 * 0.
 */
static inline uint64_t hash_bytes(struct hash_key key, const void *memory, size_t size)
{
    return hash_sip(1, 3, key, memory, size);
}

#endif
