/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SHA-1 (FIPS 180-4). SHA-1 is not safe for signatures any more. The handshake of WebSocket needs it, where no security
 * depends on it.
 */
#ifndef BASE_SHA1_H
#define BASE_SHA1_H

#include <stddef.h>

#define SHA1_SIZE 20

/** Hashes `size` bytes; `bytes` may be NULL if there are none. */
void tr__sha1(const void *bytes, size_t size, unsigned char hash[SHA1_SIZE]);

#endif
