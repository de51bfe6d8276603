/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Structs that cross the border of the library with the size that the caller was compiled with, since
 * later versions add members at their ends. Callers do not see the size: a function of the public header
 * is inline and passes sizeof to one named ..._sized.
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/**
 * Copies the caller's options, whose first member is a size_t `size`, and makes that the library's. Members
 * that the caller does not know are zero. False: they have members that the library does not know and
 * that are not zero, or a `size` that is neither 0 nor that of the caller.
 */
static inline bool sized_read(void *to, size_t to_size, const void *from, size_t from_size)
{
    size_t said;
    if (from_size < sizeof said)
        return false;
    memcpy(&said, from, sizeof said);
    if (said && said != from_size)
        return false;
    for (size_t i = to_size; i < from_size; i++) {
        if (((const unsigned char *)from)[i])
            return false;
    }
    memset(to, 0, to_size);
    memcpy(to, from, from_size < to_size ? from_size : to_size);
    memcpy(to, &to_size, sizeof to_size);
    return true;
}

/** Writes what the caller knows of a struct, and zero into what the library does not know. */
static inline void sized_write(void *to, size_t to_size, const void *from, size_t from_size)
{
    memset(to, 0, to_size);
    memcpy(to, from, from_size < to_size ? from_size : to_size);
}

#endif
