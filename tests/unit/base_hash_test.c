/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hashes against published values.
 */
#include "base/hash.h"

#include "support/test.h"

/* The key of the reference implementation's tests: the bytes 0 to 15. */
static const struct hash_key key = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

/* SipHash-2-4 of the bytes 0, 1, 2, …: the first and some later rows of its vectors.h. */
TEST(siphash_2_4_gives_the_reference_values, "")
{
    unsigned char bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    ck_assert_uint_eq(hash_sip(2, 4, key, NULL, 0), UINT64_C(0x726fdb47dd0e0e31));
    ck_assert_uint_eq(hash_sip(2, 4, key, bytes, 1), UINT64_C(0x74f839c593dc67fd));
    ck_assert_uint_eq(hash_sip(2, 4, key, bytes, 7), UINT64_C(0xab0200f58b01d137));
    ck_assert_uint_eq(hash_sip(2, 4, key, bytes, 8), UINT64_C(0x93f5f5799a932462));
    ck_assert_uint_eq(hash_sip(2, 4, key, bytes, 15), UINT64_C(0xa129ca6149be45e5));
}

TEST(hash_bytes_depends_on_every_byte_the_size_and_the_key, "")
{
    unsigned char bytes[33] = {0};
    uint64_t hash = hash_bytes(key, bytes, 32);
    ck_assert_uint_eq(hash, hash_bytes(key, bytes + 1, 32));
    ck_assert_uint_ne(hash, hash_bytes(key, bytes, 31));
    ck_assert_uint_ne(hash, hash_bytes((struct hash_key){1, 2}, bytes, 32));
    for (size_t i = 0; i < 32; i++) {
        bytes[i] = 1;
        ck_assert_uint_ne(hash, hash_bytes(key, bytes, 32));
        bytes[i] = 0;
    }
}

TEST(mix_keeps_numbers_apart, "")
{
    ck_assert_uint_eq(hash_mix(0), 0);
    unsigned low_bits = 0;
    for (uint64_t i = 1; i <= 64; i++)
        low_bits |= 1u << (hash_mix(i << 32) & 31);
    /* 64 balls into 32 boxes: numbers that differ in high bits only still spread over low ones. */
    ck_assert_int_ge(__builtin_popcount(low_bits), 20);
}

SUITE("base hash", siphash_2_4_gives_the_reference_values,
      hash_bytes_depends_on_every_byte_the_size_and_the_key, mix_keeps_numbers_apart)
