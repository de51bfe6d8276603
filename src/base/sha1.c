/* SPDX-License-Identifier: Apache-2.0 */
/** SHA-1, as FIPS 180-4 defines it in section 6.1. */
#include "base/sha1.h"

#include <stdint.h>
#include <string.h>

#define BLOCK_SIZE 64

static uint32_t rotate(uint32_t bits, int count)
{
    return bits << count | bits >> (32 - count);
}

static uint32_t load_word(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/*
 * Returns the function f of a round plus the constant K of this round (sections 4.1.1 and 4.2.1).
 */
static uint32_t mix(int round, const uint32_t v[5])
{
    if (round < 20)
        return ((v[1] & v[2]) | (~v[1] & v[3])) + UINT32_C(0x5a827999);
    if (round < 40)
        return (v[1] ^ v[2] ^ v[3]) + UINT32_C(0x6ed9eba1);
    if (round < 60)
        return ((v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])) + UINT32_C(0x8f1bbcdc);
    return (v[1] ^ v[2] ^ v[3]) + UINT32_C(0xca62c1d6);
}

static void add_block(uint32_t state[5], const unsigned char block[BLOCK_SIZE])
{
    uint32_t w[80];
    uint32_t v[5];
    for (int i = 0; i < 80; i++)
        w[i] = i < 16 ? load_word(block + (size_t)i * 4)
                      : rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(v, state, sizeof(v));
    for (int i = 0; i < 80; i++) {
        uint32_t next = rotate(v[0], 5) + mix(i, v) + v[4] + w[i];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotate(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (int i = 0; i < 5; i++)
        state[i] += v[i];
}

void tr__sha1(const void *bytes, size_t size, unsigned char hash[SHA1_SIZE])
{
    uint32_t state[5] = {UINT32_C(0x67452301),
                         UINT32_C(0xefcdab89),
                         UINT32_C(0x98badcfe),
                         UINT32_C(0x10325476),
                         UINT32_C(0xc3d2e1f0)};
    const unsigned char *at = bytes;
    size_t left = size;
    for (; left >= BLOCK_SIZE; left -= BLOCK_SIZE, at += BLOCK_SIZE)
        add_block(state, at);
    /*
     * The tail has the bytes that fill no whole block, one bit that is set, zeros, and the size in
     * bits. It is one block or two.
     */
    unsigned char tail[2 * BLOCK_SIZE] = {0};
    size_t tail_size = left + 9 <= BLOCK_SIZE ? BLOCK_SIZE : 2 * BLOCK_SIZE;
    if (left > 0)
        memcpy(tail, at, left);
    tail[left] = 0x80;
    for (size_t i = 0; i < 8; i++)
        tail[tail_size - 1 - i] = (unsigned char)((uint64_t)size * 8 >> (8 * i));
    add_block(state, tail);
    if (tail_size > BLOCK_SIZE)
        add_block(state, tail + BLOCK_SIZE);
    for (size_t i = 0; i < SHA1_SIZE; i++)
        hash[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
