/* SPDX-License-Identifier: Apache-2.0 */
/** Small files of the machine, such as those of time zones, read whole. */
#ifndef OS_SMALL_FILE_H
#define OS_SMALL_FILE_H

#include <stddef.h>
#include <sys/types.h>
#include <troupe/platform.h>

/**
 * Reads a whole file into memory of the platform, which the caller owns: platform->resize(.., 0) frees it. An empty
 * file gives a size of 0 and memory that must be freed too.
 *
 * TR_NOT_FOUND: there is no such file, or this process may not read it. TR_NOT_SUPPORTED: the path names no regular
 * file. TR_TOO_LARGE: the file has more than `size_max` bytes. Also fails with TR_NO_MEMORY. TR_FAILED: reading failed.
 * After an error nothing was written to the results. Any thread; waits for the disk.
 */
TR_MUST_CHECK tr_status tr__file_read(const tr_platform *platform, const char *path,
                                      size_t size_max, void **memory, size_t *size);

/** Reads until the end of the file or until there are `size` bytes. Returns how many, or -1. Any thread. */
ssize_t tr__file_read_open(int fd, char *memory, size_t size);

/** Returns a variable of the environment, borrowed; NULL if it is not set or empty. Any thread. */
const char *tr__environment(const char *name);

#endif
