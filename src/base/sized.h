/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Structs that cross the border of the library together with their size, which is the size in the
 * header that the caller was compiled with. Later versions of the library add members at the ends
 * of these structs. Callers do not write the size: the function in the public header is inline, and
 * passes sizeof to a function named ..._sized.
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/**
 * Copies the caller's options. The first member of the struct is a size_t `size`; in the copy it is the library's size.
 * Members that the caller does not know become zero.
 *
 * Returns false if a member that the library does not know is not zero, or if `size` is neither 0
 * nor `from_size`.
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
 * Copies a struct of the library to the caller, except members that the caller does not know. Members that only the
 * caller knows become zero.
 */
static inline void sized_write(void *to, size_t to_size, const void *from, size_t from_size)
{
    memset(to, 0, to_size);
    memcpy(to, from, from_size < to_size ? from_size : to_size);
}

#endif
