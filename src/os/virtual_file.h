/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files of the virtual platform. They are the real files of the machine, but a test can make calls
 * fail.
 *
 * All functions: one thread at a time.
 */
#ifndef OS_VIRTUAL_FILE_H
#define OS_VIRTUAL_FILE_H

#include <troupe/platform.h>

/** The functions of the platform with these names. */
tr_status tr__virtual_file_open(const tr_platform *platform, const char *path, int *fd,
                                uint64_t *size, const char **why);
tr_status tr__virtual_file_size(const tr_platform *platform, int fd, uint64_t *size,
                                const char **why);
tr_status tr__virtual_file_read(const tr_platform *platform, int fd, uint64_t offset, void *to,
                                size_t size, const char **why);

#endif
