/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CRC-32 as in zlib, gzip and PNG. It decides which node a name belongs to (pool/hash_ring.h).
 *
 * It is a checksum, not a cryptographic hash: two texts with the same checksum are easy to make.
 * Hash tables of names use hash_bytes of base/hash.h.
 */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/**
 * Returns the checksum of all bytes so far: those whose checksum is `before` (0 for none) and the
 * `size` bytes after them. So tr__crc32(tr__crc32(0, "ab", 2), "c", 1) is tr__crc32(0, "abc", 3).
 */
uint32_t tr__crc32(uint32_t before, const void *memory, size_t size);

#endif
