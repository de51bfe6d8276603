/* SPDX-License-Identifier: Apache-2.0 */
#include "os/socket_file.h"

#include <sys/stat.h>
#include <unistd.h>

void tr__real_socket_file(const tr_platform *platform, const char *path, uint64_t id[2])
{
    (void)platform;
    struct stat found;
    id[0] = id[1] = 0;
    if (path[0] == '@' || lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode))
        return; /* an abstract name has no file */
    id[0] = (uint64_t)found.st_dev;
    id[1] = (uint64_t)found.st_ino;
}

void tr__real_socket_file_remove(const tr_platform *platform, const char *path,
                                 const uint64_t id[2])
{
    uint64_t now[2];
    tr__real_socket_file(platform, path, now);
    if (id[1] && now[0] == id[0] && now[1] == id[1])
        /* if the file cannot be removed, the next socket that listens there replaces it */
        (void)unlink(path);
}

void tr__virtual_socket_file(const tr_platform *platform, const char *path, uint64_t id[2])
{
    (void)platform;
    (void)path;
    id[0] = id[1] = 0;
}

void tr__virtual_socket_file_remove(const tr_platform *platform, const char *path,
                                    const uint64_t id[2])
{
    (void)platform;
    (void)path;
    (void)id;
}
