/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Opens files below a directory. No path leads to a file outside of that directory. Functions may
 * block.
 */
#ifndef OS_BENEATH_H
#define OS_BENEATH_H

#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

struct beneath_file {
    int fd;
    int64_t size;
    int64_t modified_s;
    int64_t modified_ns; /* the nanoseconds after modified_s */
};

/**
 * Opens a regular file below a directory, to read it. Links and ".." that lead out of the directory are not followed.
 * TR_NOT_FOUND: there is no such file, or it is no regular file, or this process may not read it. TR_LIMIT: no
 * descriptors are left. Also fails with TR_FAILED. Any thread.
 */
TR_MUST_CHECK tr_status tr__beneath_open(const char *directory, const char *path,
                                         struct beneath_file *file);
/**
 * Reads `size` bytes at an offset, or fewer at the end of the file. Fails with TR_FAILED. Any
 * thread.
 */
TR_MUST_CHECK tr_status tr__beneath_read(const struct beneath_file *file, int64_t offset, void *to,
                                         size_t size, size_t *got);
/** Any thread. */
void tr__beneath_close(struct beneath_file *file);

#endif
