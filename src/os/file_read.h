/* SPDX-License-Identifier: Apache-2.0 */
/** The functions of the real platform that read files. See troupe/platform.h. */
#ifndef OS_FILE_READ_H
#define OS_FILE_READ_H

#include <troupe/platform.h>

tr_status tr__real_file_open(const tr_platform *platform, const char *path, int *fd, uint64_t *size,
                             const char **why);
tr_status tr__real_file_size(const tr_platform *platform, int fd, uint64_t *size, const char **why);
tr_status tr__real_file_read(const tr_platform *platform, int fd, uint64_t offset, void *to,
                             size_t size, const char **why);
void tr__real_file_close(const tr_platform *platform, int fd);

#endif
