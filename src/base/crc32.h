/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CRC-32 as zlib, gzip and PNG have it: which names belong where is defined on it (pool/hash_ring.h).
 *
 * It is a checksum, not a hash against people: whoever wants two texts with the same one makes them in
 * no time. Tables of names use hash_bytes of base/hash.h.
 */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/**
 * The checksum of bytes that follow those whose checksum is `before`: 0 for none. Hence
 * tr__crc32(tr__crc32(0, "ab", 2), "c", 1) is tr__crc32(0, "abc", 3).
 */
uint32_t tr__crc32(uint32_t before, const void *memory, size_t size);

#endif
