/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Structs that cross the border of the library together with their size, as the caller was compiled
 * with it. Later versions add members at the ends of these structs. Callers do not see the size:
 * the function in the public header is inline and passes sizeof to a function named ..._sized.
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/**
 * Copies the caller's options. Their first member is a size_t `size`, which becomes the library's size in the copy.
 * Members that the caller does not know become zero.
 *
 * Returns false if the options have members that the library does not know and that are not zero,
 * or a `size` that is neither 0 nor `from_size`.
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

/**
 * Copies a struct of the library to the caller: the members that both know. Members that only the caller knows become
 * zero.
 */
static inline void sized_write(void *to, size_t to_size, const void *from, size_t from_size)
{
    memset(to, 0, to_size);
    memcpy(to, from, from_size < to_size ? from_size : to_size);
}

#endif
