/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The file of a UNIX socket that is bound to a path: finds out which file the path names, and
 * removes the file.
 */
#ifndef OS_SOCKET_FILE_H
#define OS_SOCKET_FILE_H

#include <troupe/platform.h>

/** The functions socket_file and socket_file_remove of the real platform. */
void tr__real_socket_file(const tr_platform *platform, const char *path, uint64_t id[2]);
void tr__real_socket_file_remove(const tr_platform *platform, const char *path,
                                 const uint64_t id[2]);
/** The functions socket_file and socket_file_remove of the virtual platform, which has no files. */
void tr__virtual_socket_file(const tr_platform *platform, const char *path, uint64_t id[2]);
void tr__virtual_socket_file_remove(const tr_platform *platform, const char *path,
                                    const uint64_t id[2]);

#endif
