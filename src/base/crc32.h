/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CRC-32 as in zlib, gzip and PNG. The hash ring uses it to decide to which node a name belongs
 * (pool/hash_ring.h).
 *
 * CRC-32 is a checksum, not a cryptographic hash: two texts with the same checksum are easy to
 * make. Hash tables of names use hash_bytes of base/hash.h.
 */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/**
 * Continues a checksum. `before` is the checksum of the bytes so far, 0 if there are none. Returns
 * the checksum of these bytes and of the `size` bytes that follow them. So tr__crc32(tr__crc32(0,
 * "ab", 2), "c", 1) is tr__crc32(0, "abc", 3).
 */
uint32_t tr__crc32(uint32_t before, const void *memory, size_t size);

#endif
